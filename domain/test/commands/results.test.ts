import { setImmediate as nextTurn } from 'node:timers/promises';
import { silentLog } from '@pm/kit/log';
import { openRecordCodec } from '@pm/kit/registry';
import { orderIdFromBytes } from '@pm/schemas/ids';
import type { Execution, ExecutionEvent, Fill, OrderPlaced } from '@pm/schemas/log/executions';
import { clockLeapMaxMs } from '@pm/schemas/log/log-rules';
import type { Command } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import { ClockWitness } from '../../src/commands/clock-witness.io.ts';
import { DelayedResults } from '../../src/commands/delayed-results.io.ts';
import { PartitionLiveness } from '../../src/commands/partition-liveness.ts';
import { RecentResults, resultBytes } from '../../src/commands/recent-results-cache.ts';
import { ResultWaiters } from '../../src/commands/result-waiters.ts';
import { followResults, ResultReader } from '../../src/commands/results.io.ts';
import type { CommandTopics } from '../../src/commands/topics.io.ts';
import { silenceMaxMs } from '../../src/executions/owner-silence.ts';
import { fakeLog, sealed } from '../executions/fake-log.ts';

const codec = openRecordCodec(topics.executions.value, 1, async () => null);
const keyId = Buffer.alloc(8, 4);

const hourMs = 3_600_000;

const anyCommand: Command = { kind: 'Tick', term: 0, timeMs: 1 };

function openSource() {
  const now = { ms: 1_000, wallMs: 0 };
  const witnesses: [number, Command][] = [];
  const liveness = new PartitionLiveness([0, 1], {
    monotonicMs: () => now.ms,
    nowMs: () => now.wallMs,
  });
  const witness = new ClockWitness({
    clock: { nowMs: () => now.wallMs, monotonicMs: () => now.ms },
    envelopes: {
      add: (partition, command) => {
        witnesses.push([partition, command]);
        return null;
      },
    },
  });
  const waiters = new ResultWaiters();
  const memory = new RecentResults({ bytesMax: 3 * resultBytes, seed: 1 });
  const delays = new DelayedResults();
  const extreme: number[] = [];
  const source = new ResultReader({
    codec,
    partitions: liveness,
    recentResults: memory,
    delayedResults: delays,
    fundedWallets: { take() {} },
    extremePrices: { note: (market) => void extreme.push(market) },
    witness,
    channels: new Map([[keyId.toString('hex'), { take: waiters.settle.bind(waiters) }]]),
  });
  const feed = (partition: number, ...executions: Partial<Execution>[]) =>
    source.onBatch({
      topic: 'executions',
      partition,
      highWatermark: 0,
      records: executions.map((change, offset) => {
        const plain = {
          chain: Buffer.alloc(32),
          inOffset: 0,
          timeMs: 5,
          keyId,
          sequence: 1,
          events: [],
        };
        return { offset, key: null, timestampMs: 0, value: codec.encode({ ...plain, ...change }) };
      }),
    });
  return { now, source, waiters, liveness, memory, delays, extreme, feed, witnesses };
}

const placed = (byte: number): OrderPlaced => ({
  kind: 'OrderPlaced',
  command: 0,
  orderId: Buffer.alloc(32, byte),
  market: 1,
  outcome: 0,
  side: 'BUY',
  timeInForce: 'GTC',
  postOnly: false,
  price: 5000,
  sizeMicro: 10_000,
  expiresAtMs: 0,
  acceptedAtMs: 0,
  maker: Buffer.alloc(20, 0x44),
  signer: Buffer.alloc(20, 0x55),
  apiKey: Buffer.alloc(16),
  builder: Buffer.alloc(32),
  status: 'LIVE',
  filledMicro: 0,
  paidMicro: 0,
  feeMicro: 0,
  restingMicro: 10_000,
});

test('a partition is ready while its executions are read', async () => {
  const { liveness, now, feed } = openSource();
  expect(liveness.isReady(0)).toBe(false);
  await feed(0, { inOffset: 10, timeMs: 77 });
  expect([liveness.isReady(0), liveness.isReady(1)]).toEqual([true, false]);
  now.ms += silenceMaxMs;
  expect(liveness.isReady(0)).toBe(true);
  now.ms += 1;
  expect(liveness.isReady(0)).toBe(false);
  expect(liveness.at(0)).toMatchObject({ inOffset: 10, clockMs: 77 });
});

test('a gap in the input offsets stops, a repetition is dropped', async () => {
  const { waiters, feed } = openSource();
  const seen: unknown[] = [];
  await feed(0, { inOffset: 10 }, { inOffset: 11 });
  waiters.add({ partition: 0, sequence: 5, index: 0, command: anyCommand }, (result) =>
    seen.push(result),
  );
  waiters.locate(5, 12);
  await feed(0, { inOffset: 11, sequence: 5 });
  expect(seen).toHaveLength(0);
  await feed(0, { inOffset: 12, sequence: 5 });
  expect(seen).toHaveLength(1);
  await expect(feed(0, { inOffset: 14 })).rejects.toMatchObject({
    code: 'execution_gap',
    reaction: 'stop',
  });
  await feed(1, { inOffset: 500 });
});

test('no command waits for results of other keys, but the newest of them are remembered', async () => {
  const { waiters, memory, feed } = openSource();
  const seen: unknown[] = [];
  waiters.add({ partition: 0, sequence: 5, index: 0, command: anyCommand }, (result) =>
    seen.push(result),
  );
  waiters.locate(5, 12);
  await feed(0, { inOffset: 0, sequence: 5, keyId: Buffer.alloc(8, 9), events: [placed(1)] });
  expect(seen).toHaveLength(0);
  expect(memory.recall(orderIdFromBytes(Buffer.alloc(32, 1)))).toMatchObject({
    kind: 'placed',
    status: 'LIVE',
  });
  expect(memory.partitionOf(orderIdFromBytes(Buffer.alloc(32, 1)))).toBe(0);
  await feed(
    0,
    { inOffset: 1, events: [placed(2)] },
    { inOffset: 2, events: [placed(3)] },
    { inOffset: 3, events: [placed(4)] },
  );
  expect(memory.size).toBe(3);
  expect(memory.recall(orderIdFromBytes(Buffer.alloc(32, 1)))).toBeUndefined();
});

test('an order that is canceled or filled by a later one has ended for its repetition', async () => {
  const { memory, feed } = openSource();
  const of = (byte: number) => memory.recall(orderIdFromBytes(Buffer.alloc(32, byte)));
  const [wallet, apiKey, builder] = [20, 16, 32].map((length) => Buffer.alloc(length));
  const names = { market: 1, maker: wallet, apiKey };
  const canceled = {
    ...names,
    kind: 'OrderCanceled',
    command: 0,
    orderId: Buffer.alloc(32, 1),
    reason: 'USER',
    restMicro: 10_000,
  };
  const fill = (makerRestMicro: number) => ({
    ...names,
    kind: 'Fill',
    command: 0,
    match: 'COMPLEMENTARY',
    sizeMicro: 10_000,
    takerOrderId: Buffer.alloc(32, 9),
    taker: wallet,
    takerKey: apiKey,
    takerOutcome: 0,
    takerSide: 'BUY',
    takerPrice: 5_000,
    takerBuilder: builder,
    makerKey: apiKey,
    makerOrderId: Buffer.alloc(32, 2),
    makerOutcome: 0,
    makerSide: 'SELL',
    makerPrice: 5_000,
    makerBuilder: builder,
    makerRestMicro,
    feeMicro: 0,
    feeRateBps: 0,
  });
  await feed(0, { inOffset: 0, events: [placed(1), placed(2)] });
  await feed(0, { inOffset: 1, events: [canceled, fill(10_000)] as never });
  expect([of(1), of(2)]).toMatchObject([{ status: 'LIVE', ended: true }, { status: 'LIVE' }]);
  expect(of(2)).not.toHaveProperty('ended');
  await feed(0, { inOffset: 2, events: [fill(0)] as never });
  expect(of(2)).toHaveProperty('ended', true);
});

test('what a full memory forgot is known by the clock of the partition, whatever the clock here says', async () => {
  const { memory, feed } = openSource();
  memory.begin(new Map([[0, 0]]));
  const records = [1, 2, 3, 4].map((hour) => ({
    inOffset: hour,
    timeMs: hour * hourMs,
    events: [placed(hour)],
  }));
  await feed(0, ...records);
  expect(memory.recall(orderIdFromBytes(Buffer.alloc(32, 1)))).toBeUndefined();
  expect(memory.mayHaveForgotten(0, hourMs)).toBe(true);
  expect(memory.mayHaveForgotten(0, 2 * hourMs)).toBe(false);
});

test('only refusals that last are remembered', async () => {
  const { memory, feed } = openSource();
  const refused = (
    byte: number,
    code: 'too_late' | 'insufficient_balance_or_allowance',
  ): ExecutionEvent => ({
    kind: 'OrderRefused',
    command: 0,
    orderId: Buffer.alloc(32, byte),
    market: 1,
    maker: Buffer.alloc(20),
    apiKey: Buffer.alloc(16),
    code,
  });
  await feed(
    0,
    { inOffset: 0, events: [refused(1, 'too_late')] },
    { inOffset: 1, events: [refused(2, 'insufficient_balance_or_allowance')] },
  );
  expect(memory.size).toBe(1);
});

test('a record that is no execution stops', async () => {
  const { source } = openSource();
  const broken = codec
    .encode({ chain: Buffer.alloc(32), inOffset: 0, timeMs: 0, keyId, sequence: 0, events: [] })
    .subarray(0, 20);
  for (const value of [null, broken]) {
    const records = [{ offset: 0, key: null, timestampMs: 0, value }];
    const fed = source.onBatch({ topic: 'executions', partition: 0, highWatermark: 1, records });
    await expect(fed).rejects.toMatchObject({ code: 'execution_unreadable', reaction: 'stop' });
  }
});

test('orders released together from a taker delay each get their own fills and result, however soon', async () => {
  const { delays, memory, feed } = openSource();
  const idOf = (byte: number) => orderIdFromBytes(Buffer.alloc(32, byte));
  const delayed = (byte: number): ExecutionEvent => ({
    ...placed(byte),
    kind: 'OrderDelayed',
    releaseAtMs: 250,
    heldMicro: 0,
  });
  const fill = (byte: number) => ({ ...fillOfNobody, takerOrderId: Buffer.alloc(32, byte) });
  const released = (byte: number) => ({ ...placed(byte), command: -1, status: 'MATCHED' }) as const;
  const events = [fill(1), released(1), fill(2), fill(2), released(2)];
  // In one batch: no request can wait between the delay and its end.
  await feed(0, { inOffset: 0, events: [delayed(1), delayed(2)] }, { inOffset: 1, events });
  expect(await delays.finalResult(idOf(1), 10)).toMatchObject({
    status: 'MATCHED',
    trades: [{ partition: 0, inOffset: 1, eventIndex: 0 }],
  });
  expect(await delays.finalResult(idOf(2), 10)).toMatchObject({
    trades: [{ eventIndex: 2 }, { eventIndex: 3 }],
  });
  expect(memory.recall(idOf(2))).toMatchObject({ status: 'MATCHED' });
  expect([delays.size, await delays.finalResult(idOf(1), 10)]).toEqual([0, null]);
});

test('a delay is waited for no longer than asked, and only so many are followed', async () => {
  const delays = new DelayedResults(2);
  const ids = [1, 2, 3].map((byte) => orderIdFromBytes(Buffer.alloc(32, byte)));
  for (const id of ids) delays.follow(id);
  expect(delays.size).toBe(2);
  expect(await Promise.all(ids.map((id) => delays.finalResult(id, 5)))).toEqual([null, null, null]);
  expect(delays.size).toBe(0);
});

const fillOfNobody: Fill = {
  kind: 'Fill',
  command: -1,
  market: 1,
  match: 'COMPLEMENTARY',
  sizeMicro: 10_000,
  takerOrderId: Buffer.alloc(32),
  taker: Buffer.alloc(20),
  takerKey: Buffer.alloc(16),
  takerOutcome: 0,
  takerSide: 'BUY',
  takerPrice: 5000,
  takerBuilder: Buffer.alloc(32),
  makerOrderId: Buffer.alloc(32),
  maker: Buffer.alloc(20),
  makerKey: Buffer.alloc(16),
  makerOutcome: 0,
  makerSide: 'SELL',
  makerPrice: 5000,
  makerBuilder: Buffer.alloc(32),
  makerRestMicro: 0,
  feeMicro: 0,
  feeRateBps: 0,
};

test('markets at extreme prices are noted, by their best prices and by their trades', async () => {
  const { extreme, feed } = openSource();
  const top = (market: number, bid: number, ask: number) =>
    ({ kind: 'TopChanged', market, bid, ask }) as const;
  const fill = (takerPrice: number) => ({ ...fillOfNobody, market: 9, takerPrice }) as const;
  const events = [top(1, 9_600, 9_700), top(2, 9_601, 0), top(3, 100, 400), top(4, 0, 399)];
  await feed(0, { inOffset: 0, events: [...events, top(5, 0, 0), fill(9_600), fill(399)] });
  expect(extreme).toEqual([2, 4, 9]);
});

test('a partition whose clock is far back gets a witness of the time every second, and no orders', async () => {
  const { now, liveness, feed, witnesses } = openSource();
  now.wallMs = 5 + clockLeapMaxMs;
  await feed(0, { inOffset: 1, timeMs: 5 });
  expect([witnesses, liveness.isReady(0)]).toEqual([[], true]);
  now.wallMs += 1;
  await feed(0, { inOffset: 2, timeMs: 5 }, { inOffset: 3, timeMs: 5 });
  expect(liveness.isReady(0)).toBe(false);
  now.wallMs += 1_000;
  now.ms += 1_000;
  await feed(0, { inOffset: 4, timeMs: 5 });
  await feed(1, { inOffset: 1, timeMs: now.wallMs });
  expect(witnesses).toEqual([
    [0, { kind: 'Tick', term: 0, timeMs: clockLeapMaxMs + 6 }],
    [0, { kind: 'Tick', term: 0, timeMs: clockLeapMaxMs + 1_006 }],
  ]);
  await feed(0, { inOffset: 5, timeMs: now.wallMs });
  expect(liveness.isReady(0)).toBe(true);
});

test('a clock that is set back by an hour does not delay the next witness', async () => {
  const { now, feed, witnesses } = openSource();
  now.wallMs = 7_200_000;
  await feed(0, { inOffset: 1, timeMs: 5 });
  now.wallMs -= 3_600_000;
  now.ms += 1_000;
  await feed(0, { inOffset: 2, timeMs: 5 });
  expect(witnesses.map(([, command]) => command)).toMatchObject([
    { timeMs: 7_200_000 },
    { timeMs: 3_600_000 },
  ]);
});

/** Executions as a log has them whose new owner wrote up to 150 before copies of the former owner came, then 151. */
function logWithLateCopies() {
  const plain = { chain: Buffer.alloc(32), timeMs: 5, keyId, sequence: -1, events: [] };
  const copies = Array.from({ length: 10 }, (_, index) => 140 + index);
  const order = [...Array(151).keys(), ...copies, 151];
  return fakeLog(sealed(order.map((inOffset) => ({ ...plain, inOffset }))));
}

test('results are followed from among late copies of a former owner, and known from its clock on', async () => {
  const { client, codec: executions } = logWithLateCopies();
  const partitions = new PartitionLiveness([0], { monotonicMs: () => 1, nowMs: () => 5 });
  const seen: number[] = [];
  const faults: string[] = [];
  const topics = {
    client,
    names: { executions: 'executions' },
    codecs: { executions },
    executionEnds: new Map([[0, 151]]),
  };
  const recentResults = new RecentResults({ bytesMax: 3 * resultBytes, seed: 1 });
  await followResults(topics as unknown as CommandTopics, {
    partitions,
    recentResults,
    channel: { keyId: '', take() {} },
    witness: { see: (partition) => void seen.push(partitions.at(partition).inOffset) },
    log: silentLog,
    onFault: ({ code }) => void faults.push(code),
  });
  const latest = [5, 6].map((ms) => recentResults.mayHaveForgotten(0, ms + 300_000));
  expect(latest).toEqual([true, false]);
  await nextTurn();
  expect([faults, seen, partitions.at(0).inOffset]).toEqual([[], [151], 151]);
  expect(partitions.isReady(0)).toBe(true);
});
