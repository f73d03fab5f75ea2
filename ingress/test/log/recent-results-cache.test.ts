import type { OrderId } from '@pm/schemas';
import { RecentResults } from '../../src/log/recent-results-cache.ts';
import type { OrderResult } from '../../src/orders/order-result.ts';

const minuteMs = 60_000;

const answer = (number: number): OrderResult =>
  ({ kind: 'refused', orderId: `0x${number}` as OrderId, code: 'fok_not_filled' }) as const;

test('what was signed before the memory began, or up to five minutes ahead of it, may be forgotten', () => {
  const memory = new RecentResults(() => 10 * minuteMs);
  expect(memory.mayHaveForgotten(9 * minuteMs)).toBe(true);
  expect(memory.mayHaveForgotten(15 * minuteMs)).toBe(true);
  expect(memory.mayHaveForgotten(15 * minuteMs + 1)).toBe(false);
});

test('full, it forgets the oldest result and knows since when it is complete', () => {
  let nowMs = 0;
  const memory = new RecentResults(() => nowMs, 2);
  for (const number of [1, 2]) {
    nowMs = number * 100 * minuteMs;
    memory.keep(answer(number), 0);
  }
  expect(memory.mayHaveForgotten(100 * minuteMs)).toBe(false);
  nowMs = 300 * minuteMs;
  memory.keep(answer(3), 0);
  expect(memory.recall('0x1' as OrderId)).toBeUndefined();
  expect(memory.recall('0x2' as OrderId)).toBeDefined();
  expect(memory.mayHaveForgotten(100 * minuteMs)).toBe(true);
  expect(memory.mayHaveForgotten(106 * minuteMs)).toBe(false);
});
