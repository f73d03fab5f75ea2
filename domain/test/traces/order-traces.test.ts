import { randomBytes } from 'node:crypto';
import type { FinishedSpan } from '@pm/kit/traces';
import type { Execution } from '@pm/schemas/log/executions';
import type { Command } from '@pm/schemas/log/orders';
import {
  matchSpanOf,
  orderSampler,
  produceSpanOf,
  readerSpanOf,
  type TracedOrder,
  tracedOrdersIn,
  tracedResultsIn,
} from '../../src/traces/order-traces.ts';
import { ReaderTraces } from '../../src/traces/traced-reader.io.ts';

const orderOf = (firstBytes: string) =>
  Buffer.from(firstBytes.padEnd(32, '0') + 'ab'.repeat(16), 'hex');
const traced = (id: Buffer): TracedOrder => {
  const found = orderSampler(1)(id);
  if (found === null) throw new Error('all are traced');
  return found;
};

test('the first bytes of an order decide, and its last 32 digits name the trace', () => {
  const sample = orderSampler(0.25);
  expect(sample(orderOf('3fffffff'))).toEqual({
    orderId: `0x3fffffff${'0'.repeat(24)}${'ab'.repeat(16)}`,
    traceId: 'ab'.repeat(16),
  });
  expect(sample(orderOf('40000000'))).toBeNull();
  expect(orderSampler(0)(orderOf('00000000'))).toBeNull();
  expect(orderSampler(1)(orderOf('ffffffff'))).not.toBeNull();
  // No trace has an id of zeros.
  expect(orderSampler(1)(Buffer.alloc(32))).toBeNull();
});

test('of many orders the share is traced', () => {
  const sample = orderSampler(0.1);
  const count = 20_000;
  let found = 0;
  for (let tries = 0; tries < count; tries += 1) if (sample(randomBytes(32)) !== null) found += 1;
  expect(found / count).toBeGreaterThan(0.08);
  expect(found / count).toBeLessThan(0.12);
});

test('the same place of the same order has the same span in every process, another place another one', () => {
  const order = traced(orderOf('01'));
  const places = [
    produceSpanOf(order, 7),
    produceSpanOf(order, 8),
    matchSpanOf(order, 7),
    readerSpanOf(order, 'tables', 7),
    readerSpanOf(order, 'books', 7),
    matchSpanOf(traced(orderOf('02')), 7),
  ];
  expect(new Set(places.map(({ spanId }) => spanId)).size).toBe(places.length);
  for (const { spanId } of places) expect(spanId).toMatch(/^[0-9a-f]{16}$/);
  expect(produceSpanOf(traced(orderOf('01')), 7)).toEqual(places[0]);
});

test('commands and results name the orders that are traced', () => {
  const sample = orderSampler(0.5);
  const [inShare, other] = [orderOf('10'), orderOf('f0')];
  const commands = [
    { kind: 'Tick' },
    { kind: 'PlaceOrder', orderId: other },
    { kind: 'PlaceOrder', orderId: inShare },
    { kind: 'CancelOrder', orderId: inShare },
  ] as unknown as readonly Command[];
  expect(tracedOrdersIn(commands, sample)).toEqual([traced(inShare)]);
  expect(tracedResultsIn(executionOf(1, [other, inShare]), sample)).toEqual([traced(inShare)]);
  expect(tracedResultsIn(executionOf(1, []), sample)).toEqual([]);
});

function executionOf(inOffset: number, ids: readonly Buffer[], timeMs = Date.now()): Execution {
  const events = ids.flatMap((orderId) => [
    { kind: 'Fill', takerOrderId: orderId, makerOrderId: orderId },
    { kind: 'OrderPlaced', orderId },
  ]);
  return { inOffset, timeMs, events } as unknown as Execution;
}

describe('a reader of executions', () => {
  const open = () => {
    const spans: FinishedSpan[] = [];
    const traces = { share: 1, add: (span: FinishedSpan) => spans.push(span) };
    const reader = { reader: 'tables', process: '', partition: 3 };
    return { spans, reader: new ReaderTraces(traces, reader) };
  };

  test('has a span for each order once what follows from it is stored', () => {
    const { spans, reader } = open();
    const [one, two] = [orderOf('01'), orderOf('02')];
    reader.take(10, executionOf(20, [one]));
    reader.take(11, executionOf(21, [two]));
    expect(spans).toEqual([]);
    reader.stored(11);
    reader.stored(11);
    expect(spans).toHaveLength(1);
    expect(spans[0]).toMatchObject({
      traceId: traced(one).traceId,
      parentId: matchSpanOf(traced(one), 20).spanId,
      name: 'tables',
      attributes: { 'pm.partition': 3, 'pm.offset': 20, 'pm.execution.offset': 10 },
    });
    reader.stored(12);
    expect(spans.map(({ attributes }) => attributes?.['pm.offset'])).toEqual([20, 21]);
  });

  test('has none for records of the past, which it reads again', () => {
    const { spans, reader } = open();
    reader.take(10, executionOf(20, [orderOf('01')], Date.now() - 3_600_000));
    reader.stored(11);
    expect(spans).toEqual([]);
  });

  test('keeps a bounded number of orders while nothing is stored', () => {
    const { spans, reader } = open();
    for (let offset = 0; offset < 1_500; offset += 1)
      reader.take(offset, executionOf(offset, [orderOf('01')]));
    reader.stored(1_500);
    expect(spans).toHaveLength(1_000);
  });
});
