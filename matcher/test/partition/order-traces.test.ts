import { matchSpanOf, orderSampler, produceSpanOf } from '@pm/domain/traces/order-traces';
import type { FinishedSpan } from '@pm/kit/traces';
import { OrderTraces } from '../../src/partition/order-traces.io.ts';
import { MatcherProcess, topicNames } from './matcher-process.ts';
import { MemoryLog } from './memory-log.ts';
import { ReplicaProcess, settle } from './replica-process.ts';
import { codecs, openingRecords, randomRecords } from './sealed-records.ts';

const seed = 20_261_126;

function openTraces(share: number) {
  const spans: FinishedSpan[] = [];
  return { spans, traces: new OrderTraces({ share, add: (span) => spans.push(span) }) };
}

/** Records of all logs, with equal bytes: sequences would differ otherwise. */
const records = [...openingRecords(), ...randomRecords(seed, 200)];

function newLog(): MemoryLog {
  const log = new MemoryLog();
  for (const record of records) log.append(topicNames.orders, record);
  return log;
}

const outputsOf = (log: MemoryLog) =>
  log.records(topicNames.executions).map(({ value }) => value?.toString('hex'));

/** Spans that follow from the orders on the topic `orders`. */
function expectedOf(log: MemoryLog) {
  const sample = orderSampler(1);
  return log.records(topicNames.orders).flatMap(({ value, offset }) => {
    const { commands, sequence } = codecs.orders.decode(value ?? Buffer.alloc(0));
    return commands.flatMap((command) => {
      const order = command.kind === 'PlaceOrder' ? sample(command.orderId) : null;
      if (order === null) return [];
      const { spanId: parentId } = produceSpanOf(order, sequence);
      return [{ ...matchSpanOf(order, offset), parentId }];
    });
  });
}

const matchesIn = (spans: readonly FinishedSpan[]) =>
  spans
    .filter(({ name }) => name === 'match')
    .map(({ traceId, spanId, parentId }) => ({ traceId, spanId, parentId }));

test('traces change no byte of the outputs', async () => {
  const [plain, traced] = [newLog(), newLog()];
  await new MatcherProcess(plain).run();
  await new MatcherProcess(traced, { traces: openTraces(1).traces }).run();
  expect(outputsOf(traced)).toHaveLength(202);
  expect(outputsOf(traced)).toEqual(outputsOf(plain));
});

test('each order of the log has one span, whose parent is that of its envelope', async () => {
  const log = newLog();
  const { spans, traces } = openTraces(1);
  await new MatcherProcess(log, { traces }).run();
  const expected = expectedOf(log);
  expect(expected.length).toBeGreaterThan(50);
  expect(matchesIn(spans)).toEqual(expected);
  const steps = spans.filter(({ name }) => name !== 'match');
  expect(steps.map(({ parentId }) => parentId)).toEqual(
    expected.flatMap(({ spanId }) => [spanId, spanId]),
  );
  for (const span of spans) expect(span.endMs).toBeGreaterThanOrEqual(span.startMs);
});

test('orders that are not in the share have none, and neither has a replay', async () => {
  const log = newLog();
  const none = openTraces(0);
  await new MatcherProcess(log, { traces: none.traces }).run();
  const again = openTraces(1);
  await new MatcherProcess(log, { traces: again.traces, verifyReplay: true }).run();
  expect([none.spans, again.spans]).toEqual([[], []]);
});

test('a standby has none', async () => {
  const log = newLog();
  log.batchRecords = 1_000;
  const [first, second] = [openTraces(1), openTraces(1)];
  const owner = new ReplicaProcess(log, { traces: first.traces });
  const standby = new ReplicaProcess(log, { traces: second.traces });
  standby.process.isPreferred = false;
  await owner.restore();
  await standby.restore();
  for (let round = 0; round < 20; round += 1) {
    for (const replica of [owner, standby]) {
      replica.process.nowMs += 25;
      await replica.round();
    }
    await settle();
  }
  expect([owner.status.role, standby.status.role]).toEqual(['owner', 'standby']);
  expect(matchesIn(first.spans).length).toBeGreaterThan(50);
  expect(second.spans).toEqual([]);
});
