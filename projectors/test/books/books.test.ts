import { createHash } from 'node:crypto';
import { priceText } from '@pm/schemas/decimal';
import { bookJson } from '@pm/schemas/http/book-hash';
import { conditionIdFromBytes, tokenIdFromBytes } from '@pm/schemas/ids';
import type { Execution, ExecutionEvent } from '@pm/schemas/log/executions';
import { bytesOf } from '../../../kit/test/seeded.ts';
import { MarketBook } from '../../src/books/book.ts';
import { foldBooks } from '../../src/books/fold.ts';
import {
  type BookHash,
  type MarketFacts,
  renderBook as renderWith,
} from '../../src/books/render.ts';
import { restoreBook } from '../../src/books/restore.ts';
import { executionOf, fillOf, marketSet, TinyExchange } from '../log.ts';

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');
const renderBook = (book: MarketBook, of: MarketFacts): readonly [BookHash, BookHash] =>
  renderWith(book, of, sha1);

const facts: MarketFacts = {
  conditionId: conditionIdFromBytes(bytesOf(32, 1)),
  tokens: [tokenIdFromBytes(bytesOf(32, 10)), tokenIdFromBytes(bytesOf(32, 11))],
  negRisk: false,
};

function openBooks(...markets: readonly number[]): Map<number, MarketBook> {
  return new Map(markets.map((market) => [market, new MarketBook(market)]));
}

function bookAfter(records: readonly Execution[], market = 1): MarketBook {
  const books = openBooks(1, 2, 3);
  for (const record of records) foldBooks(books, record);
  return books.get(market) ?? new MarketBook(market);
}

/** Bids and asks of both tokens of a market, computed from only the newest total of each level. */
function naiveSides(records: readonly Execution[], market: number) {
  const totals = { BUY: new Map<number, number>(), SELL: new Map<number, number>() };
  for (const { events } of records)
    for (const event of events)
      if (event.kind === 'LevelChanged' && event.market === market)
        totals[event.side].set(event.price, event.sizeMicro);
  const texts = (side: 'BUY' | 'SELL', sign: 1 | -1, price: (price: number) => number) =>
    [...totals[side]]
      .filter(([, size]) => size > 0)
      .map(([at, size]) => [price(at), size] as const)
      .sort(([a], [b]) => sign * (a - b))
      .map(([at, size]) => ({ price: String(at / 10_000), size: String(size / 1_000_000) }));
  const same = (price: number) => price;
  const other = (price: number) => 10_000 - price;
  return [
    { bids: texts('BUY', 1, same), asks: texts('SELL', -1, same) },
    { bids: texts('SELL', 1, other), asks: texts('BUY', -1, other) },
  ];
}

describe('books', () => {
  test('have the published hash', () => {
    const answer = {
      market: '0xaabbcc',
      assetId: '100',
      timestamp: '123456789',
      bids: [
        { price: '0.3', size: '100' },
        { price: '0.4', size: '100' },
      ],
      asks: [
        { price: '0.6', size: '100' },
        { price: '0.7', size: '100' },
      ],
      minOrderSize: '100',
      tickSize: '0.01',
      negRisk: false,
      lastTradePrice: '0.5',
    };
    const json = bookJson(answer, sha1);
    expect(JSON.parse(json).hash).toBe('0458ea5755c9f73d64a14636fa5c36ed460ec394');
    expect(
      createHash('sha1')
        .update(json.replace(/"hash":"\w+"/, '"hash":""'))
        .digest('hex'),
    ).toBe(JSON.parse(json).hash);
  });

  test('exist empty from the listing on', () => {
    const [token0, token1] = renderBook(bookAfter([executionOf(0, [marketSet(1)], 77)]), facts);
    expect(JSON.parse(token0.json)).toMatchObject({
      bids: [],
      asks: [],
      timestamp: '77',
      tick_size: '0.01',
      min_order_size: '5',
      last_trade_price: '',
    });
    expect([token0.bid, token0.ask, token0.last, token1.version]).toEqual(['', '', '', '0']);
  });

  test('agree with the newest total of each level, for both tokens, best last', () => {
    for (let seed = 1; seed <= 15; seed += 1) {
      const records = new TinyExchange(seed).records(200);
      for (const market of [1, 2, 3]) {
        const rendered = renderBook(bookAfter(records, market), facts);
        const naive = naiveSides(records, market);
        for (const outcome of [0, 1] as const) {
          const { bids, asks } = JSON.parse(rendered[outcome].json);
          expect({ bids, asks }).toEqual(naive[outcome]);
          expect(rendered[outcome].bid).toBe(bids.at(-1)?.price ?? '');
          expect(rendered[outcome].ask).toBe(asks.at(-1)?.price ?? '');
        }
      }
    }
  });

  test('change nothing when a prefix is read again, also from what was stored', () => {
    for (let seed = 20; seed <= 30; seed += 1) {
      const records = new TinyExchange(seed).records(120);
      for (const cut of [1, 40, 119]) {
        const straight = renderBook(bookAfter(records), facts);
        const [token0, token1] = renderBook(bookAfter(records.slice(0, cut)), facts);
        const books = openBooks(2, 3).set(1, restoreBook(1, token0, token1));
        for (const record of records) foldBooks(books, record);
        for (const record of records.slice(0, 60)) foldBooks(books, record);
        expect(renderBook(books.get(1) ?? new MarketBook(1), facts)).toEqual(straight);
      }
    }
  });

  test('show a mint as a trade of both tokens, with the side of the taker in each', () => {
    const fill = fillOf({ match: 'MINT', takerPrice: 5_400 });
    const [token0, token1] = renderBook(bookAfter([executionOf(0, [marketSet(1), fill])]), facts);
    expect([token0.last, token0.lastSide]).toEqual(['0.54', 'BUY']);
    expect([token1.last, token1.lastSide]).toEqual(['0.46', 'SELL']);
  });

  test('do not change the other token when a buyer meets a seller', () => {
    const fill = fillOf({ takerSide: 'SELL', takerOutcome: 1, takerPrice: 700 });
    const [token0, token1] = renderBook(bookAfter([executionOf(0, [marketSet(1), fill])]), facts);
    expect([token0.last, token1.last, token1.lastSide]).toEqual(['', priceText(700), 'SELL']);
  });

  test('know the newest trade of the market, the complement for the other token', () => {
    const at = (...events: readonly ExecutionEvent[]) =>
      renderBook(bookAfter([executionOf(0, [marketSet(1)]), executionOf(1, events)]), facts).map(
        ({ marketLast }) => marketLast,
      );
    const of = (takerOutcome: number, takerPrice: number) =>
      fillOf({ takerSide: 'SELL', takerOutcome, takerPrice });
    expect(at()).toEqual(['', '']);
    expect(at(of(0, 7_000))).toEqual(['0.7', '0.3']);
    expect(at(of(1, 600), of(1, 700))).toEqual(['0.93', '0.07']);
    expect(at(of(0, 7_000), fillOf({ match: 'MINT', takerPrice: 5_400 }))).toEqual([
      '0.54',
      '0.46',
    ]);
    // In one record token 1 counts, as in the leaderboards.
    expect(at(fillOf({ match: 'MINT', takerPrice: 5_400 }), of(0, 7_000))).toEqual([
      '0.54',
      '0.46',
    ]);
    const records = [executionOf(0, [marketSet(1)]), executionOf(1, [of(1, 600)])];
    const later = bookAfter([...records, executionOf(2, [of(0, 7_000)])]);
    expect(renderBook(later, facts).map(({ marketLast }) => marketLast)).toEqual(['0.7', '0.3']);
  });

  test('show a finer tick as soon as it is set', () => {
    const [token0] = renderBook(
      bookAfter([executionOf(0, [marketSet(1)]), executionOf(1, [marketSet(1, 10)])]),
      facts,
    );
    expect(JSON.parse(token0.json).tick_size).toBe('0.001');
  });

  test('refuse best prices that are not those of the levels', () => {
    const top = { kind: 'TopChanged', market: 1, bid: 4_000, ask: 0 } as const;
    expect(() => bookAfter([executionOf(0, [marketSet(1), top])])).toThrow('best prices');
  });
});
