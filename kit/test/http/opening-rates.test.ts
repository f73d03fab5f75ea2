import { OpeningRates } from '../../src/http/opening-rates.ts';
import { Random } from '../../src/random/index.ts';

const limit = { most: 4, renewMs: 100 };
const gapMs = limit.renewMs / limit.most;

test('an address opens its share at once, then one more in each part of the time', () => {
  const rates = new OpeningRates(limit);
  const take = (nowMs: number) => rates.take('a', nowMs);
  expect([1, 2, 3, 4, 5].map(() => take(1_000))).toEqual([true, true, true, true, false]);
  expect([take(1_000 + gapMs - 1), take(1_000 + gapMs), take(1_000 + gapMs)]).toEqual([
    false,
    true,
    false,
  ]);
  // All of it again after the whole time.
  expect([1, 2, 3, 4, 5].map(() => take(2_000))).toEqual([true, true, true, true, false]);
});

test('in any time an address opens its share and what was renewed, by a count of all its times', () => {
  const random = new Random(7);
  const rates = new OpeningRates(limit);
  const taken: number[] = [];
  let refused = 0;
  for (let nowMs = 0; nowMs < 5_000; nowMs += random.below(20)) {
    const isWithin = taken.every((from, at) => {
      const count = taken.length - at + 1;
      return count <= limit.most + (nowMs - from) / gapMs;
    });
    expect(rates.take('a', nowMs)).toBe(isWithin);
    if (isWithin) taken.push(nowMs);
    else refused += 1;
  }
  expect(refused).toBeGreaterThan(50);
});

test('addresses are counted apart, and without a time for renewal none is refused', () => {
  const rates = new OpeningRates({ most: 1, renewMs: 100 });
  expect([rates.take('a', 0), rates.take('a', 0), rates.take('b', 0)]).toEqual([true, false, true]);
  const free = new OpeningRates({ most: 1, renewMs: 0 });
  expect([free.take('a', 0), free.take('a', 0)]).toEqual([true, true]);
});

test('the address that opened none for the longest time is forgotten for one more than are remembered', () => {
  const rates = new OpeningRates({ most: 2, renewMs: 200 });
  for (let each = 0; each < 10_000; each += 1) rates.take(String(each), 0);
  rates.take('0', 0);
  rates.take('10000', 0);
  const left = (address: string) => [1, 2].filter(() => rates.take(address, 0)).length;
  expect([left('0'), left('2'), left('1')]).toEqual([0, 1, 2]);
});
