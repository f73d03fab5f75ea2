import { createHash } from 'node:crypto';
import { defineScript, type RedisClient } from '@pm/kit/redis';
import { bookFields, type RedisKeys } from '@pm/schemas';
import type { MarketBook } from '../core/books/book.ts';
import { type BookHash, type MarketFacts, renderBook } from '../core/books/render.ts';
import { restoreBook } from '../core/books/restore.ts';

/** `lost`: the market was written once and its books are gone, so Redis has forgotten something. */
export type StoredBook = MarketBook | 'none' | 'lost';

/** Books in Redis and how far each partition has got with them. */
export interface BooksStore {
  load(market: number, facts: MarketFacts): Promise<StoredBook>;
  /**
   * Writes both tokens' books unless what is there is as new or newer, and what rests on the market beside the marks: a
   * missing book is then a loss, not a new market. True when it was written.
   */
  write(book: MarketBook, facts: MarketFacts): Promise<boolean>;
  /** Next offset of a partition; 0 when there is none. */
  mark(partition: number): Promise<number>;
  /** Moves the mark; false when it is not where it was left, because of another owner or a lost Redis. */
  moveMark(partition: number, from: number, to: number): Promise<boolean>;
  /** Lets the partition be read from its start. */
  forgetMark(partition: number): Promise<void>;
}

/** KEYS token 0, token 1, marks. ARGV market field, liquidity, version, cells of token 0, cells of token 1. */
const writeLua = `
local stored = redis.call('HGET', KEYS[1], 'version')
if stored and tonumber(stored) >= tonumber(ARGV[3]) then return 0 end
local names = {${bookFields.map((name) => `'${name}'`).join(',')}}
for token = 1, 2 do
  local cells = {}
  for i, name in ipairs(names) do
    cells[2 * i - 1] = name
    cells[2 * i] = ARGV[3 + (token - 1) * #names + i]
  end
  redis.call('HSET', KEYS[token], unpack(cells))
end
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
return 1
`;

/** KEYS marks. ARGV partition, from, to. */
const moveLua = `
if (redis.call('HGET', KEYS[1], ARGV[1]) or '0') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
`;

export function openBooksStore(redis: RedisClient, keys: RedisKeys): BooksStore {
  const write = defineScript<number>(redis, 'booksWrite', writeLua, 3);
  const move = defineScript<number>(redis, 'booksMoveMark', moveLua, 1);
  return {
    async load(market, { tokens }) {
      const [token0, token1] = await Promise.all(
        tokens.map((token) => readHash(redis, keys.book(token))),
      );
      if (token0 && token1) return restoreBook(market, token0, token1);
      return (await redis.hexists(keys.bookMarks, keys.bookMarkOf(market))) === 1 ? 'lost' : 'none';
    },
    async write(book, facts) {
      const cells = renderBook(book, facts, sha1).flatMap((hash) =>
        bookFields.map((name) => hash[name]),
      );
      const tokens = facts.tokens.map((token) => keys.book(token));
      const args = [keys.bookMarkOf(book.market), book.liquidityMicro, book.version, ...cells];
      return (await write.run([...tokens, keys.bookMarks], args)) === 1;
    },
    async mark(partition) {
      return Number((await redis.hget(keys.bookMarks, String(partition))) ?? '0');
    },
    async moveMark(partition, from, to) {
      return (await move.run([keys.bookMarks], [partition, from, to])) === 1;
    },
    async forgetMark(partition) {
      await redis.hdel(keys.bookMarks, String(partition));
    },
  };
}

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

async function readHash(redis: RedisClient, key: string): Promise<BookHash | null> {
  const cells = await redis.hmget(key, ...bookFields);
  if (cells.some((cell) => cell === null)) return null;
  const entries = bookFields.map((name, index) => [name, cells[index] ?? ''] as const);
  return Object.fromEntries(entries) as BookHash;
}
