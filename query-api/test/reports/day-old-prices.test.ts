import { noPrices } from '../../src/history/history.ts';
import type { Listing } from '../../src/markets/market.ts';
import { DayOldPrices } from '../../src/reports/day-old-prices.io.ts';
import { condition, marketEntry, World } from '../in-memory.ts';

test('each market is read once a minute', async () => {
  const world = new World();
  for (const number of [1, 2]) world.catalog.apply(marketEntry(number));
  const markets = [1, 2].map((number) => {
    const market = world.catalog.byCondition(condition(number));
    if (market === undefined) throw new Error('the market is listed');
    return market;
  });
  const reads: number[][] = [];
  let nowMs = Date.UTC(2026, 10, 23, 12, 0, 1);
  const tables = {
    prices: async (listings: readonly Listing[]) => {
      reads.push(listings.map(({ market }) => market.market));
      return listings.map(() => ({ ...noPrices, midpointBefore: 520_000 }));
    },
  };
  const prices = new DayOldPrices(tables, () => nowMs);
  expect([...(await prices.of(markets.slice(0, 1)))]).toEqual([[1, 520_000]]);
  await prices.of(markets);
  await prices.of(markets);
  nowMs += 60_000;
  await prices.of(markets);
  expect(reads).toEqual([[1], [2], [1, 2]]);
});
