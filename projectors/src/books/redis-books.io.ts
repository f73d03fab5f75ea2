import { createHash, randomUUID } from 'node:crypto';
import { type DefinedScript, defineScript, type RedisClient, resultsOf } from '@pm/kit/redis';
import { bookFields, type RedisKeys } from '@pm/schemas/redis/keys';
import type { MarketBook } from './book.ts';
import { claimLua, forgetLua, moveLua, writeLua } from './books-lua.ts';
import { type BookHash, type ListedMarket, type MarketFacts, renderBook } from './render.ts';
import { restoreBook } from './restore.ts';

/** Markets checked in one pipeline. */
const marketsPerPipeline = 300;

/** `none`: the market was never written. `lost`: it was written and its books are gone, so Redis has lost data. */
export type StoredBook = MarketBook | 'none' | 'lost';

/**
 * The right of an owner to write a partition. It ends when another owner moves the mark and when Redis loses it, so an
 * owner that is out of date writes nothing.
 */
export interface BooksClaim {
  readonly partition: number;
  /** Next offset to apply. */
  readonly from: number;
  /**
   * Name of a fold from the start of the log, whose books are written when it has reached the end; null: they are
   * written up to `from`.
   */
  readonly fold: string | null;
}

/** How far books are folded. */
export interface FoldedBooks {
  /** Offset of the first record that is not. */
  readonly to: number;
  /** Clock of the partition at the last one that is, Unix milliseconds; 0 before the first. */
  readonly clockMs: number;
}

/** Books in Redis, and the mark up to which each partition has written them. Rejects with the faults of `openRedis`. */
export class RedisBooks {
  readonly #redis: RedisClient;
  readonly #keys: RedisKeys;
  readonly #claim: DefinedScript<string | null>;
  readonly #write: DefinedScript<number>;
  readonly #move: DefinedScript<number>;
  readonly #forget: DefinedScript<number>;

  constructor(redis: RedisClient, keys: RedisKeys) {
    this.#redis = redis;
    this.#keys = keys;
    this.#claim = defineScript(redis, 'booksClaim', claimLua, 1);
    this.#write = defineScript(redis, 'booksWrite', writeLua, 3);
    this.#move = defineScript(redis, 'booksMove', moveLua, 1);
    this.#forget = defineScript(redis, 'booksForget', forgetLua, 1);
  }

  /** The claim of a new owner: from the mark on, or a fold from the start where there is no mark. */
  async claim(partition: number): Promise<BooksClaim> {
    const { bookMarks } = this.#keys;
    const fold = randomUUID();
    const field = this.#keys.bookFoldOf(partition);
    const mark = await this.#claim.run([bookMarks], [partition, field, fold]);
    return mark === null
      ? { partition, from: 0, fold }
      : { partition, from: Number(mark), fold: null };
  }

  async isValid(claim: BooksClaim): Promise<boolean> {
    const [field, value] = this.#cellOf(claim);
    return (await this.#redis.hget(this.#keys.bookMarks, field)) === value;
  }

  async load(market: number, { tokens }: MarketFacts): Promise<StoredBook> {
    const [token0, token1] = await Promise.all(tokens.map((token) => this.#readHash(token)));
    if (token0 && token1) return restoreBook(market, token0, token1);
    return (await this.wasWritten(market)) ? 'lost' : 'none';
  }

  /** Whether the books of a market were ever written. */
  async wasWritten(market: number): Promise<boolean> {
    const { bookMarks, bookMarkOf } = this.#keys;
    return (await this.#redis.hexists(bookMarks, bookMarkOf(market))) === 1;
  }

  /** Numbers of the given markets whose books were written and are missing now, in part or in whole. */
  async lost(markets: readonly ListedMarket[]): Promise<readonly number[]> {
    const lost: number[] = [];
    for (let from = 0; from < markets.length; from += marketsPerPipeline)
      lost.push(...(await this.#lostOf(markets.slice(from, from + marketsPerPipeline))));
    return lost;
  }

  /**
   * Writes the books of both tokens unless the stored ones are newer, or of the same version and complete; and the
   * liquidity of the market beside the marks, which makes a book that is missing later a loss and not a new market.
   * False, and nothing written, when the claim is not valid.
   */
  async write(book: MarketBook, facts: MarketFacts, claim: BooksClaim): Promise<boolean> {
    const { bookMarks, bookMarkOf } = this.#keys;
    const hashes = renderBook(book, facts, sha1);
    const cells = hashes.flatMap((hash) => bookFields.map((name) => hash[name]));
    const tokens = facts.tokens.map((token) => this.#keys.book(token));
    const figures = [bookMarkOf(book.market), book.liquidityMicro, book.version];
    const args = [...this.#cellOf(claim), ...figures, ...cells];
    return (await this.#write.run([bookMarks, ...tokens], args)) === 1;
  }

  /** Moves the mark; returns the claim for the next records, null when this one is not valid. */
  async move(claim: BooksClaim, { to, clockMs }: FoldedBooks): Promise<BooksClaim | null> {
    const { partition } = claim;
    const { bookMarks, bookClockOf } = this.#keys;
    const args = [...this.#cellOf(claim), partition, to, bookClockOf(partition), clockMs];
    const moved = await this.#move.run([bookMarks], args);
    return moved === 1 ? { partition, from: to, fold: null } : null;
  }

  /** Removes the mark if the claim is valid, so that the partition is folded from its start. */
  async forget(claim: BooksClaim): Promise<void> {
    await this.#forget.run([this.#keys.bookMarks], [...this.#cellOf(claim)]);
  }

  /** The field of a claim in the marks, and its value. */
  #cellOf({ partition, from, fold }: BooksClaim): readonly [string, string] {
    return fold === null
      ? [String(partition), String(from)]
      : [this.#keys.bookFoldOf(partition), fold];
  }

  async #lostOf(markets: readonly ListedMarket[]): Promise<readonly number[]> {
    const { book, bookMarks, bookMarkOf } = this.#keys;
    const pipeline = this.#redis.pipeline();
    for (const { facts } of markets) for (const token of facts.tokens) pipeline.hlen(book(token));
    pipeline.hmget(bookMarks, ...markets.map(({ market }) => bookMarkOf(market)));
    const results = resultsOf<unknown>(await pipeline.exec());
    const marks = results.at(-1) as readonly (string | null)[];
    const isWhole = (at: number): boolean => Number(results[at]) === bookFields.length;
    return markets.flatMap(({ market }, index) =>
      marks[index] === null || (isWhole(2 * index) && isWhole(2 * index + 1)) ? [] : [market],
    );
  }

  async #readHash(token: MarketFacts['tokens'][0]): Promise<BookHash | null> {
    const cells = await this.#redis.hmget(this.#keys.book(token), ...bookFields);
    if (cells.some((cell) => cell === null)) return null;
    const entries = bookFields.map((name, index) => [name, cells[index] ?? ''] as const);
    return Object.fromEntries(entries) as BookHash;
  }
}

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');
