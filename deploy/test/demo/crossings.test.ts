import { tagOfCategory } from '../../src/demo/catalog.ts';
import { Crossings, openingQuotes } from '../../src/demo/crossings.ts';
import { quoteOrders } from '../../src/demo/market-maker.ts';
import { recordedMarkets, recordedQuotes } from '../../src/demo/recordings.ts';
import { crossingOrder } from '../../src/demo/takers.ts';

const market = { slug: 'one', conditionId: '0x11', tokenIds: ['10', '11'] } as const;
const tags = new Map(
  recordedMarkets().map(({ slug, category }) => [slug, tagOfCategory[category] ?? 'other']),
);
const markets = new Map(
  recordedMarkets().map(({ slug }) => [
    slug,
    { slug, conditionId: slug, tokenIds: [`yes ${slug}`, `no ${slug}`] as const },
  ]),
);

test('a quote has three levels on each side, the best as it was recorded', () => {
  const quote = { timeMs: 0, slug: 'one', bid: '0.02', ask: '0.955' };
  const orders = quoteOrders(quote, market).map(({ tokenId, price, size }) => ({
    tokenId,
    price,
    size: Number(size),
  }));
  const size = orders[0]?.size ?? 0;
  expect(orders).toEqual([
    { tokenId: '10', price: '0.02', size },
    { tokenId: '10', price: '0.01', size: 2 * size },
    { tokenId: '11', price: '0.045', size },
    { tokenId: '11', price: '0.035', size: 2 * size },
    { tokenId: '11', price: '0.025', size: 3 * size },
  ]);
});

test('a crossing order meets the quote it is made for, and is worth a dollar', () => {
  const quoted = { market, bid: 20, ask: 955 };
  expect(crossingOrder(quoted, { isYes: true, shares: 5 })).toMatchObject({
    tokenId: '10',
    price: '0.955',
    size: '5',
    timeInForce: 'FAK',
  });
  expect(crossingOrder(quoted, { isYes: false, shares: 5 })).toMatchObject({
    tokenId: '11',
    price: '0.98',
  });
  const { price, size } = crossingOrder({ market, bid: 1, ask: 2 }, { isYes: true, shares: 5 });
  expect(Number(price) * Number(size)).toBeGreaterThanOrEqual(1);
});

test('every category of the recording is traded in, by several takers', () => {
  const crossings = new Crossings(tags, markets);
  const opening = openingQuotes(recordedQuotes(), tags);
  crossings.note(opening);
  const tagsOfRecording = new Set(tags.values());
  expect(opening).toHaveLength(tagsOfRecording.size);
  const traded = new Set<string>();
  const takers = new Set<number>();
  for (let count = 0; count < opening.length; count += 1) {
    const { taker, order } = crossings.next(8) ?? { taker: -1, order: { tokenId: '' } };
    traded.add(tags.get(order.tokenId.split(' ')[1] ?? '') ?? '');
    takers.add(taker);
  }
  expect(traded).toEqual(tagsOfRecording);
  expect(takers.size).toBeGreaterThan(4);
});

test('a market that lost a side of its quote is not traded', () => {
  const crossings = new Crossings(new Map([['one', 'sports']]), new Map([['one', market]]));
  crossings.note([{ timeMs: 0, slug: 'one', bid: '0.4', ask: '0.5' }]);
  expect(crossings.next(8)?.order.price).toBe('0.5');
  crossings.note([{ timeMs: 1, slug: 'one', bid: null, ask: '0.5' }]);
  expect(crossings.next(8)).toBeNull();
});
