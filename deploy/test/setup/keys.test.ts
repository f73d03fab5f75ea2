import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { loadOrMakeKeys, publicKeyOf } from '../../src/setup/keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'exchange-keys-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('keys are made once, kept, and readable by their owner only', () => {
  const file = join(folder, 'made', 'keys.json');
  const made = loadOrMakeKeys(file);
  expect(loadOrMakeKeys(file)).toEqual(made);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(new Set(Object.values(made)).size).toBe(9);
});

test('the public key of a seed is the one that signs off with it', () => {
  const seed = '11'.repeat(32);
  const key = openSignOffKey(Buffer.from(seed, 'hex'));
  expect(publicKeyOf(seed)).toBe(key.publicKey.toString('hex'));
});

test('a key that came to be needed later is added, and the others stay', () => {
  const file = join(folder, 'older.json');
  const { ledgerSeed: _later, ...older } = loadOrMakeKeys(join(folder, 'made', 'keys.json'));
  writeFileSync(file, JSON.stringify(older));
  const keys = loadOrMakeKeys(file);
  expect(keys).toMatchObject(older);
  expect(keys.ledgerSeed).toMatch(/^[0-9a-f]{64}$/);
  expect(loadOrMakeKeys(file)).toEqual(keys);
});

test('secrets of a rotation are kept, and must be secrets', () => {
  const file = join(folder, 'rotating.json');
  const made = loadOrMakeKeys(join(folder, 'made', 'keys.json'));
  const acceptedKeySecrets = `${'22'.repeat(32)},${'33'.repeat(32)}`;
  writeFileSync(file, JSON.stringify({ ...made, acceptedKeySecrets }));
  expect(loadOrMakeKeys(file)).toEqual({ ...made, acceptedKeySecrets });
  writeFileSync(file, JSON.stringify({ ...made, acceptedKeySecrets: '22' }));
  expect(() => loadOrMakeKeys(file)).toThrow('acceptedKeySecrets');
});

test('the key of the operator is taken out of the one that opened the partitions', () => {
  const file = join(folder, 'one-key.json');
  const { openingSeed: _later, ...older } = loadOrMakeKeys(join(folder, 'made', 'keys.json'));
  const ingress = { role: 'INGRESS', publicKey: '44'.repeat(32) } as const;
  writeFileSync(file, JSON.stringify({ ...older, formerKeys: [ingress] }));
  const keys = loadOrMakeKeys(file);
  expect(keys.openingSeed).toBe(older.operatorSeed);
  expect(keys.operatorSeed).toMatch(/^[0-9a-f]{64}$/);
  expect(keys.operatorSeed).not.toBe(older.operatorSeed);
  const former = { role: 'OPERATOR', publicKey: publicKeyOf(older.operatorSeed) };
  expect(keys.formerKeys).toEqual([ingress, former]);
  expect(loadOrMakeKeys(file)).toEqual(keys);
});

test('a damaged file is refused and not replaced', () => {
  const file = join(folder, 'damaged.json');
  writeFileSync(file, '{"operatorSeed":"12"}');
  expect(() => loadOrMakeKeys(file)).toThrow('operatorSeed');
});
