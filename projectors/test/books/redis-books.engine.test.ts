import { createHash } from 'node:crypto';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { conditionIdFromBytes, tokenIdFromBytes } from '@pm/schemas/ids';
import { redisKeys } from '@pm/schemas/redis/keys';
import { engineUrl } from '../../../kit/test/engines.ts';
import { bytesOf, seeded } from '../../../kit/test/seeded.ts';
import { MarketBook } from '../../src/books/book.ts';
import { foldBooks } from '../../src/books/fold.ts';
import type { Level } from '../../src/books/levels.ts';
import { type BooksClaim, RedisBooks } from '../../src/books/redis-books.io.ts';
import {
  type BookHash,
  type MarketFacts,
  renderBook as renderWith,
} from '../../src/books/render.ts';
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
let books: RedisBooks;
let claim: BooksClaim;

beforeAll(() => {
  redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
  books = new RedisBooks(redis, keys);
});

beforeEach(async () => {
  const left = await redis.keys('books-test:*');
  if (left.length > 0) await redis.del(...left);
  claim = await books.claim(4);
});

afterAll(() => redis?.quit());

/** The book of market 1 after `count` records. */
function bookAfter(seed: number, count: number): MarketBook {
  const folded = new Map([1, 2, 3].map((market) => [market, new MarketBook(market)]));
  for (const record of new TinyExchange(seed).records(count)) foldBooks(folded, record);
  return folded.get(1) ?? new MarketBook(1);
}

describe('books in Redis', () => {
  test('only ever move forward, whatever order writers come in', async () => {
    const next = seeded(7);
    let newest = -1;
    for (let count = 0; count < 60; count += 1) {
      const book = bookAfter(3, 1 + next(150));
      expect(await books.write(book, facts, claim)).toBe(true);
      newest = Math.max(newest, book.version);
      for (const token of facts.tokens)
        expect(await redis.hget(keys.book(token), 'version')).toBe(String(newest));
    }
  });

  test('come back as they were written, both tokens at once', async () => {
    const book = bookAfter(5, 200);
    await books.write(book, facts, claim);
    const stored = await books.load(1, facts);
    expect(typeof stored === 'string' ? stored : renderBook(stored, facts)).toEqual(
      renderBook(book, facts),
    );
  });

  test('leave the liquidity of the market beside the marks', async () => {
    const book = bookAfter(5, 200);
    await books.write(book, facts, claim);
    const cost = ({ price, sizeMicro }: Level) => (price * sizeMicro) / 10_000;
    const mirrored = ({ price, sizeMicro }: Level) => ((10_000 - price) * sizeMicro) / 10_000;
    const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);
    const expected =
      sum(book.bids.ascending().map(cost)) + sum(book.asks.ascending().map(mirrored));
    expect(await redis.hget(keys.bookMarks, 'market:1')).toBe(String(expected));
    expect(expected).toBeGreaterThan(0);
  });

  test('are lost, not new, when only they are missing, and are written again unchanged', async () => {
    const listed = [{ market: 1, facts }];
    expect(await books.load(1, facts)).toBe('none');
    expect(await books.lost(listed)).toEqual([]);
    const book = bookAfter(5, 20);
    await books.write(book, facts, claim);
    expect(await books.lost(listed)).toEqual([]);
    const losses = facts.tokens.flatMap((token) => [
      () => redis.del(keys.book(token)),
      () => redis.hdel(keys.book(token), 'last'),
    ]);
    for (const lose of losses) {
      await lose();
      expect(await books.load(1, facts)).toBe('lost');
      expect(await books.lost(listed)).toEqual([1]);
      await books.write(book, facts, claim);
      expect(await books.lost(listed)).toEqual([]);
    }
  });

  test('are folded from the start until their writer has moved the mark', async () => {
    expect(claim).toMatchObject({ partition: 4, from: 0 });
    expect(claim.fold).not.toBeNull();
    expect(await redis.hget(keys.bookMarks, '4')).toBeNull();
    expect(await books.move(claim, { to: 10, clockMs: 1000 })).toEqual({
      partition: 4,
      from: 10,
      fold: null,
    });
    expect(await books.claim(4)).toEqual({ partition: 4, from: 10, fold: null });
    expect(await redis.hgetall(keys.bookMarks)).toEqual({ 4: '10', 'clock:4': '1000' });
  });

  test('are not written with a claim that another owner or a loss has ended', async () => {
    const book = bookAfter(5, 20);
    const stored = { partition: 4, from: 10, fold: null };
    const isRefused = async (held: BooksClaim) => {
      expect(await books.isValid(held)).toBe(false);
      expect(await books.write(book, facts, held)).toBe(false);
      expect(await books.move(held, { to: 12, clockMs: 1200 })).toBeNull();
      await books.forget(held);
      expect(await redis.exists(keys.book(facts.tokens[0]))).toBe(0);
    };
    const later = await books.claim(4);
    await isRefused(claim);
    expect(await books.isValid(later)).toBe(true);
    await books.move(later, { to: 10, clockMs: 1000 });
    await isRefused(later);
    await books.move(stored, { to: 12, clockMs: 1200 });
    await isRefused(stored);
    expect(await redis.hget(keys.bookMarks, '4')).toBe('12');
    await redis.del(keys.bookMarks);
    await isRefused({ ...stored, from: 12 });
    expect((await books.claim(4)).fold).not.toBeNull();
  });

  test('are folded again once they are forgotten', async () => {
    const stored = await books.move(claim, { to: 10, clockMs: 1000 });
    if (stored === null) throw new Error('the claim is not valid');
    await books.forget(stored);
    expect(await books.claim(4)).toMatchObject({ from: 0, fold: expect.any(String) });
  });
});
