import { isDeepStrictEqual } from 'node:util';
import type { OrderId } from '@pm/schemas/ids';
import { runLength } from '../../../kit/test/long-runs.ts';
import { seeded } from '../../../kit/test/seeded.ts';
import { RecentResults, resultBytes } from '../../src/commands/recent-results-cache.ts';
import type { OrderResult } from '../../src/orders/order-result.ts';

const minuteMs = 60_000;
const seed = 7;
const idOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}` as OrderId;

const answer = (number: number): OrderResult =>
  ({ kind: 'refused', orderId: idOf(number), code: 'fok_not_filled' }) as const;

test('what was signed before the memory began, or up to five minutes ahead of it, may be forgotten', () => {
  const memory = new RecentResults({ bytesMax: 1_000_000, seed });
  expect(memory.mayHaveForgotten(1, 60 * minuteMs)).toBe(true);
  memory.begin(new Map([[1, 10 * minuteMs]]));
  expect(memory.mayHaveForgotten(1, 9 * minuteMs)).toBe(true);
  expect(memory.mayHaveForgotten(1, 15 * minuteMs)).toBe(true);
  expect(memory.mayHaveForgotten(1, 15 * minuteMs + 1)).toBe(false);
  const aheadMaxMs = 30_000;
  expect(memory.mayHaveForgotten(1, 10 * minuteMs + aheadMaxMs, aheadMaxMs)).toBe(true);
  expect(memory.mayHaveForgotten(1, 10 * minuteMs + aheadMaxMs + 1, aheadMaxMs)).toBe(false);
  expect(memory.mayHaveForgotten(2, 60 * minuteMs)).toBe(true);
});

test('full, it forgets the oldest result and knows since when it is complete', () => {
  const memory = new RecentResults({ bytesMax: 2 * resultBytes, seed });
  memory.begin(new Map([0, 1].map((partition) => [partition, 0])));
  memory.keep(answer(1), 0, 100 * minuteMs);
  memory.keep(answer(2), 1, 200 * minuteMs);
  expect(memory.mayHaveForgotten(0, 100 * minuteMs)).toBe(false);
  memory.keep(answer(3), 0, 300 * minuteMs);
  expect(memory.recall(idOf(1))).toBeUndefined();
  expect(memory.recall(idOf(2))).toBeDefined();
  expect(memory.mayHaveForgotten(0, 100 * minuteMs)).toBe(true);
  expect(memory.mayHaveForgotten(0, 106 * minuteMs)).toBe(false);
  expect(memory.mayHaveForgotten(1, 100 * minuteMs)).toBe(false);
});

/** A result of every form. */
function resultFrom(next: (below: number) => number, orderId: OrderId, partition: number) {
  const kind = next(4);
  if (kind === 0) return { kind: 'refused', orderId, code: 'too_late' } as const;
  if (kind === 1) return { kind: 'refused', orderId, code: 'overloaded' } as const;
  const first = next(20);
  const trades = Array.from({ length: next(4) }, (_, index) => ({
    partition,
    inOffset: 4_294_967_296 + first,
    eventIndex: first + index,
  }));
  return {
    kind: 'placed',
    orderId,
    side: next(2) === 0 ? 'BUY' : 'SELL',
    status: (['LIVE', 'MATCHED', 'CANCELED', 'DELAYED'] as const)[next(4)] ?? 'LIVE',
    filledMicro: next(1_000_000) * 9_000_000_000,
    paidMicro: next(1_000_000),
    trades: next(5) === 0 ? null : trades,
  } as const;
}

/** The memory of recent results in the form of a plain map. */
class Twin {
  readonly #kept = new Map<OrderId, { result: OrderResult; partition: number }>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#kept.size;
  }

  find(orderId: OrderId) {
    return this.#kept.get(orderId);
  }

  keep(result: ReturnType<typeof resultFrom>, partition: number): void {
    const { orderId } = result;
    const isDelayed = result.kind === 'placed' && result.status === 'DELAYED';
    const isPassing = result.kind === 'refused' && result.code === 'overloaded';
    if (isDelayed || isPassing || this.#kept.has(orderId)) return;
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= this.#max && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(orderId, { result, partition });
  }
}

test.each([
  [1, 1],
  [2, 7],
  [3, 300],
  [4, 5_000],
])('agrees with a plain map in a random history (%i, %i results)', (number, max) => {
  const next = seeded(number);
  const memory = new RecentResults({ bytesMax: max * resultBytes, seed: number });
  const twin = new Twin(max);
  for (let step = 0; step < 10_000; step += 1) {
    const orderId = idOf(next(max * 3) * 2 ** (number * 8));
    const partition = next(100);
    if (next(2) === 0) {
      const result = resultFrom(next, orderId, partition);
      memory.keep(result, partition, step);
      twin.keep(result, partition);
    } else {
      const found = { result: memory.recall(orderId), partition: memory.partitionOf(orderId) };
      const { result, partition: home } = twin.find(orderId) ?? {};
      const expected = { result, partition: home };
      // An assertion takes a hundred times as long as the memory.
      if (!isDeepStrictEqual(found, expected))
        expect({ step, ...found }).toEqual({ step, ...expected });
    }
  }
  expect(memory.size).toBe(twin.size);
});

test('at two thousand lasting results a second, an order of now has no forgotten result', () => {
  // In a deep run the whole of it; otherwise the same parts of both.
  const perSecond = runLength({ test: 125, deep: 2_000 });
  const seconds = 320;
  const bytesMax = (67_108_864 * perSecond) / 2_000;
  let nowMs = 0;
  const memory = new RecentResults({ bytesMax, seed });
  memory.begin(new Map([[1, 0]]));
  for (let count = 0; count < perSecond * seconds; count += 1) {
    nowMs = Math.floor((count * 1_000) / perSecond);
    memory.keep(answer(count), 1, nowMs);
  }
  expect(memory.mayHaveForgotten(1, nowMs)).toBe(false);
  expect(memory.recall(idOf(perSecond * (seconds - 300)))).toEqual(
    answer(perSecond * (seconds - 300)),
  );
  expect(memory.bytes).toBeLessThanOrEqual(bytesMax);
  const each = (memory.bytes / memory.size).toFixed(1);
  process.stdout.write(`a kept result takes ${each} bytes, ${memory.size} results\n`);
});
