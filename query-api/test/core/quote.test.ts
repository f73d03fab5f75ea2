import fc from 'fast-check';
import {
  displayedMicro,
  midpointMicro,
  noQuote,
  type Quote,
  quoteOf,
} from '../../src/core/quote.ts';

const quote = (changes: Partial<Quote>): Quote => ({ ...noQuote, ...changes });

describe('quotes', () => {
  it('are read off the stored fields', () => {
    expect(quoteOf(['0.52', '0.5305', '0.5', 'SELL'])).toEqual({
      bid: 5200,
      ask: 5305,
      last: 5000,
      lastSide: 'SELL',
    });
    expect(quoteOf(['', null, undefined, 'x'])).toEqual(noQuote);
  });

  it('have a midpoint only with both sides', () => {
    expect(midpointMicro(quote({ bid: 5200, ask: 5301 }))).toBe(525_050);
    expect(midpointMicro(quote({ bid: 5200 }))).toBeNull();
  });

  it.each([
    ['midpoint of a narrow spread', { bid: 5000, ask: 6000, last: 100 }, 550_000],
    ['last trade of a wide one', { bid: 5000, ask: 6001, last: 100 }, 10_000],
    ['midpoint of a wide one without trades', { bid: 5000, ask: 7000 }, 600_000],
    ['last trade when a side is empty', { bid: 5000, last: 5100 }, 510_000],
    ['one half when nothing is known', {}, 500_000],
  ])('display the %s', (_name, changes, micro) => {
    expect(displayedMicro(quote(changes))).toBe(micro);
  });

  it('display prices of the two tokens that add up to one', () => {
    const aPrice = fc.option(fc.integer({ min: 1, max: 9999 }));
    fc.assert(
      fc.property(aPrice, aPrice, aPrice, (bid, ask, last) => {
        const other = (price: number | null) => (price === null ? null : 10_000 - price);
        const yes = displayedMicro(quote({ bid, ask, last }));
        const no = displayedMicro(quote({ bid: other(ask), ask: other(bid), last: other(last) }));
        expect(yes + no).toBe(1_000_000);
      }),
    );
  });
});
