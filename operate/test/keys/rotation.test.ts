import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ExchangeKeys,
  loadOrMakeKeys,
  publicKeyOf,
  type RotatedRole,
  rotatedSeeds,
  saveKeys,
} from '@pm/deploy/setup/keys';
import { idOf, type ListedKey } from '../../src/keys/key-lists.ts';
import {
  addKey,
  formerKeysMax,
  type KeyChange,
  type KeyLog,
  retireKeys,
  rotatedRole,
  rotateKey,
} from '../../src/keys/rotation.ts';
import { loadOrMakeSeed } from '../../src/keys/seed-file.ts';
import { ownKeys, shownKeys } from '../../src/keys/shown-keys.ts';

const partitions = 3;
let folder: string;
let path: string;
let log: ListsUnderTest;
/** Keys that every installation below begins with: public keys take long to compute. */
let firstKeys: ExchangeKeys;
beforeAll(() => {
  const made = mkdtempSync(join(tmpdir(), 'keys-'));
  firstKeys = loadOrMakeKeys(join(made, 'keys.json'));
  rmSync(made, { recursive: true });
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keys-'));
  path = join(folder, 'keys.json');
  log = new ListsUnderTest(saveKeys(firstKeys, path));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = {
  load: () => loadOrMakeKeys(path),
  save: (keys: ExchangeKeys) => {
    if (log.fails()) throw new Error('interrupted');
    saveKeys(keys, path);
  },
};
const places = () => ({ log, file, onStep: () => {} });
const publicKeys = new Map<string, Buffer>();
function publicOf(seed: string): Buffer {
  const found = publicKeys.get(seed) ?? Buffer.from(publicKeyOf(seed), 'hex');
  publicKeys.set(seed, found);
  return found;
}
const idOfSeed = (seed: string) => idOf(publicOf(seed));

/** The lists of an exchange in memory; one step can be interrupted. */
class ListsUnderTest implements KeyLog {
  readonly partitions = new Map<number, Map<string, ListedKey>>();
  readonly services = new Map<string, ListedKey>();
  readonly awaited: string[] = [];
  #failAt = Number.POSITIVE_INFINITY;
  #steps = 0;

  constructor(keys: ExchangeKeys) {
    for (let partition = 0; partition < partitions; partition += 1)
      this.partitions.set(partition, new Map());
    for (const [role, field] of Object.entries(rotatedSeeds)) {
      const change = { publicKey: publicOf(keys[field]), role: role as RotatedRole, active: true };
      for (const list of [...this.partitions.values(), this.services]) put(list, change);
    }
    const opening = {
      publicKey: Buffer.from(keys.openingKey, 'hex'),
      role: 'OPERATOR',
      active: true,
    } as const;
    for (const list of this.partitions.values()) put(list, opening);
  }

  /** The step that is so many from here throws, before or after its work. */
  failAt(step: number): void {
    this.#failAt = this.#steps + step;
  }

  fails(): boolean {
    this.#steps += 1;
    return this.#steps === this.#failAt;
  }

  async read() {
    const copied = [...this.partitions].map(
      ([partition, keys]) => [partition, new Map(keys)] as const,
    );
    return { partitions: new Map(copied), services: new Map(this.services) };
  }

  async setKey(partition: number, change: KeyChange) {
    const fails = this.fails();
    put(this.partitions.get(partition) ?? new Map(), change);
    if (fails) throw new Error('interrupted after the record');
  }

  async awaitApplied(partition: number, offset: number) {
    this.awaited.push(`${partition}:${offset}`);
  }

  async publish(change: KeyChange) {
    if (this.fails()) throw new Error('interrupted before the record');
    put(this.services, change);
  }

  /** By list, whether the key is active; null where it is missing. */
  statesOf(id: string): readonly (boolean | null)[] {
    const lists = [...this.partitions.values(), this.services];
    return lists.map((keys) => keys.get(id)?.active ?? null);
  }
}

function put(keys: Map<string, ListedKey>, change: KeyChange): void {
  keys.set(idOf(change.publicKey), { ...change, sinceMs: 0, offset: keys.size });
}

const everywhere = (state: boolean) => Array.from({ length: partitions + 1 }, () => state);

test('a rotation lists the next key everywhere, then uses it, and keeps the former one', async () => {
  const before = file.load();
  const id = await rotateKey(places(), 'INGRESS');
  const after = file.load();
  expect(id).toBe(idOfSeed(after.ingressSeed));
  expect(after.ingressSeed).not.toBe(before.ingressSeed);
  expect(after.nextSeeds).toEqual({});
  expect(after.formerKeys).toEqual([
    { role: 'INGRESS', publicKey: publicKeyOf(before.ingressSeed) },
  ]);
  const { ingressSeed, nextSeeds, formerKeys, ...others } = after;
  expect(before).toMatchObject(others);
  expect(log.statesOf(id)).toEqual(everywhere(true));
  expect(log.statesOf(idOfSeed(before.ingressSeed))).toEqual(everywhere(true));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, 'utf8')).not.toContain(before.ingressSeed);
});

/** Saved, published, set in each partition, saved. */
const steps = Array.from({ length: partitions + 3 }, (_, index) => index + 1);

test.each(steps)(
  'a rotation that is interrupted at step %i continues with its seed',
  async (step) => {
    const { ownerSeed } = file.load();
    log.failAt(step);
    await expect(rotateKey(places(), 'OWNER')).rejects.toThrow('interrupted');
    const saved = file.load();
    expect(saved.ownerSeed).toBe(ownerSeed);
    const id = await rotateKey(places(), 'OWNER');
    const after = file.load();
    if (step > 1) expect(after.ownerSeed).toBe(saved.nextSeeds?.OWNER);
    expect(log.statesOf(id)).toEqual(everywhere(true));
    // Four services and the one new key: no seed was made twice.
    expect(log.services.size).toBe(5);
    expect(after.formerKeys).toHaveLength(1);
    // Keys that an earlier run has set are waited for, not set again.
    expect(log.awaited).toHaveLength(Math.min(partitions, Math.max(0, step - 2)));
  },
);

test('a retirement of a role retires its former keys everywhere, and again changes nothing', async () => {
  const former: string[] = [];
  for (let count = 0; count < 2; count += 1) {
    former.push(idOfSeed(file.load().ledgerSeed));
    await rotateKey(places(), 'LEDGER');
  }
  // The first key is retired and removed from the file; the other one is retired in two partitions.
  log.failAt(partitions + 4);
  await expect(retireKeys(places(), { role: 'LEDGER' })).rejects.toThrow('interrupted');
  const left = (file.load().formerKeys ?? []).map(({ publicKey }) =>
    idOf(Buffer.from(publicKey, 'hex')),
  );
  expect(left).toEqual([former[1]]);
  expect(await retireKeys(places(), { role: 'LEDGER' })).toEqual(left);
  for (const id of former) expect(log.statesOf(id)).toEqual(everywhere(false));
  expect(file.load().formerKeys).toEqual([]);
  expect(log.statesOf(idOfSeed(file.load().ledgerSeed))).toEqual(everywhere(true));
  await expect(retireKeys(places(), { role: 'LEDGER' })).rejects.toThrow('no former key');
  expect(await retireKeys(places(), { id: former[0] ?? '' })).toEqual([former[0]]);
});

test('a key in use, the next one, the opening key and an unknown one are not retired', async () => {
  const { ingressSeed, openingKey } = file.load();
  const retire = (id: string) => retireKeys(places(), { id });
  await expect(retire(idOfSeed(ingressSeed))).rejects.toThrow(
    'is the key in use of the role INGRESS',
  );
  await expect(retire(idOf(Buffer.from(openingKey, 'hex')))).rejects.toThrow(
    'opened the partitions',
  );
  await expect(retire('00'.repeat(8))).rejects.toThrow('no list has a key');
  log.failAt(3);
  await expect(rotateKey(places(), 'INGRESS')).rejects.toThrow('interrupted');
  const next = file.load().nextSeeds?.INGRESS ?? '';
  await expect(retire(idOfSeed(next))).rejects.toThrow('is the next key of a rotation');
  expect(log.statesOf(idOfSeed(ingressSeed))).toEqual(everywhere(true));
});

test('only so many former keys wait for their retirement', async () => {
  for (let count = 0; count < formerKeysMax; count += 1) await rotateKey(places(), 'INGRESS');
  await expect(rotateKey(places(), 'INGRESS')).rejects.toThrow('retire them first');
  await rotateKey(places(), 'OWNER');
});

test('a log that another key opened is left alone', async () => {
  log.partitions.set(1, new Map());
  await expect(rotateKey(places(), 'INGRESS')).rejects.toThrow('was not opened by the opening key');
  expect(file.load().nextSeeds).toBeUndefined();
});

test('the keys of services can be rotated, and no other', () => {
  expect(rotatedRole('ingress')).toBe('INGRESS');
  expect(rotatedRole('operator')).toBe('OPERATOR');
  for (const other of ['opening', 'root', 'king'])
    expect(() => rotatedRole(other)).toThrow('ingress, owner, ledger, operator');
});

test('a key in use that is not listed yet is not rotated', async () => {
  const { operatorSeed } = file.load();
  for (const lacking of [log.services, log.partitions.get(1)]) {
    const key = lacking?.get(idOfSeed(operatorSeed));
    lacking?.delete(idOfSeed(operatorSeed));
    await expect(rotateKey(places(), 'OPERATOR')).rejects.toThrow('start the stack once');
    if (key !== undefined) lacking?.set(idOfSeed(operatorSeed), key);
  }
  expect(file.load().nextSeeds).toBeUndefined();
  await rotateKey(places(), 'OPERATOR');
});

test('the opening key of an earlier version, which sealed as well, is retired on service-keys alone', async () => {
  const { rootKey: _root, openingKey: _opening, ...older } = file.load();
  const { operatorSeed } = older;
  writeFileSync(path, JSON.stringify({ ...older, rootSeed: '7'.repeat(64) }));
  const keys = file.load();
  expect(keys.openingKey).toBe(publicKeyOf(operatorSeed));
  log = new ListsUnderTest(keys);
  const id = idOfSeed(operatorSeed);
  const former = { publicKey: publicOf(operatorSeed), role: 'OPERATOR', active: true } as const;
  put(log.services, former);
  const lineOf = async () =>
    shownKeys(await log.read(), ownKeys(file.load())).find((line) => line.includes(id));
  expect(await lineOf()).toMatch(/^opening {3}.* in use .*service-keys: listed {2}SEALS ON/);
  await expect(retireKeys(places(), { id })).rejects.toThrow('opened the partitions');
  expect(await retireKeys(places(), { role: 'OPERATOR' })).toEqual([id]);
  expect(log.statesOf(id)).toEqual([...Array.from({ length: partitions }, () => true), false]);
  expect(await lineOf()).toMatch(/service-keys: retired$/);
  expect(file.load().formerKeys).toEqual([]);
});

test.each([
  { nextSeeds: { INGRESS: 'short' } },
  { nextSeeds: { KING: '00'.repeat(32) } },
  { formerKeys: [{ role: 'OWNER', publicKey: 'short' }] },
  { formerKeys: {} },
])('a file of keys with %j is refused', (more) => {
  writeFileSync(path, JSON.stringify({ ...file.load(), ...more }));
  expect(() => file.load()).toThrow('is malformed');
});

test('a key of another process is listed beside those in use, by a seed of its own', async () => {
  const seedFile = join(folder, 'second', 'ingress.seed');
  const seed = loadOrMakeSeed(seedFile);
  expect(statSync(seedFile).mode & 0o777).toBe(0o600);
  log.failAt(3);
  await expect(addKey(places(), 'INGRESS', publicOf(seed))).rejects.toThrow('interrupted');
  expect(loadOrMakeSeed(seedFile)).toBe(seed);
  const before = loadOrMakeKeys(path);
  expect(await addKey(places(), 'INGRESS', publicOf(seed))).toBe(idOfSeed(seed));
  expect(log.statesOf(idOfSeed(seed))).toEqual([true, true, true, true]);
  expect(log.statesOf(idOfSeed(before.ingressSeed))).toEqual([true, true, true, true]);
  expect(loadOrMakeKeys(path)).toEqual(before);
  await retireKeys(places(), { id: idOfSeed(seed) });
  await expect(addKey(places(), 'INGRESS', publicOf(seed))).rejects.toThrow('was retired');
  const { ledgerSeed } = before;
  await expect(addKey(places(), 'INGRESS', publicOf(ledgerSeed))).rejects.toThrow('as LEDGER');
});

test('a file that is no seed is refused and not replaced', () => {
  const seedFile = join(folder, 'ingress.seed');
  writeFileSync(seedFile, 'secret');
  expect(() => loadOrMakeSeed(seedFile)).toThrow('not a seed of 64 hex digits');
  expect(readFileSync(seedFile, 'utf8')).toBe('secret');
});
