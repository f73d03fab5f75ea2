import { createHash } from 'node:crypto';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { conditionIdFromBytes, redisKeys, tokenIdFromBytes } from '@pm/schemas';
import { engineUrl } from '../../../kit/test/engines.ts';
import { bytesOf, seeded } from '../../../kit/test/seeded.ts';
import { MarketBook } from '../../src/core/books/book.ts';
import { foldBooks } from '../../src/core/books/fold.ts';
import type { Level } from '../../src/core/books/levels.ts';
import {
  type BookHash,
  type MarketFacts,
  renderBook as renderWith,
} from '../../src/core/books/render.ts';
import { type BooksStore, openBooksStore } from '../../src/io/books-store.ts';
import { TinyExchange } from '../log.ts';

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');
const renderBook = (book: MarketBook, of: MarketFacts): readonly [BookHash, BookHash] =>
  renderWith(book, of, sha1);

const keys = redisKeys('books-test');
const facts: MarketFacts = {
  conditionId: conditionIdFromBytes(bytesOf(32, 1)),
  tokens: [tokenIdFromBytes(bytesOf(32, 10)), tokenIdFromBytes(bytesOf(32, 11))],
  negRisk: true,
};
let redis: RedisClient;
let store: BooksStore;

beforeAll(() => {
  redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
  store = openBooksStore(redis, keys);
});

beforeEach(async () => {
  const left = await redis.keys('books-test:*');
  if (left.length > 0) await redis.del(...left);
});

afterAll(() => redis?.quit());

/** The book of market 1 after so many records. */
function bookAfter(seed: number, count: number): MarketBook {
  const books = new Map([1, 2, 3].map((market) => [market, new MarketBook(market)]));
  for (const record of new TinyExchange(seed).records(count)) foldBooks(books, record);
  return books.get(1) ?? new MarketBook(1);
}

describe('books in Redis', () => {
  test('only ever move forward, whatever order writers come in', async () => {
    const next = seeded(7);
    let newest = -1;
    for (let count = 0; count < 60; count += 1) {
      const book = bookAfter(3, 1 + next(150));
      expect(await store.write(book, facts)).toBe(book.version > newest);
      newest = Math.max(newest, book.version);
      for (const token of facts.tokens)
        expect(await redis.hget(keys.book(token), 'version')).toBe(String(newest));
    }
  });

  test('come back as they were written, both tokens at once', async () => {
    const book = bookAfter(5, 200);
    await store.write(book, facts);
    const stored = await store.load(1, facts);
    expect(typeof stored === 'string' ? stored : renderBook(stored, facts)).toEqual(
      renderBook(book, facts),
    );
  });

  test('leave what rests on the market beside the marks', async () => {
    const book = bookAfter(5, 200);
    await store.write(book, facts);
    const cost = ({ price, sizeMicro }: Level) => (price * sizeMicro) / 10_000;
    const mirrored = ({ price, sizeMicro }: Level) => ((10_000 - price) * sizeMicro) / 10_000;
    const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);
    const expected =
      sum(book.bids.ascending().map(cost)) + sum(book.asks.ascending().map(mirrored));
    expect(await redis.hget(keys.bookMarks, 'market:1')).toBe(String(expected));
    expect(expected).toBeGreaterThan(0);
  });

  test('are lost, not new, when only they are gone', async () => {
    expect(await store.load(1, facts)).toBe('none');
    await store.write(bookAfter(5, 20), facts);
    await redis.del(keys.book(facts.tokens[1]));
    expect(await store.load(1, facts)).toBe('lost');
  });

  test('have a mark that moves only from where it was left', async () => {
    expect(await store.moveMark(4, 0, 10)).toBe(true);
    expect(await store.moveMark(4, 0, 12)).toBe(false);
    expect(await store.moveMark(4, 10, 12)).toBe(true);
    await redis.del(keys.bookMarks);
    expect(await store.moveMark(4, 12, 13)).toBe(false);
    expect(await store.mark(4)).toBe(0);
  });
});
