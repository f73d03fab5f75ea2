import type { BookSnapshot } from '@pm/schemas/http/reading';
import { chooseMarket, type ListedEvent, tokensOf } from '../../src/tour/choose-market.ts';

function eventOf(id: string, tokens: readonly string[]): ListedEvent {
  const markets = tokens.map((token) => ({
    id: `market ${token}`,
    conditionId: `condition ${token}`,
    clobTokenIds: JSON.stringify([token, `${token}'`]),
  }));
  return { id, slug: id, title: id, tags: [], markets };
}

/** Levels as `price x size`, the best one last. */
function bookOf(token: string, bids: readonly string[], asks: readonly string[], last = '') {
  const levels = (side: readonly string[]) =>
    side.map((level) => {
      const [price = '', size = ''] = level.split(' x ');
      return { price, size };
    });
  const sides = { bids: levels(bids), asks: levels(asks) };
  return { asset_id: token, tick_size: '0.01', last_trade_price: last, ...sides } as BookSnapshot;
}

const quiet = bookOf('quiet', ['0.40 x 100'], []);
const thin = bookOf('thin', ['0.40 x 100'], ['0.50 x 29'], '0.50');
const flat = bookOf('flat', ['0.40 x 100'], ['0.50 x 30']);
const deep = bookOf('deep', ['0.39 x 50', '0.40 x 9'], ['0.51 x 50', '0.50 x 9']);
const traded = { ...deep, asset_id: 'traded', last_trade_price: '0.50' } as BookSnapshot;

/** The market that is chosen among these books, all of one event. */
function chosen(...books: readonly BookSnapshot[]): string | undefined {
  const events = [
    eventOf(
      'event',
      books.map(({ asset_id }) => asset_id),
    ),
  ];
  return chooseMarket(events, books)?.tokens[0];
}

test('a market without a price, or with too few shares on a side, is not chosen', () => {
  expect(chosen(quiet, thin)).toBeUndefined();
  expect(chosen(quiet, thin, flat)).toBe('flat');
});

test('the market with most levels is chosen, and of two such the one that was traded', () => {
  expect(chosen(flat, deep)).toBe('deep');
  expect(chosen(flat, deep, traded)).toBe('traded');
});

test('an order buys five dollars and at least five shares, two ticks above the best ask', () => {
  const events = [eventOf('event', ['deep'])];
  expect(tokensOf(events)).toEqual(['deep']);
  expect(chooseMarket(events, [deep])).toMatchObject({ price: '0.52', size: '10', tick: '0.01' });
  const dear = bookOf('deep', ['0.97 x 100'], ['0.98 x 100']);
  expect(chooseMarket(events, [dear])).toMatchObject({ price: '0.99', size: '6' });
});
