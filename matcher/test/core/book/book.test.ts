import fc from 'fast-check';
import { PriceLadders } from '../../../src/core/book/price-ladders.ts';
import { BatchBook, fillWords, packPrice } from '../../../src/core/index.ts';

const ticks = [1, 10, 25, 50, 100, 1_000];

describe('price ladders', () => {
  it.each(ticks)('find the next occupied level, tick %d', (tick) => {
    const last = 10_000 / tick - 1;
    const level = fc.integer({ min: 1, max: last });
    fc.assert(
      fc.property(fc.uniqueArray(level, { maxLength: 40 }), level, (levels, from) => {
        const ladders = new PriceLadders();
        ladders.add(1_000);
        const market = ladders.add(tick);
        ladders.add(tick);
        for (const each of levels) ladders.occupy(market, each, true);
        const below = Math.max(0, ...levels.filter((each) => each < from));
        const above = Math.min(last + 1, ...levels.filter((each) => each > from));
        expect(ladders.below(market, from)).toBe(below);
        expect(ladders.above(market, from)).toBe(above);
      }),
      { numRuns: 200 },
    );
  });

  it.each(ticks)('know the level of every price, tick %d', (tick) => {
    const ladders = new PriceLadders();
    const market = ladders.add(tick);
    for (let level = 0; level <= 10_000 / tick; level += 1) {
      if (ladders.levelOf(market, level * tick) !== level) expect(level).toBe(-1);
    }
  });
});

/** One command, and the fills it makes: maker, price, lots. */
function place(batch: BatchBook, order: number, price: number, lots: number): number[][] {
  batch.run(Int32Array.of(0, order, price, lots), 0, 1);
  const { fills } = batch;
  return Array.from({ length: batch.fillCount }, (_, index) => [
    ...fills.subarray(index * fillWords + 1, (index + 1) * fillWords),
  ]);
}

describe('the bare book', () => {
  const bid = (price: number): number => packPrice(price, true, 0);
  const ask = (price: number): number => packPrice(price, false, 0);

  it('fills what crosses and rests the remainder', () => {
    const batch = new BatchBook();
    const market = batch.book.addMarket(100);
    place(batch, 1, ask(5_500), 10);
    place(batch, 2, ask(5_400), 10);
    expect(place(batch, 3, bid(5_600), 25)).toEqual([
      [2, 5_400, 10],
      [1, 5_500, 10],
    ]);
    expect([batch.book.bestBid(market), batch.book.bestAsk(market)]).toEqual([5_600, 0]);
    expect(batch.book.levelLots(market, true, 5_600)).toBe(5);
    expect(place(batch, 3, 0, 0)).toEqual([]);
    expect(batch.book.bestBid(market)).toBe(0);
    expect(place(batch, 4, bid(5_600), -25)).toEqual([]);
    expect(batch.restLots(4)).toBe(0);
  });

  it('treats a BUY of the other token as an offer of this one at the complement', () => {
    const batch = new BatchBook();
    batch.book.addMarket(100);
    place(batch, 1, packPrice(4_400, true, 1), 10);
    expect(batch.book.bestAsk(0)).toBe(5_600);
    expect(place(batch, 2, packPrice(4_400, false, 1), 4)).toEqual([[1, 5_600, 4]]);
    expect(place(batch, 3, bid(5_600), 4)).toEqual([[1, 5_600, 4]]);
    expect(batch.restLots(1)).toBe(2);
  });

  it('lists each changed level once per batch, and the best prices before', () => {
    const batch = new BatchBook();
    batch.book.addMarket(100);
    const commands = Int32Array.of(
      0,
      1,
      bid(100),
      5,
      0,
      2,
      bid(100),
      5,
      0,
      1,
      0,
      0,
      0,
      3,
      ask(200),
      5,
    );
    batch.run(commands, 0, 4);
    const { book } = batch;
    expect([...book.touchedLevels.slice(0, book.touchedCount)]).toEqual([100, 16_384 + 200]);
    expect([...book.toppedMarkets.slice(0, book.toppedCount)]).toEqual([0]);
    expect(book.isTopChanged(0)).toBe(true);
    batch.run(commands, 0, 0);
    expect([book.touchedCount, book.toppedCount]).toEqual([0, 0]);
  });

  it('refuses an order that would cross the book or is off the tick', () => {
    const batch = new BatchBook();
    const market = batch.book.addMarket(100);
    place(batch, 1, ask(5_500), 10);
    expect(() => batch.book.rest(market, bid(5_500), 1)).toThrow('does not cross');
    expect(() => batch.book.rest(market, bid(5_450), 1)).toThrow('on the tick');
    expect(() => place(batch, 1, ask(5_600), 1)).toThrow('names one order');
  });
});
