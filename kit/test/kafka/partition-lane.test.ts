import type { Fault } from '../../src/fault/index.ts';
import type { FetchedPartition } from '../../src/kafka/fetch-wire.io.ts';
import { PartitionLane } from '../../src/kafka/partition-lane.io.ts';
import type { RecordBatch } from '../../src/kafka/records.ts';
import { createDeferred, until } from './deferred.ts';

function fetched(
  from: number,
  offsets: readonly number[],
  more: Partial<FetchedPartition> = {},
): FetchedPartition {
  const records = offsets.map((offset) => ({
    offset,
    key: null,
    value: Buffer.alloc(10),
    timestampMs: 0,
  }));
  const nextOffset = (offsets.at(-1) ?? from - 1) + 1;
  return {
    topic: 't',
    partition: 0,
    from,
    records,
    nextOffset,
    highWatermark: nextOffset,
    ...more,
  };
}

function laneWith(options: {
  dense?: boolean;
  onBatch?: (batch: RecordBatch) => Promise<void>;
  mayDeliver?: () => boolean;
}) {
  const seen: number[] = [];
  const faults: Fault[] = [];
  const rooms: number[] = [];
  const lane: PartitionLane = new PartitionLane({
    topic: 't',
    partition: 0,
    from: 5,
    dense: options.dense ?? true,
    maxBufferedBytes: 1_000,
    maxBufferedRecords: 4,
    mayDeliver: options.mayDeliver ?? (() => true),
    onBatch: async (batch) => {
      seen.push(...batch.records.map((record) => record.offset));
      await options.onBatch?.(batch);
    },
    onFault: (fault) => faults.push(fault),
    onRoom: () => rooms.push(lane.position),
  });
  return { lane, seen, faults, rooms };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('hands batches over in order and moves its position after the handler', async () => {
  const { lane, seen } = laneWith({});
  lane.accept(fetched(5, [5, 6], { highWatermark: 9 }));
  expect(lane.fetchPosition).toBe(7);
  expect(lane.position).toBe(5);
  lane.accept(fetched(7, [7]));
  await settled();
  expect(seen).toEqual([5, 6, 7]);
  expect(lane.position).toBe(8);
});

test('takes from its position on what another lane of the partition asked for', async () => {
  const { lane, seen, faults } = laneWith({});
  lane.accept(fetched(3, [3, 4]));
  lane.accept(fetched(3, [3, 4, 5, 6]));
  expect(lane.fetchPosition).toBe(7);
  lane.accept(fetched(3, [3, 4, 5, 6, 7]));
  lane.accept(fetched(3, [3, 4]));
  lane.accept(fetched(9, [9]));
  await settled();
  expect(seen).toEqual([5, 6, 7]);
  expect(faults).toEqual([]);
  lane.accept(fetched(6, [6, 7, 9]));
  expect(faults).toMatchObject([{ code: 'offset_gap', facts: { expected: 8, found: 9 } }]);
});

test.each([
  ['the first record is later than asked', [6, 7]],
  ['a record is missing in the middle', [5, 7]],
  ['a record comes twice', [5, 5]],
])('a dense lane stops when %s', async (_, offsets) => {
  const { lane, seen, faults } = laneWith({});
  lane.accept(fetched(5, offsets));
  lane.accept(fetched(5, [5]));
  await settled();
  expect(faults).toMatchObject([{ code: 'offset_gap', reaction: 'stop' }]);
  expect(seen).toEqual([]);
});

test('a dense lane stops when the end of a batch is missing', () => {
  const { lane, faults } = laneWith({});
  lane.accept(fetched(5, [5, 6], { nextOffset: 9 }));
  expect(faults).toMatchObject([{ code: 'offset_gap', facts: { expected: 7, found: 9 } }]);
});

test('a compacted lane takes gaps and passes what compaction took away', async () => {
  const { lane, seen, faults } = laneWith({ dense: false });
  lane.accept(fetched(5, [6, 9], { nextOffset: 12 }));
  await settled();
  lane.accept(fetched(12, [], { nextOffset: 20 }));
  await settled();
  expect(seen).toEqual([6, 9]);
  expect(lane.position).toBe(20);
  expect(faults).toEqual([]);
});

test('drops the answer to an older question', async () => {
  const { lane, seen } = laneWith({});
  lane.accept(fetched(5, [5, 6]));
  lane.accept(fetched(5, [5, 6]));
  await settled();
  expect(seen).toEqual([5, 6]);
});

test('is full at its limit and says when it has room again', async () => {
  const slow = createDeferred();
  const { lane, rooms } = laneWith({ onBatch: () => slow.promise });
  lane.accept(fetched(5, [5, 6]));
  expect(lane.hasRoom()).toBe(true);
  lane.accept(fetched(7, [7, 8]));
  expect(lane.hasRoom()).toBe(false);
  slow.resolve();
  await settled();
  expect(lane.hasRoom()).toBe(true);
  expect(rooms).toHaveLength(1);
});

test('starts no batch after close or while ownership is in doubt, and waits for the running one', async () => {
  const slow = createDeferred();
  let owned = true;
  const { lane, seen } = laneWith({ onBatch: () => slow.promise, mayDeliver: () => owned });
  lane.accept(fetched(5, [5]));
  await until(() => seen.length === 1, 'a batch runs');
  lane.accept(fetched(6, [6]));
  owned = false;
  let closed = false;
  const closing = lane.close().then(() => {
    closed = true;
  });
  await settled();
  expect(closed).toBe(false);
  slow.resolve();
  await closing;
  expect(seen).toEqual([5]);
});

test('says when the fetch began that left nothing to handle', async () => {
  const running = createDeferred();
  const { lane } = laneWith({ onBatch: () => running.promise });
  expect(lane.readThroughMs).toBe(Number.NEGATIVE_INFINITY);
  lane.accept(fetched(5, [5, 6], { highWatermark: 9 }), 100);
  lane.accept(fetched(7, [7, 8]), 110);
  await settled();
  expect(lane.readThroughMs).toBe(Number.NEGATIVE_INFINITY);
  running.resolve();
  await until(() => lane.position === 9, 'all handled');
  expect(lane.readThroughMs).toBe(110);
  lane.accept(fetched(9, []), 120);
  await settled();
  expect(lane.readThroughMs).toBe(120);
  lane.accept(fetched(9, [], { highWatermark: 12 }), 130);
  await settled();
  expect(lane.readThroughMs).toBe(Number.NEGATIVE_INFINITY);
  await lane.close();
});

test('says when the newest fetch began that reached the end, once its records are handled', async () => {
  const running = createDeferred();
  const { lane } = laneWith({ onBatch: () => running.promise });
  lane.accept(fetched(5, [5, 6], { highWatermark: 9 }), 100);
  lane.accept(fetched(7, [7, 8]), 110);
  await settled();
  expect(lane.atEndMs).toBe(Number.NEGATIVE_INFINITY);
  running.resolve();
  await until(() => lane.position === 9, 'all handled');
  expect(lane.atEndMs).toBe(110);
  // A backlog, and what another broker than the leader answers, reach no end.
  lane.accept(fetched(9, [9], { highWatermark: 12 }), 120);
  lane.accept(fetched(10, [10]), Number.NEGATIVE_INFINITY);
  await until(() => lane.position === 11, 'all handled');
  expect(lane.atEndMs).toBe(110);
  lane.accept(fetched(11, []), 130);
  await settled();
  expect(lane.atEndMs).toBe(130);
  await lane.close();
});

test('a full lane that could not deliver for a while goes on when it is woken', async () => {
  let mayDeliver = false;
  const { lane, seen, rooms } = laneWith({ mayDeliver: () => mayDeliver });
  lane.accept(fetched(5, [5, 6, 7, 8]));
  await settled();
  expect([lane.hasRoom(), seen]).toEqual([false, []]);
  mayDeliver = true;
  lane.wake();
  await settled();
  expect([lane.hasRoom(), seen, rooms.length]).toEqual([true, [5, 6, 7, 8], 1]);
});

test('a lane that may deliver again goes on although nobody wakes it', async () => {
  jest.useFakeTimers();
  try {
    let mayDeliver = true;
    const { lane, seen } = laneWith({
      mayDeliver: () => mayDeliver,
      onBatch: async () => {
        mayDeliver = false;
      },
    });
    lane.accept(fetched(5, [5, 6]));
    lane.accept(fetched(7, [7, 8]));
    await jest.advanceTimersByTimeAsync(1_000);
    expect(seen).toEqual([5, 6]);
    mayDeliver = true;
    await jest.advanceTimersByTimeAsync(200);
    expect(seen).toEqual([5, 6, 7, 8]);
  } finally {
    jest.useRealTimers();
  }
});

test('a lane that may not deliver closes at once', async () => {
  const { lane, seen } = laneWith({ mayDeliver: () => false });
  lane.accept(fetched(5, [5]));
  await settled();
  await lane.close();
  expect(seen).toEqual([]);
});

test.each([0, 1, 2, 3, 4, 5, 6, 7])(
  'records that come %i microtasks after a handler has ended are handled',
  async (microtasks) => {
    const first = createDeferred();
    const { lane, seen } = laneWith({ onBatch: () => first.promise });
    lane.accept(fetched(5, [5]));
    await settled();
    first.resolve();
    for (let passed = 0; passed < microtasks; passed += 1) await null;
    lane.accept(fetched(6, [6, 7, 8, 9]));
    await settled();
    expect(seen).toEqual([5, 6, 7, 8, 9]);
  },
);

test('its lag is that to the largest end that the leader has named, by a fetch or without', async () => {
  const { lane } = laneWith({});
  lane.accept(fetched(5, [5, 6], { highWatermark: 9 }), 100);
  await settled();
  expect(lane.lagRecords).toBe(2);
  lane.noteEnd(20);
  lane.noteEnd(15);
  expect(lane.lagRecords).toBe(13);
  lane.accept(fetched(7, [7]), Number.NEGATIVE_INFINITY);
  await settled();
  expect(lane.lagRecords).toBe(12);
});
