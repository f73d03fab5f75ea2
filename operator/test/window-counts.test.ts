import { WindowCounts } from '../src/window-counts.ts';

const limit = { most: 2, windowMs: 1_000, namesMax: 2 };

test('a name has so many in a window, and as many in the next', () => {
  const counts = new WindowCounts(limit);
  expect([1, 2, 3].map(() => counts.take('a', 500))).toEqual([true, true, false]);
  expect(counts.take('b', 500)).toBe(true);
  expect(counts.secondsLeft(500)).toBe(1);
  expect(counts.take('a', 1_000)).toBe(true);
});

test('names beyond the bound share one count', () => {
  const counts = new WindowCounts(limit);
  for (const name of ['a', 'b']) counts.take(name, 0);
  expect(['c', 'd', 'e'].map((name) => counts.take(name, 0))).toEqual([true, true, false]);
  expect(counts.take('a', 0)).toBe(true);
});
