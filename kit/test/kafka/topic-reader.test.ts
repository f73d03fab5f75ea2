import type { Fault } from '../../src/fault/index.ts';
import type { Fetcher } from '../../src/kafka/fetcher.io.ts';
import { openKafkajs } from '../../src/kafka/kafkajs-connection.io.ts';
import { defaultLimits } from '../../src/kafka/limits.ts';
import type { PartitionLane } from '../../src/kafka/partition-lane.io.ts';
import type { PartitionBounds } from '../../src/kafka/records.ts';
import { Shared } from '../../src/kafka/shared.io.ts';
import { TopicReader } from '../../src/kafka/topic-reader.io.ts';
import { silentLog } from '../../src/log/index.ts';

/** A fetcher without connections, of which a test says the bounds of partitions. */
class FakeFetcher {
  readonly lanes = new Set<PartitionLane>();
  bounds = async (): Promise<ReadonlyMap<number, PartitionBounds>> => new Map();

  async follow(): Promise<void> {}

  addAll(lanes: Iterable<PartitionLane>): void {
    for (const lane of lanes) this.lanes.add(lane);
  }

  drop(lane: PartitionLane): void {
    this.lanes.delete(lane);
  }

  hurry(): void {}
  resume(): void {}
}

/** Shares that open this fetcher after so many failures. */
function sharedOf(fetcher: FakeFetcher, failures: number) {
  let tries = 0;
  return new Shared<Fetcher>({
    open: async () => {
      tries += 1;
      if (tries <= failures) throw new Error('no broker');
      return fetcher as unknown as Fetcher;
    },
    close: async () => {},
  });
}

async function openReader() {
  const options = { brokers: ['127.0.0.1:1'], clientId: 'test', log: silentLog };
  const stalls: [number, Fault][] = [];
  const reader = new TopicReader(openKafkajs(options, defaultLimits), defaultLimits, {
    topic: 't',
    maxWaitMs: 100,
    restMs: 0,
    onStall: (fault, partition) => stalls.push([partition, fault]),
  });
  const own = new FakeFetcher();
  await reader.connect(sharedOf(own, 0));
  const read = (partition: number, mayDeliver = () => true) =>
    reader.add({
      partition,
      from: 0,
      dense: true,
      mayDeliver,
      onBatch: async () => {},
      onFault: () => {},
    });
  return { reader, own, read, stalls };
}

beforeEach(() => jest.useFakeTimers());

afterEach(() => jest.useRealTimers());

test('a reader that could not share reads on as before, and shares later', async () => {
  const { reader, own, read } = await openReader();
  const lane = read(0);
  const common = new FakeFetcher();
  await reader.share(sharedOf(common, 2));
  expect([own.lanes.has(lane), common.lanes.has(lane)]).toEqual([true, false]);
  await jest.advanceTimersByTimeAsync(3_000);
  expect([own.lanes.has(lane), common.lanes.has(lane)]).toEqual([false, true]);
  await reader.close();
});

test('a reader that was closed does not share any more', async () => {
  const { reader, read } = await openReader();
  read(0);
  const common = new FakeFetcher();
  await reader.share(sharedOf(common, 1));
  await reader.close();
  await jest.advanceTimersByTimeAsync(10_000);
  expect(common.lanes.size).toBe(0);
});

test('a stall names its partition', async () => {
  const { reader, read, stalls } = await openReader();
  read(3).stalled({ node: null, silentMs: 5_100 });
  expect(stalls).toMatchObject([
    [
      3,
      {
        code: 'reader_stalled',
        reaction: 'retry',
        facts: { topic: 't', partition: 3, node: 'none' },
      },
    ],
  ]);
  await reader.close();
});

test('it says when the leader of a partition has answered, of the partitions that it reads', async () => {
  const { reader, read } = await openReader();
  const lane = read(0);
  expect([reader.answeredMs(0), reader.answeredMs(1)]).toEqual([-Infinity, -Infinity]);
  lane.answered(250);
  expect(reader.answeredMs(0)).toBe(250);
  await reader.remove(lane);
  expect(reader.answeredMs(0)).toBe(-Infinity);
  await reader.close();
});

test('lanes that may deliver again go on when the reader is woken', async () => {
  const { reader, read } = await openReader();
  let mayDeliver = false;
  const lane = read(0, () => mayDeliver);
  const record = { offset: 0, key: null, value: null, timestampMs: 0 };
  const answer = { topic: 't', partition: 0, from: 0, nextOffset: 1, highWatermark: 1 };
  lane.accept({ ...answer, records: [record] });
  await jest.advanceTimersByTimeAsync(0);
  mayDeliver = true;
  reader.wake();
  await jest.advanceTimersByTimeAsync(0);
  expect(lane.position).toBe(1);
  await reader.close();
});
