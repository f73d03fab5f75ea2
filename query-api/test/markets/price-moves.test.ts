import { competitiveness, movesSince } from '../../src/markets/price-moves.ts';

/** Prices in 1/10000 USDC; figures of the family as recorded in February 2026. */
const known = (bid: number, ask: number, trade: number | null = null) => ({
  book: { bid, ask },
  trade,
});
const nothing = { book: null, trade: null };

test.each([
  ['a favourite', 40, 60, 0.8032],
  ['an even market', 4_900, 5_100, 1],
  ['a spread of 0.17', 100, 1_800, 0.8591],
  ['a spread of 0.23', 2_100, 4_400, 0.7471],
  ['a spread of 0.61', 2_700, 8_800, 0.3878],
  ['a book without bids', 0, 80, 0.8026],
])('the competitiveness of %s is that of the family', (_name, bid, ask, competitive) => {
  expect(competitiveness({ bid, ask })).toBeCloseTo(competitive, 3);
});

test('prices move from midpoint to midpoint', () => {
  const then = { day: known(4_000, 4_200), week: known(5_000, 6_000), month: known(1, 2) };
  expect(movesSince(known(5_000, 5_100), then)).toMatchObject({
    dayMicro: 95_000,
    weekMicro: -45_000,
    monthMicro: 504_850,
  });
});

test('while a side of the book is empty the newest trade counts', () => {
  const then = { day: known(0, 4_200, 4_100), week: known(9_000, 10_000, 9_500), month: nothing };
  expect(movesSince({ book: null, trade: 4_000 }, then)).toEqual({
    dayMicro: -10_000,
    weekMicro: -550_000,
    monthMicro: null,
    competitive: 0,
  });
});

test('without a price of now nothing has moved', () => {
  const then = { day: known(4_000, 4_200), week: nothing, month: nothing };
  expect(movesSince(known(0, 10_000), then)).toMatchObject({ dayMicro: null, weekMicro: null });
});
