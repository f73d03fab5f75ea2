import {
  displayedMicro,
  midpointMicro,
  noQuote,
  priceOfMicro,
  type Quote,
  quoteOf,
} from '@pm/domain/books/quote';
import { Catalog } from '@pm/domain/markets/catalog';
import type { Market } from '@pm/domain/markets/market';
import fc from 'fast-check';
import { marketEntry, token } from '../in-memory.ts';

const quote = (changes: Partial<Quote>): Quote => ({ ...noQuote, ...changes });

describe('quotes', () => {
  it('are read off the stored fields', () => {
    expect(quoteOf(['0.52', '0.5305', '0.5', 'SELL', '0.51'])).toEqual({
      bid: 5200,
      ask: 5305,
      last: 5000,
      lastSide: 'SELL',
      marketLast: 5100,
    });
    expect(quoteOf(['', null, undefined, 'x', ''])).toEqual(noQuote);
  });

  it('have a midpoint only with both sides', () => {
    expect(midpointMicro(quote({ bid: 5200, ask: 5301 }))).toBe(525_050);
    expect(midpointMicro(quote({ bid: 5200 }))).toBeNull();
  });

  it.each([
    ['midpoint of a narrow spread', { bid: 5000, ask: 6000, marketLast: 100 }, 550_000],
    ['newest trade of a wide one', { bid: 5000, ask: 6001, last: 50, marketLast: 100 }, 10_000],
    ['midpoint of a wide one without trades', { bid: 5000, ask: 7000 }, 600_000],
    ['newest trade when a side is empty', { bid: 5000, marketLast: 5100 }, 510_000],
    ['one half when nothing is known', {}, 500_000],
  ])('display the %s', (_name, changes, micro) => {
    expect(displayedMicro(quote(changes))).toBe(micro);
  });

  it('display prices of the two tokens that add up to one', () => {
    const aPrice = fc.option(fc.integer({ min: 1, max: 9999 }));
    fc.assert(
      fc.property(aPrice, aPrice, aPrice, (bid, ask, marketLast) => {
        const other = (price: number | null) => (price === null ? null : 10_000 - price);
        const yes = quote({ bid, ask, marketLast, last: 100 });
        const sides = { bid: other(ask), ask: other(bid), last: 200 };
        const no = quote({ ...sides, marketLast: other(marketLast) });
        expect(displayedMicro(yes) + displayedMicro(no)).toBe(1_000_000);
      }),
    );
  });

  it('display prices that add up to one in every answer, whatever is known of token 1', () => {
    const catalog = new Catalog();
    catalog.apply(marketEntry(1));
    const market = catalog.market(1) as Market;
    const quotes = new Map([
      [token(1, 0), quote({ last: 3777, marketLast: 3777 })],
      [token(1, 1), quote({ last: 6000, marketLast: 6000 })],
    ]);
    expect(priceOfMicro(market, 0, quotes)).toBe(377_700);
    expect(priceOfMicro(market, 1, quotes)).toBe(622_300);
  });
});
