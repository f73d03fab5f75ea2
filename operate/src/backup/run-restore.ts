import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '@pm/deploy/local/replace-file';
import { StackError } from '@pm/deploy/local/stack-error';
import { type ObjectStore, sha256Of } from '@pm/kit/objects';
import { backupsFolder, bundleName, objectIn } from './run-backup.ts';
import { type Bundle, openBundle } from './sealed-bundle.ts';

export interface RestoreOptions {
  /** Where keys.json goes; it may be missing or empty. */
  readonly dataDir: string;
  /** The store of the backups. */
  readonly source: ObjectStore;
  /** The store of the services that will start. */
  readonly target: ObjectStore;
  readonly passphrase: string;
  /** Id of a backup; null for the newest. */
  readonly id: string | null;
  onStep(line: string): void;
}

/**
 * Brings back what a backup has: objects into the store, then the files into the data folder, keys.json last. Nothing
 * is written before the bundle has opened, no object whose digest is another, no keys over those of another
 * installation, and no file over one that differs. May be repeated. Returns the bundle. Rejects with a `StackError`,
 * and with the faults of the stores.
 */
export async function runRestore(options: RestoreOptions): Promise<Bundle> {
  const { dataDir, source, passphrase, onStep } = options;
  const id = options.id ?? (await newestId(source));
  const sealed = await source.get(bundleName(id));
  if (sealed === null) throw new StackError('BAD_DESCRIPTION', `there is no backup ${id}`);
  const bundle = openBundle(sealed, passphrase);
  refuseOther(bundle, dataDir);
  onStep(`backup ${id} of ${bundle.madeAt}`);
  await bringObjects(options, id, bundle);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // keys.json last: with it the folder is the installation.
  const others = Object.keys(bundle.files).filter((name) => name !== keysName);
  for (const name of [...others, keysName]) {
    const isWritten = bringFile(join(dataDir, name), bundle.files[name] ?? '');
    onStep(
      isWritten
        ? `${name}: written, readable by its owner only`
        : `${name}: stays, it is not that of the backup: move it away to bring that one back`,
    );
  }
  return bundle;
}

/** A file that is there may be newer than the backup. @returns whether it is that of the backup now. */
function bringFile(file: string, base64: string): boolean {
  const content = Buffer.from(base64, 'base64');
  if (existsSync(file) && !readFileSync(file).equals(content)) return false;
  replaceFile(file, content);
  return true;
}

/** Ids of the complete backups of a store, the oldest first. */
export async function backupIds(source: ObjectStore): Promise<readonly string[]> {
  const names = await source.list(backupsFolder);
  return names.flatMap((name) => {
    const [, id] = /\/(\d{8}T\d{6}Z)\.sealed$/.exec(name) ?? [];
    return id === undefined ? [] : [id];
  });
}

async function newestId(source: ObjectStore): Promise<string> {
  const newest = (await backupIds(source)).at(-1);
  if (newest === undefined) throw new StackError('BAD_DESCRIPTION', 'the store has no backup');
  return newest;
}

const keysName = 'keys.json';

/** Keys are the identity of a log: a folder with others keeps them. */
function refuseOther({ rootKey, files }: Bundle, dataDir: string): void {
  const file = join(dataDir, keysName);
  if (!existsSync(file)) return;
  const found = readFileSync(file);
  if (found.equals(Buffer.from(files[keysName] ?? '', 'base64'))) return;
  const what = whoseKeys(found.toString('utf8'), rootKey);
  throw new StackError('BAD_DESCRIPTION', `${file} has ${what}: move it away first`);
}

function whoseKeys(text: string, rootKey: string): string {
  try {
    return (JSON.parse(text) as { readonly rootKey?: unknown }).rootKey === rootKey
      ? 'newer or older keys of this installation'
      : 'keys of another installation';
  } catch {
    return 'no keys that can be read';
  }
}

async function bringObjects(
  { source, target, onStep }: RestoreOptions,
  id: string,
  { objects }: Bundle,
): Promise<void> {
  for (const { name, bytes, sha256 } of objects) {
    const content = await source.get(objectIn(id, name));
    const found = content === null ? 'none' : (await sha256Of([content])).toString('hex');
    if (content === null || found !== sha256) {
      const problem = content === null ? 'is missing' : 'is not what was backed up';
      throw new StackError('BAD_DESCRIPTION', `${name} ${problem}: nothing of it was used`);
    }
    await target.put(name, [content]);
    onStep(`${name}: ${bytes} bytes`);
  }
}
