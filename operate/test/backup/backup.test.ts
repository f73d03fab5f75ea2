import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadOrMakeKeys, readAuthority } from '@pm/deploy/setup/keys';
import { MemoryObjects } from '../../../domain/test/objects/memory-objects.ts';
import { openPlaces } from '../../src/backup/places.ts';
import { runBackup } from '../../src/backup/run-backup.ts';
import { backupIds, runRestore } from '../../src/backup/run-restore.ts';
import { openBundle, sealBundle } from '../../src/backup/sealed-bundle.ts';

const passphrase = 'a passphrase of many words';
const lines: string[] = [];
const onStep = (line: string) => lines.push(line);
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pm-backup-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A data folder with keys and operators, and a store with snapshots and checkpoints. */
async function installation(dataDir = join(folder, 'data')) {
  const keys = loadOrMakeKeys(join(dataDir, 'keys.json'));
  writeFileSync(join(dataDir, 'operators.json'), '{"operators":[]}');
  const store = new MemoryObjects();
  const names = [
    'snapshots/p0/900.snapshot',
    'snapshots/p0/1000.snapshot',
    'snapshots/p63/7.snapshot',
    'checkpoints/ledger/90.checkpoint',
    'checkpoints/ledger/120.checkpoint',
    'checkpoints/books/p0/50.checkpoint',
  ];
  for (const name of names) await store.put(name, [Buffer.from(`content of ${name}`)]);
  return { dataDir, keys, store };
}

async function backUp(
  { dataDir, store }: Awaited<ReturnType<typeof installation>>,
  target: MemoryObjects,
) {
  const now = new Date('2026-11-26T10:00:00.123Z');
  return await runBackup({ dataDir, source: store, target, passphrase, now, onStep });
}

/** Made once: a key out of a passphrase takes a third of a second. Tests change copies of it. */
const made = {
  folder: mkdtempSync(join(tmpdir(), 'pm-backup-')),
  target: new MemoryObjects(),
  id: '',
};
let keys: Awaited<ReturnType<typeof installation>>['keys'];

beforeAll(async () => {
  const installed = await installation(made.folder);
  keys = installed.keys;
  made.id = await backUp(installed, made.target);
});
afterAll(() => rmSync(made.folder, { recursive: true }));

function backedUp() {
  const dataDir = join(folder, 'data');
  cpSync(made.folder, dataDir, { recursive: true });
  const target = new MemoryObjects();
  for (const [name, content] of made.target.contents) target.contents.set(name, content);
  return { dataDir, target, id: made.id };
}

const elsewhere = () => join(folder, 'other', 'data');

function restoreOf(backups: MemoryObjects, given: { passphrase?: string; dataDir?: string } = {}) {
  const target = new MemoryObjects();
  const restored = runRestore({
    dataDir: given.dataDir ?? elsewhere(),
    source: backups,
    target,
    passphrase: given.passphrase ?? passphrase,
    id: null,
    onStep,
  });
  return { restored, target };
}

test('a backup brings the newest snapshots and checkpoints, keys and operators to an empty folder', async () => {
  const { target: backups, dataDir, id } = backedUp();
  expect(id).toBe('20261126T100000Z');
  expect(await backupIds(backups)).toEqual([id]);
  const { restored, target } = restoreOf(backups);
  await restored;
  expect([...target.contents.keys()].sort()).toEqual([
    'checkpoints/books/p0/50.checkpoint',
    'checkpoints/ledger/120.checkpoint',
    'snapshots/p0/1000.snapshot',
    'snapshots/p63/7.snapshot',
  ]);
  expect(target.contents.get('snapshots/p63/7.snapshot')?.toString()).toBe(
    'content of snapshots/p63/7.snapshot',
  );
  for (const name of ['keys.json', 'operators.json']) {
    const file = join(elsewhere(), name);
    expect(readFileSync(file)).toEqual(readFileSync(join(dataDir, name)));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
});

test('a file that is there already and is not that of the backup stays, with a line that says so', async () => {
  const { target: backups, dataDir } = backedUp();
  const operators = join(dataDir, 'operators.json');
  writeFileSync(operators, '{"operators":[1]}');
  rmSync(join(dataDir, 'authority.json'));
  await restoreOf(backups, { dataDir }).restored;
  expect(readFileSync(operators, 'utf8')).toBe('{"operators":[1]}');
  expect(lines.join('\n')).toContain('operators.json: stays, it is not that of the backup');
  expect(() =>
    readAuthority(loadOrMakeKeys(join(dataDir, 'keys.json')), 'this test'),
  ).not.toThrow();
});

test('keys that cannot be read are to be moved away first', async () => {
  const { target: backups, dataDir } = backedUp();
  writeFileSync(join(dataDir, 'keys.json'), '{"operatorSeed');
  await expect(restoreOf(backups, { dataDir }).restored).rejects.toThrow(
    'no keys that can be read',
  );
});

test('a backup has no secret in the clear', async () => {
  const { target: backups } = backedUp();
  const all = Buffer.concat([...backups.contents.values()]).toString('latin1');
  for (const secret of Object.values(keys)) {
    expect(all).not.toContain(String(secret));
    expect(all).not.toContain(Buffer.from(String(secret)).toString('base64'));
  }
});

test('another passphrase opens nothing, and writes nothing', async () => {
  const { target: backups } = backedUp();
  const { restored, target } = restoreOf(backups, { passphrase: 'another passphrase of length' });
  await expect(restored).rejects.toThrow('does not open');
  expect(target.contents.size).toBe(0);
  expect(() => statSync(elsewhere())).toThrow('ENOENT');
});

test('a bundle that was changed or cut anywhere does not open', () => {
  const bundle = {
    format: 1,
    madeAt: '',
    rootKey: '0'.repeat(64),
    files: {},
    objects: [],
  } as const;
  const sealed = sealBundle({ ...bundle, objects: [] }, passphrase);
  expect(openBundle(sealed, passphrase)).toEqual(bundle);
  for (const at of [0, 40, sealed.length - 1]) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => openBundle(changed, passphrase)).toThrow('does not open');
    expect(() => openBundle(sealed.subarray(0, at), passphrase)).toThrow('does not open');
  }
});

test('an object that was changed or lost ends the restore before keys are written', async () => {
  const { target: backups, id } = backedUp();
  const name = `backups/${id}/snapshots/p0/1000.snapshot`;
  const whole = backups.contents.get(name) ?? Buffer.alloc(0);
  backups.contents.set(name, Buffer.from('another state'));
  await expect(restoreOf(backups).restored).rejects.toThrow('is not what was backed up');
  backups.contents.delete(name);
  await expect(restoreOf(backups).restored).rejects.toThrow('is missing');
  expect(() => statSync(join(elsewhere(), 'keys.json'))).toThrow('ENOENT');
  backups.contents.set(name, whole);
  await restoreOf(backups).restored;
});

test('keys of another installation, or newer ones, are never replaced', async () => {
  const { target: backups, dataDir } = backedUp();
  await restoreOf(backups, { dataDir }).restored;
  const file = join(dataDir, 'keys.json');
  const own = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...own, ingressSeed: '1'.repeat(64) }));
  await expect(restoreOf(backups, { dataDir }).restored).rejects.toThrow('of this installation');
  writeFileSync(file, JSON.stringify({ ...own, rootKey: '1'.repeat(64) }));
  await expect(restoreOf(backups, { dataDir }).restored).rejects.toThrow('another installation');
  expect(JSON.parse(readFileSync(file, 'utf8')).rootKey).toBe('1'.repeat(64));
});

test('a backup that was interrupted does not exist', async () => {
  const target = new MemoryObjects();
  const put = target.put.bind(target);
  target.put = async (name, parts) => {
    if (name.endsWith('.sealed')) throw new Error('killed');
    await put(name, parts);
  };
  await expect(backUp(await installation(), target)).rejects.toThrow('killed');
  expect(await backupIds(target)).toEqual([]);
  await expect(restoreOf(target).restored).rejects.toThrow('the store has no backup');
});

test('a passphrase that can be guessed is refused before anything is copied', async () => {
  const { dataDir, store } = await installation();
  const target = new MemoryObjects();
  const now = new Date(0);
  const backup = runBackup({ dataDir, source: store, target, passphrase: 'short', now, onStep });
  await expect(backup).rejects.toThrow('fewer than 16 characters');
  expect(target.contents.size).toBe(0);
});

test('a backup goes to no store that would be lost with the data folder', async () => {
  const { dataDir } = await installation();
  const file = join(folder, 'passphrase');
  writeFileSync(file, passphrase, { mode: 0o600 });
  const env = { PM_BACKUP_PASSPHRASE_FILE: file };
  await expect(openPlaces(env, dataDir, undefined)).rejects.toThrow('name another place');
  const places = await openPlaces(env, dataDir, join(folder, 'backups'));
  expect(places.backups).not.toBe(places.services);
});
