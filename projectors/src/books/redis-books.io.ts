import { createHash, randomUUID } from 'node:crypto';
import { defineScript, type RedisClient, resultsOf } from '@pm/kit/redis';
import { bookFields, type RedisKeys } from '@pm/schemas';
import type { ListedMarket } from '../log/catalog.io.ts';
import type { MarketBook } from './book.ts';
import { type BookHash, type MarketFacts, renderBook } from './render.ts';
import { restoreBook } from './restore.ts';

/** Markets looked at in one pipeline. */
const lookedAtOnce = 300;

/** `lost`: the market was written once and its books are gone, so Redis has forgotten something. */
export type StoredBook = MarketBook | 'none' | 'lost';

/**
 * What an owner writes a partition under. It ends when another owner moves on and when Redis forgets it, so whoever is behind the
 * times writes nothing.
 */
export interface BooksClaim {
  readonly partition: number;
  /** Next offset to apply. */
  readonly from: number;
  /** Names a fold from the start of the log, whose books are stored when it has come to the end; null: they are stored up to `from`. */
  readonly fold: string | null;
}

/** How far books are folded. */
export interface FoldedBooks {
  /** Offset of the first record that is not. */
  readonly to: number;
  /** Clock of the partition at the last one that is, Unix milliseconds; 0 before the first. */
  readonly clockMs: number;
}

/** Books in Redis and how far each partition has got with them. */
export interface BooksStore {
  /** The claim of a new owner: what is stored up to the mark, or a fold where there is no mark. */
  claim(partition: number): Promise<BooksClaim>;
  holds(claim: BooksClaim): Promise<boolean>;
  load(market: number, facts: MarketFacts): Promise<StoredBook>;
  /** Those markets that were written once and whose books are gone, in part or in whole. */
  lost(markets: readonly ListedMarket[]): Promise<readonly number[]>;
  /**
   * Writes both tokens' books unless what is there is newer, or as new and whole, and what rests on the market beside the marks: a
   * missing book is then a loss, not a new market. False, and nothing is written, when the claim does not hold.
   */
  write(book: MarketBook, facts: MarketFacts, claim: BooksClaim): Promise<boolean>;
  /** Moves the mark to what was folded; what to claim further on. Null when the claim does not hold. */
  move(claim: BooksClaim, folded: FoldedBooks): Promise<BooksClaim | null>;
  /** Lets the partition be folded from its start, if the claim holds. */
  forget(claim: BooksClaim): Promise<void>;
}

/** KEYS marks. ARGV partition, field of the fold, name of the fold. */
const claimLua = `
local mark = redis.call('HGET', KEYS[1], ARGV[1])
if not mark then redis.call('HSET', KEYS[1], ARGV[2], ARGV[3]) end
return mark
`;

/** Of all scripts below: KEYS[1] marks. ARGV[1], ARGV[2] the field of the claim and what stands there as long as it holds. */
const unlessHeld = "if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end";

/** KEYS marks, token 0, token 1. ARGV claim, market field, liquidity, version, cells of token 0, cells of token 1. */
const writeLua = `
${unlessHeld}
local names = {${bookFields.map((name) => `'${name}'`).join(',')}}
local version = tonumber(ARGV[5])
local isThere = true
for token = 2, 3 do
  local stored = tonumber(redis.call('HGET', KEYS[token], 'version') or -1)
  if stored > version then return 1 end
  if stored < version or redis.call('HLEN', KEYS[token]) < #names then isThere = false end
end
if isThere then return 1 end
for token = 1, 2 do
  local cells = {}
  for i, name in ipairs(names) do
    cells[2 * i - 1] = name
    cells[2 * i] = ARGV[5 + (token - 1) * #names + i]
  end
  redis.call('HSET', KEYS[token + 1], unpack(cells))
end
redis.call('HSET', KEYS[1], ARGV[3], ARGV[4])
return 1
`;

/** KEYS marks. ARGV claim, partition, to, field of the clock, clock. */
const moveLua = `
${unlessHeld}
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[3], ARGV[4], ARGV[5], ARGV[6])
return 1
`;

/** KEYS marks. ARGV claim. */
const forgetLua = `
${unlessHeld}
return redis.call('HDEL', KEYS[1], ARGV[1])
`;

export function openBooksStore(redis: RedisClient, keys: RedisKeys): BooksStore {
  const marks = keys.bookMarks;
  const claim = defineScript<string | null>(redis, 'booksClaim', claimLua, 1);
  const write = defineScript<number>(redis, 'booksWrite', writeLua, 3);
  const move = defineScript<number>(redis, 'booksMove', moveLua, 1);
  const forget = defineScript<number>(redis, 'booksForget', forgetLua, 1);
  /** The field of a claim among the marks, and what stands there. */
  const cellOf = ({ partition, from, fold }: BooksClaim): readonly [string, string] =>
    fold === null ? [String(partition), String(from)] : [keys.bookFoldOf(partition), fold];
  return {
    async claim(partition) {
      const fold = randomUUID();
      const mark = await claim.run([marks], [partition, keys.bookFoldOf(partition), fold]);
      return mark === null
        ? { partition, from: 0, fold }
        : { partition, from: Number(mark), fold: null };
    },
    async holds(held) {
      const [field, value] = cellOf(held);
      return (await redis.hget(marks, field)) === value;
    },
    async load(market, { tokens }) {
      const [token0, token1] = await Promise.all(
        tokens.map((token) => readHash(redis, keys.book(token))),
      );
      if (token0 && token1) return restoreBook(market, token0, token1);
      return (await redis.hexists(marks, keys.bookMarkOf(market))) === 1 ? 'lost' : 'none';
    },
    async lost(markets) {
      const lost: number[] = [];
      for (let from = 0; from < markets.length; from += lookedAtOnce) {
        const some = markets.slice(from, from + lookedAtOnce);
        lost.push(...(await lostOf(redis, keys, some)));
      }
      return lost;
    },
    async write(book, facts, held) {
      const cells = renderBook(book, facts, sha1).flatMap((hash) =>
        bookFields.map((name) => hash[name]),
      );
      const tokens = facts.tokens.map((token) => keys.book(token));
      const figures = [keys.bookMarkOf(book.market), book.liquidityMicro, book.version];
      return (await write.run([marks, ...tokens], [...cellOf(held), ...figures, ...cells])) === 1;
    },
    async move(held, { to, clockMs }) {
      const { partition } = held;
      const clock = [keys.bookClockOf(partition), clockMs];
      const moved = await move.run([marks], [...cellOf(held), partition, to, ...clock]);
      return moved === 1 ? { partition, from: to, fold: null } : null;
    },
    async forget(held) {
      await forget.run([marks], [...cellOf(held)]);
    },
  };
}

async function lostOf(
  redis: RedisClient,
  keys: RedisKeys,
  markets: readonly ListedMarket[],
): Promise<readonly number[]> {
  const pipeline = redis.pipeline();
  for (const { facts } of markets)
    for (const token of facts.tokens) pipeline.hlen(keys.book(token));
  pipeline.hmget(keys.bookMarks, ...markets.map(({ market }) => keys.bookMarkOf(market)));
  const answers = resultsOf<unknown>(await pipeline.exec());
  const marks = answers.at(-1) as readonly (string | null)[];
  const isWhole = (at: number): boolean => Number(answers[at]) === bookFields.length;
  return markets.flatMap(({ market }, index) =>
    marks[index] === null || (isWhole(2 * index) && isWhole(2 * index + 1)) ? [] : [market],
  );
}

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

async function readHash(redis: RedisClient, key: string): Promise<BookHash | null> {
  const cells = await redis.hmget(key, ...bookFields);
  if (cells.some((cell) => cell === null)) return null;
  const entries = bookFields.map((name, index) => [name, cells[index] ?? ''] as const);
  return Object.fromEntries(entries) as BookHash;
}
