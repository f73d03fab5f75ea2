import type { SentOrder } from './order-load.ts';

/** A span of time, milliseconds of `performance.now()`. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Effects of a fault on the orders of clients. */
export interface GapReport {
  /** Longest time without an acknowledged order, milliseconds. */
  readonly allMs: number;
  /** Longest time of each partition without an acknowledged order, milliseconds. */
  readonly byPartition: ReadonlyMap<number, number>;
  readonly acknowledged: number;
  /** Refusals by code. */
  readonly refused: ReadonlyMap<string, number>;
  /** Orders whose response left their fate open, by code. */
  readonly unknown: ReadonlyMap<string, number>;
}

/** The longest gaps between acknowledged orders within a span, its ends included. */
export function gapsWithin(sent: readonly SentOrder[], span: Span): GapReport {
  const within = sent.filter(
    ({ answeredAtMs }) => answeredAtMs >= span.fromMs && answeredAtMs <= span.toMs,
  );
  const acknowledged = within.filter(({ outcome }) => outcome === 'acknowledged');
  const partitions = [...new Set(sent.map(({ partition }) => partition))].sort((a, b) => a - b);
  return {
    allMs: longestGap(acknowledged, span),
    byPartition: new Map(
      partitions.map((partition) => {
        const own = acknowledged.filter((order) => order.partition === partition);
        return [partition, longestGap(own, span)];
      }),
    ),
    acknowledged: acknowledged.length,
    refused: codesOf(within, 'refused'),
    unknown: codesOf(within, 'unknown'),
  };
}

function longestGap(orders: readonly SentOrder[], { fromMs, toMs }: Span): number {
  const times = orders.map(({ answeredAtMs }) => answeredAtMs).sort((a, b) => a - b);
  let [longest, before] = [0, fromMs];
  for (const time of [...times, toMs]) {
    longest = Math.max(longest, time - before);
    before = time;
  }
  return Math.round(longest);
}

function codesOf(
  orders: readonly SentOrder[],
  outcome: SentOrder['outcome'],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const order of orders)
    if (order.outcome === outcome) counts.set(order.code, (counts.get(order.code) ?? 0) + 1);
  return counts;
}
