import fc from 'fast-check';
import {
  type Book,
  bookOfWire,
  changedBook,
  emptyBook,
  type LevelChange,
  ladderOf,
} from '../src/market/ladder.ts';

const wire = {
  bids: [
    { price: '0.50', size: '10' },
    { price: '0.52', size: '30' },
  ],
  asks: [
    { price: '0.60', size: '5' },
    { price: '0.55', size: '20' },
  ],
};

test('the best level of each side comes first', () => {
  const { bids, asks } = bookOfWire(wire);
  expect([bids[0]?.price, asks[0]?.price]).toEqual(['0.52', '0.55']);
});

test('depth grows to the deeper side, and own orders are marked at their price', () => {
  const own = [{ side: 'BUY' as const, price: '0.5', size: 4 }];
  const ladder = ladderOf(bookOfWire(wire), own, 10);
  expect(ladder.bids.map(({ total, depth }) => [total, depth])).toEqual([
    [30, 0.75],
    [40, 1],
  ]);
  expect(ladder.asks.map(({ total }) => total)).toEqual([20, 25]);
  expect(ladder.bids.map(({ own: mine }) => mine)).toEqual([0, 4]);
  expect([ladder.spread, ladder.mid]).toEqual([0.03, 0.535]);
});

test('a one-sided book has no midpoint', () => {
  const ladder = ladderOf({ bids: [], asks: wire.asks }, [], 10);
  expect([ladder.spread, ladder.mid]).toEqual([null, null]);
});

const change: fc.Arbitrary<LevelChange> = fc.record({
  side: fc.constantFrom('BUY' as const, 'SELL' as const),
  price: fc.integer({ min: 1, max: 30 }).map((cents) => (cents / 100).toFixed(2)),
  size: fc.integer({ min: 0, max: 3 }).map(String),
});

/** A book as a plain map from side and price to size. */
function naive(changes: readonly LevelChange[]): Book {
  const sizes = new Map<string, LevelChange>();
  for (const one of changes) sizes.set(`${one.side} ${one.price}`, one);
  const side = (name: string) =>
    [...sizes.values()]
      .filter((one) => one.side === name && one.size !== '0')
      .map(({ price, size }) => ({ price, size }))
      .sort((one, other) => Number(one.price) - Number(other.price));
  return { bids: side('BUY').reverse(), asks: side('SELL') };
}

test('changes of levels, however they are grouped, give the book of their newest totals', () => {
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 20 }), (groups) => {
      // A level comes once in a message.
      const once = groups.map((group) => [
        ...new Map(group.map((one) => [`${one.side} ${one.price}`, one])).values(),
      ]);
      const folded = once.reduce(changedBook, emptyBook);
      expect(folded).toEqual(naive(once.flat()));
    }),
  );
});
