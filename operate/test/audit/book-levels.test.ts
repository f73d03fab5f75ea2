import { isDeepStrictEqual } from 'node:util';
import { seeded } from '../../../kit/test/seeded.ts';
import { BookLevels } from '../../src/audit/book-levels.ts';

test('best prices follow levels that come, change and go', () => {
  const next = seeded(4);
  const book = new BookLevels();
  const naive = { BUY: new Map<number, number>(), SELL: new Map<number, number>() };
  for (let change = 0; change < 3_000; change += 1) {
    const side = next(2) === 0 ? 'BUY' : 'SELL';
    const price = (side === 'BUY' ? 1 : 6) + next(5);
    const sizeMicro = next(2) * (1 + next(9));
    const sizeBefore = naive[side].get(price) ?? 0;
    const before = book.set(side, price, sizeMicro);
    if (sizeMicro === 0) naive[side].delete(price);
    else naive[side].set(price, sizeMicro);
    const [bids, asks] = [[...naive.BUY.keys()], [...naive.SELL.keys()]];
    book.stated = { bid: Math.max(0, ...bids), ask: asks.length === 0 ? 0 : Math.min(...asks) };
    const found = { before, wrongTop: book.wrongTop(), bids: book.bids.sizes };
    const expected = { before: sizeBefore, wrongTop: null, bids: naive.BUY };
    // An assertion takes longer than the change.
    if (!isDeepStrictEqual(found, expected)) expect(found).toEqual(expected);
    book.stated = { ...book.stated, bid: book.stated.bid + 1 };
    const wrongTop = book.wrongTop() ?? '';
    if (!wrongTop.includes('those of the levels'))
      expect(wrongTop).toContain('those of the levels');
  }
  expect(book.asks.sizes).toEqual(naive.SELL);
});
