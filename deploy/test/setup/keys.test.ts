import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadOrMakeKeys, publicKeyOf, readAuthority, saveKeys } from '../../src/setup/keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'exchange-keys-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A file of keys in a folder of its own. */
function fileIn(name: string): string {
  mkdirSync(join(folder, name), { recursive: true });
  return join(folder, name, 'keys.json');
}

const storedIn = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const hex32 = /^[0-9a-f]{64}$/;

test('keys are made once, kept, and readable by their owner only', () => {
  const file = fileIn('made');
  const made = loadOrMakeKeys(file);
  expect(loadOrMakeKeys(file)).toEqual(made);
  for (const one of [file, made.authorityFile]) expect(statSync(one).mode & 0o777).toBe(0o600);
  expect(new Set(Object.values(made)).size).toBe(10);
});

test('the seeds of the authorities are in a file of their own, with their public halves among the keys', () => {
  const file = fileIn('authorities');
  const keys = loadOrMakeKeys(file);
  const { rootSeed, openingSeed } = readAuthority(keys, 'this test');
  expect([rootSeed, openingSeed].map(publicKeyOf)).toEqual([keys.rootKey, keys.openingKey]);
  for (const seed of [rootSeed, openingSeed])
    expect(readFileSync(file, 'utf8')).not.toContain(seed);
  expect(storedIn(file)).not.toHaveProperty('authorityFile');
});

test('keys go on without the file of their authorities, which is asked for by what needs it', () => {
  const file = fileIn('offline');
  const keys = loadOrMakeKeys(file);
  renameSync(keys.authorityFile, join(folder, 'taken.json'));
  expect(loadOrMakeKeys(file)).toEqual(keys);
  expect(existsSync(keys.authorityFile)).toBe(false);
  expect(() => readAuthority(keys, 'npm run keys')).toThrow('and npm run keys needs it');
  const others = loadOrMakeKeys(fileIn('others'));
  renameSync(others.authorityFile, keys.authorityFile);
  expect(() => readAuthority(keys, 'npm run keys')).toThrow('belongs to other keys');
});

test('a file of authorities that is there is kept when the keys are not', () => {
  const file = fileIn('kept');
  const { rootKey, ingressSeed } = loadOrMakeKeys(file);
  rmSync(file);
  const made = loadOrMakeKeys(file);
  expect(made.rootKey).toBe(rootKey);
  expect(made.ingressSeed).not.toBe(ingressSeed);
});

test('seeds of authorities that an earlier version kept among the keys move to their own file', () => {
  const file = fileIn('earlier');
  const { rootKey, openingKey, ...others } = loadOrMakeKeys(fileIn('made'));
  const seeds = readAuthority(loadOrMakeKeys(fileIn('made')), 'this test');
  writeFileSync(file, JSON.stringify({ ...others, ...seeds }));
  const keys = loadOrMakeKeys(file);
  expect([keys.rootKey, keys.openingKey]).toEqual([rootKey, openingKey]);
  expect(readAuthority(keys, 'this test')).toEqual(seeds);
  expect(Object.keys(storedIn(file))).not.toEqual(expect.arrayContaining(['rootSeed']));
});

/** https://www.rfc-editor.org/rfc/rfc8032#section-7.1, the second test. */
test('the public key of a seed is that of Ed25519', () => {
  const seed = '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb';
  const key = '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c';
  expect(publicKeyOf(seed)).toBe(key);
});

test('a key that came to be needed later is added, and the others stay', () => {
  const file = fileIn('older');
  loadOrMakeKeys(file);
  const { ledgerSeed: _later, ...older } = storedIn(file);
  writeFileSync(file, JSON.stringify(older));
  const keys = loadOrMakeKeys(file);
  expect(keys).toMatchObject(older);
  expect(keys.ledgerSeed).toMatch(hex32);
  expect(loadOrMakeKeys(file)).toEqual(keys);
});

test('secrets of a rotation are kept, and must be secrets', () => {
  const file = fileIn('rotating');
  const made = loadOrMakeKeys(file);
  const acceptedKeySecrets = `${'22'.repeat(32)},${'33'.repeat(32)}`;
  saveKeys({ ...made, acceptedKeySecrets }, file);
  expect(loadOrMakeKeys(file)).toEqual({ ...made, acceptedKeySecrets });
  saveKeys({ ...made, acceptedKeySecrets: '22' }, file);
  expect(() => loadOrMakeKeys(file)).toThrow('acceptedKeySecrets');
});

test('the key of the operator is taken out of the one that opened the partitions', () => {
  const file = fileIn('one-key');
  const { rootKey: _root, openingKey: _opening, ...older } = loadOrMakeKeys(fileIn('made'));
  const ingress = { role: 'INGRESS', publicKey: '44'.repeat(32) } as const;
  const rootSeed = '55'.repeat(32);
  writeFileSync(file, JSON.stringify({ ...older, rootSeed, formerKeys: [ingress] }));
  const keys = loadOrMakeKeys(file);
  const openingSeed = older.operatorSeed;
  expect(readAuthority(keys, 'this test')).toEqual({ rootSeed, openingSeed });
  expect(keys.operatorSeed).toMatch(hex32);
  expect(keys.operatorSeed).not.toBe(older.operatorSeed);
  const former = { role: 'OPERATOR', publicKey: publicKeyOf(older.operatorSeed) };
  expect(keys.formerKeys).toEqual([ingress, former]);
  expect(loadOrMakeKeys(file)).toEqual(keys);
});

test('a seed of an authority among keys that have its public half is refused and kept', () => {
  const file = fileIn('both');
  loadOrMakeKeys(file);
  writeFileSync(file, JSON.stringify({ ...storedIn(file), rootSeed: '66'.repeat(32) }));
  expect(() => loadOrMakeKeys(file)).toThrow('move it there');
  expect(storedIn(file).rootSeed).toBe('66'.repeat(32));
});

test('a damaged file is refused and not replaced', () => {
  const file = fileIn('damaged');
  writeFileSync(file, '{"operatorSeed":"12"}');
  expect(() => loadOrMakeKeys(file)).toThrow('operatorSeed');
});

test.each(['', '{"operatorSeed": "12', '7', '{}'])(
  'a file with %j is damaged, and neither it nor its authorities are replaced',
  (text) => {
    const file = fileIn(`damaged-${text.length}`);
    const made = loadOrMakeKeys(file);
    const authority = readFileSync(made.authorityFile);
    writeFileSync(file, text);
    expect(() => loadOrMakeKeys(file)).toThrow('is damaged');
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(readFileSync(made.authorityFile)).toEqual(authority);
  },
);
