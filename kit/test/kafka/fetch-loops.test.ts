import type { Fault } from '../../src/fault/index.ts';
import { FetchLoops } from '../../src/kafka/fetch-loops.io.ts';
import type { FetchedPartition, FetchPosition } from '../../src/kafka/fetch-wire.io.ts';
import { defaultLimits } from '../../src/kafka/limits.ts';
import { PartitionLane } from '../../src/kafka/partition-lane.io.ts';
import { Watchdog } from '../../src/kafka/watchdog.ts';
import { silentLog } from '../../src/log/index.ts';
import { createDeferred, until } from './deferred.ts';

const outOfRange = (partition: number) =>
  Object.assign(new Error('out of range'), {
    name: 'KafkaJSOffsetOutOfRange',
    topic: 't',
    partition,
  });

/** Brokers in memory: partition to its offsets, leader to its partitions. */
class MemoryBrokers {
  readonly logs = new Map<number, number[]>();
  readonly highs = new Map<number, number>();
  readonly leaderOf = new Map<number, string>();
  lows = new Map<number, number>();
  asked: (readonly FetchPosition[])[] = [];
  failures: Error[] = [];
  /** Partitions that no fetch may name. */
  readonly broken = new Set<number>();
  refreshes = 0;

  put(partition: number, offsets: number[], options: { leader?: string; end?: number } = {}): void {
    this.logs.set(partition, offsets);
    this.highs.set(partition, options.end ?? (offsets.at(-1) ?? -1) + 1);
    this.leaderOf.set(partition, options.leader ?? '1');
  }

  leaders = () => this.leaderOf;
  isAlone = () => false;
  refresh = async () => {
    this.refreshes += 1;
  };
  renew = async () => {};
  ends = async (_: string, places: readonly { readonly partition: number }[]) =>
    new Map(places.map(({ partition }) => [`t/${partition}`, this.highs.get(partition) ?? 0]));
  bounds = async (_: string, partitions: readonly number[]) =>
    new Map(
      partitions.map((one) => [
        one,
        { low: this.lows.get(one) ?? 0, high: this.highs.get(one) ?? 0 },
      ]),
    );

  fetch = async (
    node: string,
    positions: readonly FetchPosition[],
  ): Promise<FetchedPartition[]> => {
    this.asked.push(positions);
    await new Promise((resolve) => setTimeout(resolve, 2));
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    if (positions.some(({ partition }) => this.broken.has(partition))) throw new Error('broken');
    return positions.map(({ partition, offset: from }) => {
      if (this.leaderOf.get(partition) !== node)
        throw Object.assign(new Error('moved'), { type: 'NOT_LEADER_FOR_PARTITION' });
      if (from < (this.lows.get(partition) ?? 0)) throw outOfRange(partition);
      const offsets = (this.logs.get(partition) ?? [])
        .filter((offset) => offset >= from)
        .slice(0, 2);
      const records = offsets.map((offset) => ({ offset, key: null, value: null, timestampMs: 0 }));
      const nextOffset = (offsets.at(-1) ?? from - 1) + 1;
      const highWatermark = this.highs.get(partition) ?? 0;
      return { topic: 't', partition, from, records, nextOffset, highWatermark };
    });
  };
}

function reading(brokers: MemoryBrokers, restMs = 0) {
  const lanes = new Set<PartitionLane>();
  const watchdog = new Watchdog(1_000, () => performance.now());
  const loops = new FetchLoops({
    wire: brokers,
    limits: { ...defaultLimits, busyPollMs: 1, maxRetryMs: 20 },
    watchdog,
    log: silentLog,
    maxWaitMs: 20,
    restMs,
    lanes,
  });
  const seen = new Map<number, number[]>();
  const faults: Fault[] = [];
  const addLane = (
    lane: { partition: number; from: number; dense: boolean },
    onOffsets: (offsets: readonly number[]) => Promise<void>,
  ) => {
    lanes.add(
      new PartitionLane({
        topic: 't',
        ...lane,
        maxBufferedBytes: 1_000_000,
        maxBufferedRecords: 2,
        mayDeliver: () => true,
        onBatch: ({ records }) => onOffsets(records.map((record) => record.offset)),
        onFault: (fault) => faults.push(fault),
        onRoom: () => loops.refresh(),
      }),
    );
    loops.refresh();
  };
  const add = (partition: number, dense: boolean, wait: Promise<void> = Promise.resolve()) => {
    seen.set(partition, []);
    addLane({ partition, from: 0, dense }, async (offsets) => {
      await wait;
      seen.get(partition)?.push(...offsets);
    });
  };
  const addMore = (partition: number, from: number): readonly number[] => {
    const offsets: number[] = [];
    addLane({ partition, from, dense: true }, async (more) => void offsets.push(...more));
    return offsets;
  };
  return { loops, add, addMore, seen, faults };
}

test('a full lane is left out of the fetches, the others go on', async () => {
  const brokers = new MemoryBrokers();
  brokers.put(0, [0, 1, 2, 3]);
  brokers.put(1, [0, 1, 2, 3]);
  const { loops, add, seen } = reading(brokers);
  const slow = createDeferred();
  add(0, true, slow.promise);
  add(1, true);
  await until(() => seen.get(1)?.length === 4, 'the fast one has read all');
  expect(seen.get(0)).toEqual([]);
  expect(brokers.asked.at(-1)).toEqual([{ topic: 't', partition: 1, offset: 4 }]);
  slow.resolve();
  await until(() => seen.get(0)?.length === 4, 'the slow one follows');
  await loops.close();
});

test('a reader that has time rests after records, and not after a fetch without them', async () => {
  const brokers = new MemoryBrokers();
  brokers.put(0, [0, 1]);
  const { loops, add, seen } = reading(brokers, 500);
  const startedMs = performance.now();
  add(0, true);
  await until(() => seen.get(0)?.length === 2, 'it has read what there was');
  brokers.put(0, [0, 1, 2, 3]);
  await until(() => seen.get(0)?.length === 4, 'it has read the rest');
  expect(performance.now() - startedMs).toBeGreaterThan(490);
  expect(brokers.asked).toHaveLength(2);
  await loops.close();
  const idle = new MemoryBrokers();
  idle.put(0, []);
  const other = reading(idle, 3_600_000);
  other.add(0, true);
  await until(() => idle.asked.length > 3, 'it asks on');
  await other.loops.close();
});

test('no rest while there is more to read, and a hurry ends it', async () => {
  const brokers = new MemoryBrokers();
  brokers.put(0, [0, 1, 2, 3, 4]);
  const { loops, add, seen } = reading(brokers, 60_000);
  add(0, true);
  await until(() => seen.get(0)?.length === 5, 'it has read all');
  brokers.put(0, [0, 1, 2, 3, 4, 5]);
  expect(brokers.asked).toHaveLength(3);
  await until(() => {
    loops.hurry();
    return seen.get(0)?.length === 6;
  }, 'it reads at once');
  await loops.close();
});

test('lanes of one partition share a fetch, the hindmost says from where', async () => {
  const brokers = new MemoryBrokers();
  brokers.put(0, [0, 1, 2, 3]);
  const { loops, add, addMore, seen, faults } = reading(brokers);
  add(0, true);
  await until(() => seen.get(0)?.length === 4, 'the first has read all');
  const asked = brokers.asked.length;
  const late = addMore(0, 2);
  await until(() => late.length === 2, 'the second has read its part');
  brokers.put(0, [0, 1, 2, 3, 4]);
  await until(() => late.length === 3 && seen.get(0)?.length === 5, 'both read on');
  expect(late).toEqual([2, 3, 4]);
  expect(seen.get(0)).toEqual([0, 1, 2, 3, 4]);
  expect(brokers.asked.slice(asked).every((positions) => positions.length === 1)).toBe(true);
  expect(faults).toEqual([]);
  await loops.close();
});

test('a lane that is far behind does not hold up the foremost of its partition', async () => {
  const brokers = new MemoryBrokers();
  brokers.put(0, [0]);
  const { loops, add, addMore, seen } = reading(brokers);
  add(0, true);
  const all = Array.from({ length: 400 }, (_, offset) => offset);
  const foremost = addMore(0, 399);
  brokers.put(0, all);
  await until(() => foremost.length === 1, 'the foremost has read its part');
  expect(seen.get(0)?.length).toBeLessThan(20);
  await until(() => seen.get(0)?.length === 400, 'the other one has caught up');
  brokers.put(0, [...all, 400]);
  await until(() => foremost.length === 2 && seen.get(0)?.length === 401, 'both read on');
  await loops.close();
});

test.each([
  [0, 2],
  [1, 2],
  [1, 4],
  [2, 4],
  [1, 3],
])(
  'partition %i of %i that cannot be fetched holds up the others only for a while',
  async (broken, count) => {
    const brokers = new MemoryBrokers();
    const partitions = Array.from({ length: count }, (_, partition) => partition);
    for (const partition of partitions) brokers.put(partition, [0, 1, 2, 3]);
    brokers.broken.add(broken);
    const { loops, add, seen } = reading(brokers);
    for (const partition of partitions) add(partition, true);
    const sound = partitions.filter((partition) => partition !== broken);
    await until(() => sound.every((one) => seen.get(one)?.length === 4), 'the sound ones are read');
    expect(seen.get(broken)).toEqual([]);
    brokers.broken.delete(broken);
    await until(() => seen.get(broken)?.length === 4, 'the other one follows');
    await loops.close();
  },
);

test('of several lanes of a partition the one that is out of range stops', async () => {
  const brokers = new MemoryBrokers();
  brokers.put(0, [5, 6, 7]);
  brokers.lows.set(0, 5);
  const { loops, addMore, faults } = reading(brokers);
  const sound = addMore(0, 5);
  const lost = addMore(0, 2);
  await until(() => faults.length === 1 && sound.length === 3, 'one has stopped, one has read');
  expect(faults).toMatchObject([{ code: 'offset_out_of_range', facts: { position: 2, low: 5 } }]);
  expect(lost).toEqual([]);
  await loops.close();
});

test('follows a partition to its new leader', async () => {
  const brokers = new MemoryBrokers();
  brokers.put(0, [0, 1]);
  const { loops, add, seen } = reading(brokers);
  add(0, true);
  await until(() => seen.get(0)?.length === 2, 'it reads');
  brokers.put(0, [0, 1, 2, 3], { leader: '2' });
  await until(() => seen.get(0)?.length === 4, 'it reads at the new leader');
  await loops.close();
});

test('looks for the leader of a partition that has none', async () => {
  const brokers = new MemoryBrokers();
  brokers.put(0, [0, 1]);
  brokers.leaderOf.delete(0);
  const { loops, add, seen } = reading(brokers);
  add(0, true);
  await until(() => brokers.refreshes >= 2, 'it asks for metadata');
  expect(seen.get(0)).toEqual([]);
  brokers.leaderOf.set(0, '3');
  await until(() => seen.get(0)?.length === 2, 'it reads at the leader');
  await loops.close();
});

test('failed fetches are tried again from the same place', async () => {
  const brokers = new MemoryBrokers();
  brokers.put(0, [0, 1, 2]);
  brokers.failures = [new Error('one'), new Error('two'), outOfRange(0)];
  const { loops, add, seen, faults } = reading(brokers);
  add(0, true);
  await until(() => seen.get(0)?.length === 3, 'it reads');
  expect(brokers.refreshes).toBeGreaterThanOrEqual(2);
  expect(faults).toEqual([]);
  await loops.close();
});

test('an offset that is out of range by the bounds stops its lane', async () => {
  const brokers = new MemoryBrokers();
  brokers.put(0, [5, 6]);
  brokers.lows.set(0, 5);
  brokers.put(1, [0, 1, 2]);
  const { loops, add, seen, faults } = reading(brokers);
  add(0, false);
  add(1, true);
  await until(
    () => faults.length === 1 && seen.get(1)?.length === 3,
    'one has stopped, the other has read',
  );
  expect(faults).toMatchObject([
    { code: 'offset_out_of_range', facts: { partition: 0, position: 0, low: 5 } },
  ]);
  expect(seen.get(0)).toEqual([]);
  await loops.close();
});

test('steps over what compaction has left without records, one partition asked for alone', async () => {
  const brokers = new MemoryBrokers();
  brokers.put(0, [0, 1], { end: 5 });
  brokers.put(1, []);
  const { loops, add, seen } = reading(brokers);
  add(0, false);
  add(1, false);
  await until(
    () => brokers.asked.some((positions) => positions.some(({ offset }) => offset === 5)),
    'it has passed the hole',
  );
  brokers.put(0, [0, 1, 5], { end: 6 });
  await until(() => seen.get(0)?.length === 3, 'it reads on');
  const moves = brokers.asked.filter((positions) =>
    positions.some(({ partition, offset }) => partition === 0 && offset === 3),
  );
  expect(moves.some((positions) => positions.length === 2)).toBe(true);
  await loops.close();
});
