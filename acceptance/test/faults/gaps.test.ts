import { gapsWithin } from '../../src/faults/gaps.ts';
import type { SentOrder } from '../../src/faults/order-load.ts';

function order(
  answeredAtMs: number,
  partition: number,
  outcome: SentOrder['outcome'] = 'acknowledged',
  code = '',
): SentOrder {
  return { id: `0x${answeredAtMs}`, answeredAtMs, partition, outcome, code };
}

test('the longest time without an acknowledged order is known of all and of each partition', () => {
  const sent = [order(100, 0), order(300, 1), order(400, 0), order(900, 1)];
  const gaps = gapsWithin(sent, { fromMs: 0, toMs: 1_000 });
  expect(gaps.allMs).toBe(500);
  expect(gaps.byPartition).toEqual(
    new Map([
      [0, 600],
      [1, 600],
    ]),
  );
});

test('only acknowledged orders end a gap, and the others are counted by their codes', () => {
  const sent = [
    order(500, 0, 'refused', 'partition_not_ready'),
    order(600, 0, 'unknown', 'order_unconfirmed'),
    order(700, 0),
    order(2_000, 0),
  ];
  const gaps = gapsWithin(sent, { fromMs: 0, toMs: 1_000 });
  expect([gaps.allMs, gaps.acknowledged]).toEqual([700, 1]);
  expect([...gaps.refused, ...gaps.unknown]).toEqual([
    ['partition_not_ready', 1],
    ['order_unconfirmed', 1],
  ]);
});

test('a partition without any acknowledged order has a gap as long as the span', () => {
  const sent = [order(100, 0), order(5_000, 1)];
  expect(gapsWithin(sent, { fromMs: 0, toMs: 1_000 }).byPartition.get(1)).toBe(1_000);
});
