import { Fault } from '@pm/kit/fault';
import { type MarketHistory, TradedMarkets } from '../src/traded-markets.io.ts';

const market = { market: 1, partition: 3 };
/** A process that has read the partition up to offset 10, and what its ledger says at each look, the last one on. */
const tradedBy = (...looks: readonly (MarketHistory | 'away')[]) => {
  let look = 0;
  const markets = new TradedMarkets({
    history: async () => {
      const known = looks[Math.min(look, looks.length - 1)] ?? 'away';
      look += 1;
      if (known === 'away') throw new Fault('redis_unavailable', 'retry');
      return known;
    },
    readOffsets: { place: (partition) => (partition === market.partition ? 10 : 99) },
    pause: async () => {},
  });
  return markets.isTraded(market);
};
const none = (mark: number) => ({ mark, hasTokens: false });
const some = (mark: number) => ({ mark, hasTokens: true });

test.each([
  ['a ledger that has applied all that was read and knows no tokens', false, [none(10)]],
  ['a ledger that comes as far meanwhile', false, ['away', none(4), none(11)]],
  ['a ledger that knows tokens', true, [some(10)]],
  ['a ledger that learns of tokens meanwhile', true, [none(9), some(10)]],
  ['a ledger that stays behind by one record', true, [none(9)]],
  ['a ledger that is folded anew', true, [none(0)]],
  ['a ledger that is away', true, ['away']],
] as const)('by %s a market counts as traded: %s', async (_ledger, isTraded, looks) => {
  expect(await tradedBy(...looks)).toBe(isTraded);
});
