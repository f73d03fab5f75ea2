import { SealedObjects } from '@pm/domain/objects/sealed-objects.io';
import { openSignOffKey, type SignOffKey } from '@pm/domain/signoff/keys';
import { silentLog } from '@pm/kit/log';
import { MemoryObjects } from '../../../domain/test/objects/memory-objects.ts';
import { SnapshotCopies } from '../../src/partition/snapshot-copies.io.ts';
import { offsetsOf, snapshotsKept } from '../../src/partition/snapshot-names.ts';
import { MatcherProcess, topicNames } from './matcher-process.ts';
import { MemoryFiles } from './memory-files.ts';
import { MemoryLog } from './memory-log.ts';
import { readOutputs } from './reading.ts';
import { openingRecords, partition, randomRecords } from './sealed-records.ts';

const records = [...openingRecords(), ...randomRecords(5, 78)];
const ownersKey = openSignOffKey(Buffer.alloc(32, 7));
const folder = `snapshots/p${partition}/`;

function copiesIn(store: MemoryObjects, given: { key?: SignOffKey; everyMs?: number } = {}) {
  const failures: number[] = [];
  const copies = new SnapshotCopies({
    objects: new SealedObjects(store, given.key ?? ownersKey),
    everyMs: given.everyMs ?? 0,
    log: silentLog,
    monotonicMs: () => performance.now(),
    onFailure: (one) => failures.push(one),
  });
  return { copies, failures };
}

/** A log that an owner has lived through, and the store with its copies. */
async function livedThrough(store = new MemoryObjects()) {
  const log = new MemoryLog();
  for (const value of records) log.append(topicNames.orders, value);
  const { copies, failures } = copiesIn(store);
  const process = new MatcherProcess(log, { copies, snapshotEveryRecords: 20, restTurns: 200 });
  await process.run();
  const stored = offsetsOf(await store.list(folder).catch(() => []));
  return { log, store, stored, failures, chain: process.owned.status().chain };
}

/** The next owner, on a machine with an empty disk. */
async function elsewhere(log: MemoryLog, store: MemoryObjects, key = ownersKey) {
  const { copies, failures } = copiesIn(store, { key });
  const files = new MemoryFiles();
  const process = new MatcherProcess(log, { files, copies, snapshotEveryRecords: 1e6 });
  await process.run();
  const { chain, snapshotOffset } = process.owned.status();
  return { chain, snapshotOffset, process, failures };
}

describe('copies of snapshots', () => {
  test('an owner with an empty disk starts from the newest copy', async () => {
    const { log, store, stored, chain } = await livedThrough();
    expect(stored).toHaveLength(snapshotsKept);
    expect(await elsewhere(log, store)).toMatchObject({ chain, snapshotOffset: stored[0] });
    expect(readOutputs(log).copies).toBe(0);
  });

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ['cut', (bytes) => bytes.subarray(0, bytes.length - 1)],
    ['half', (bytes) => bytes.subarray(0, bytes.length >> 1)],
    ['empty', () => Buffer.alloc(0)],
    ['changed by a bit', (bytes) => Buffer.from(bytes).fill((bytes[200] ?? 0) ^ 1, 200, 201)],
  ])('one that is %s is not used and stays, and the older one is used', async (_, spoil) => {
    const { log, store, stored, chain } = await livedThrough();
    const name = `${folder}${stored[0]}.snapshot`;
    store.contents.set(name, spoil(store.contents.get(name) ?? Buffer.alloc(0)));
    const next = await elsewhere(log, store);
    expect(next).toMatchObject({ chain, snapshotOffset: stored[1] });
    expect(next.process.badSnapshots).toHaveLength(1);
    expect(store.contents.has(name)).toBe(true);
  });

  test('a forged one is not used, though it is whole and of the right chain', async () => {
    const { log, store, chain } = await livedThrough();
    const next = await elsewhere(log, store, openSignOffKey(Buffer.alloc(32, 8)));
    expect(next).toMatchObject({ chain, snapshotOffset: 0 });
    expect(next.process.badSnapshots).toHaveLength(snapshotsKept);
  });

  test('without the first records of the log only a copy helps, and what is missing is said', async () => {
    const { log, store, stored, chain } = await livedThrough();
    const oldest = stored.at(-1) ?? 0;
    log.truncateBefore(topicNames.orders, oldest);
    log.truncateBefore(topicNames.executions, oldest - 1);
    expect(await elsewhere(log, store)).toMatchObject({ chain, snapshotOffset: stored[0] });
    await expect(elsewhere(log, new MemoryObjects())).rejects.toMatchObject({
      code: 'replay_out_of_range',
      facts: { from: 0, low: oldest, missing: 0 },
    });
  });

  test('a store that is away stops neither an owner nor a restore', async () => {
    const away = new MemoryObjects();
    away.isAway = true;
    const { log, failures, chain } = await livedThrough(away);
    expect(failures.length).toBeGreaterThan(0);
    const next = await elsewhere(log, away);
    expect(next).toMatchObject({ chain, snapshotOffset: 0 });
    expect(next.failures).toEqual([partition]);
  });

  test('a copy that the store does not give once is used by the next restore', async () => {
    const { log, store, stored, chain } = await livedThrough();
    const oldest = stored.at(-1) ?? 0;
    log.truncateBefore(topicNames.orders, oldest);
    log.truncateBefore(topicNames.executions, oldest - 1);
    const { copies, failures } = copiesIn(store);
    const process = new MatcherProcess(log, { files: new MemoryFiles(), copies });
    store.isAway = 'get';
    await expect(process.restore()).rejects.toMatchObject({ code: 'replay_out_of_range' });
    expect(failures).toHaveLength(snapshotsKept);
    store.isAway = false;
    await process.restore();
    expect(process.badSnapshots).toEqual([]);
    expect(process.owned.status()).toMatchObject({ chain, snapshotOffset: stored[0] });
  });

  test('copies of another history at larger offsets stay, and take no place of the own ones', async () => {
    const store = new MemoryObjects();
    const others = [900_001, 900_002, 900_003].map((offset) => `${folder}${offset}.snapshot`);
    for (const name of others) store.contents.set(name, Buffer.from('another history'));
    const { log, chain } = await livedThrough(store);
    const own = offsetsOf(await store.list(folder)).filter((offset) => offset < 900_000);
    expect(own).toHaveLength(snapshotsKept);
    expect(others.filter((name) => !store.contents.has(name))).toEqual([]);
    expect(await elsewhere(log, store)).toMatchObject({ chain, snapshotOffset: own[0] });
  });

  test('a copy is not made before its time, and at once after one that failed', async () => {
    const store = new MemoryObjects();
    const { copies } = copiesIn(store, { everyMs: 60_000 });
    const state = Buffer.from('state');
    const of = (nextOffset: number) => {
      const empty = Buffer.alloc(32);
      return { partition, nextOffset, chain: empty, state, stateHash: empty, checkpoint: null };
    };
    const settled = () => new Promise((done) => setTimeout(done, 20));
    store.isAway = true;
    copies.copyIfDue(of(1));
    await settled();
    store.isAway = false;
    copies.copyIfDue(of(2));
    await settled();
    copies.copyIfDue(of(3));
    await settled();
    expect(offsetsOf(await store.list(folder))).toEqual([2]);
  });
});
