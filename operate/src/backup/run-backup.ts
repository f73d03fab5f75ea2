import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { noKeysIn } from '@pm/deploy/installation/addresses';
import { authorityName, loadOrMakeKeys } from '@pm/deploy/setup/keys';
import { type ObjectStore, sha256Of } from '@pm/kit/objects';
import { type Bundle, sealBundle } from './sealed-bundle.ts';

export interface BackupOptions {
  /** With keys.json. */
  readonly dataDir: string;
  /** The store of the services. */
  readonly source: ObjectStore;
  readonly target: ObjectStore;
  readonly passphrase: string;
  readonly now: Date;
  onStep(line: string): void;
}

/** Files of a data folder that cannot be made again from the log; one of them may be kept elsewhere. */
const files = ['keys.json', authorityName, 'operators.json'];
/** Partitions are looked for until so many in a row have nothing. */
const emptyPartitionsMax = 64;

/** The folder of the backups, and the object with which one is complete. */
export const backupsFolder = 'backups/';
export const bundleName = (id: string) => `${backupsFolder}${id}.sealed`;
export const objectIn = (id: string, name: string) => `${backupsFolder}${id}/${name}`;

/**
 * Copies the newest snapshot of each partition and the newest checkpoints, then writes the encrypted bundle with the
 * files and with the digests of what was copied: a backup without its bundle does not exist. Returns the id. Rejects
 * with a `StackError`, and with the faults of the stores.
 */
export async function runBackup(options: BackupOptions): Promise<string> {
  const { dataDir, target, passphrase, now, onStep } = options;
  const keysFile = join(dataDir, 'keys.json');
  if (!existsSync(keysFile)) throw noKeysIn(dataDir);
  const id = now.toISOString().replace(/[-:]|\.\d+/g, '');
  const kept = files.filter((name) => existsSync(join(dataDir, name)));
  const bundle: Bundle = {
    format: 1,
    madeAt: now.toISOString(),
    rootKey: loadOrMakeKeys(keysFile).rootKey,
    files: Object.fromEntries(
      kept.map((name) => [name, readFileSync(join(dataDir, name)).toString('base64')]),
    ),
    objects: [],
  };
  // A passphrase that is refused costs no copies.
  sealBundle(bundle, passphrase);
  const objects = await copyNewest(options, id);
  await target.put(bundleName(id), [sealBundle({ ...bundle, objects }, passphrase)]);
  onStep(`${kept.join(', ')} and ${objects.length} objects`);
  return id;
}

async function copyNewest(options: BackupOptions, id: string): Promise<Bundle['objects']> {
  const { source, target, onStep } = options;
  const copied: Bundle['objects'] = [];
  for (const name of await newestIn(source)) {
    const content = await source.get(name);
    // Retention has taken it meanwhile: a newer one is there, and the log has all between.
    if (content === null) continue;
    await target.put(objectIn(id, name), [content]);
    const sha256 = (await sha256Of([content])).toString('hex');
    copied.push({ name, bytes: content.length, sha256 });
    onStep(`${name}: ${content.length} bytes`);
  }
  return copied;
}

/** Names of the newest snapshot of each partition, and of the newest checkpoints. */
async function newestIn(source: ObjectStore): Promise<readonly string[]> {
  const found = await newestOf(source, 'checkpoints/ledger/');
  for (let partition = 0, empty = 0; empty < emptyPartitionsMax; partition += 1) {
    const names = [
      ...(await newestOf(source, `snapshots/p${partition}/`)),
      ...(await newestOf(source, `checkpoints/books/p${partition}/`)),
    ];
    empty = names.length === 0 ? empty + 1 : 0;
    found.push(...names);
  }
  return found;
}

async function newestOf(source: ObjectStore, folder: string): Promise<string[]> {
  const numbered = (await source.list(folder)).flatMap((name) => {
    const [, digits] = /\/(\d{1,16})\.(?:snapshot|checkpoint)$/.exec(name) ?? [];
    return digits === undefined ? [] : [{ name, number: Number(digits) }];
  });
  return numbered
    .sort((a, b) => b.number - a.number)
    .slice(0, 1)
    .map(({ name }) => name);
}
