import type { Quotes } from '@pm/domain/books/quote';
import { noQuote, type Quote, quoteFields, quoteOf } from '@pm/domain/books/quote';
import type { Listing } from '@pm/domain/markets/market';
import { Fault } from '@pm/kit/fault';
import { type RedisClient, resultsOf } from '@pm/kit/redis';
import type { TokenId } from '@pm/schemas/ids';
import type { RedisKeys } from '@pm/schemas/redis/keys';
import { CoherentCache } from './coherent-cache.io.ts';

/** Books kept; a deep one has about 20 kB. */
const booksMax = 5_000;
/** Quotes kept; about 200 bytes each. */
const quotesMax = 200_000;
/** Commands in one pipeline: one answer must not block the others for long. */
const pipelineMax = 1_000;

/** Stored books out of Redis, kept here as long as the server says that they are current. */
export class StoredBooks {
  readonly #redis: RedisClient;
  readonly #keys: RedisKeys;
  readonly #books = new CoherentCache<Buffer>(booksMax);
  readonly #quotes = new CoherentCache<Quote>(quotesMax);

  constructor(redis: RedisClient, keys: RedisKeys) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** Entries kept, for metrics. */
  get size(): number {
    return this.#books.size + this.#quotes.size;
  }

  /** Whether answers may come from memory. */
  get isCoherent(): boolean {
    return this.#books.isOpen;
  }

  /** Takes an invalidation: keys that changed, or null for all of them. */
  invalidate(keys: readonly string[] | null): void {
    if (keys === null) {
      this.#books.clear();
      this.#quotes.clear();
      return;
    }
    for (const key of keys) {
      const token = key.slice(this.#keys.bookPrefix.length);
      this.#books.invalidate(token);
      this.#quotes.invalidate(token);
    }
  }

  /** Whether invalidations arrive: only then may anything be kept. */
  setCoherent(isCoherent: boolean): void {
    for (const store of [this.#books, this.#quotes]) {
      if (isCoherent) store.open();
      else store.close();
    }
  }

  cached(token: string): Buffer | undefined {
    return this.#books.get(token);
  }

  /** The stored book of each listing; a value, not a promise, when all of them are at hand. */
  books(
    listings: readonly Listing[],
  ): readonly (Buffer | null)[] | Promise<readonly (Buffer | null)[]> {
    return this.#books.atHand(listings) ?? this.#loadBooks(listings);
  }

  async #loadBooks(listings: readonly Listing[]): Promise<readonly (Buffer | null)[]> {
    const tokens = listings.map(({ token }) => token);
    const found = await this.#books.load(tokens, (missing) => this.#fetchBooks(missing));
    await this.#assertEmpty(listings.filter((_, index) => found[index] === null));
    return found;
  }

  async quotes(listings: readonly Listing[]): Promise<Quotes> {
    const found = await this.quotesInOrder(listings);
    return new Map(listings.map(({ token }, index) => [token, found[index] ?? noQuote]));
  }

  /** The quote of each listing; a value, not a promise, when all of them are at hand. */
  quotesInOrder(listings: readonly Listing[]): readonly Quote[] | Promise<readonly Quote[]> {
    return this.#quotes.atHand(listings) ?? this.#loadQuotes(listings);
  }

  async #loadQuotes(listings: readonly Listing[]): Promise<readonly Quote[]> {
    const tokens = listings.map(({ token }) => token);
    const found = await this.#quotes.load(tokens, (missing) => this.#fetchQuotes(missing));
    await this.#assertEmpty(listings.filter((_, index) => found[index] === null));
    return found.map((quote) => quote ?? noQuote);
  }

  async #fetchBooks(tokens: readonly string[]): Promise<readonly (Buffer | null)[]> {
    return await this.#pipelined(tokens, async (chunk) => {
      const pipeline = this.#redis.pipeline();
      for (const token of chunk) pipeline.hgetBuffer(this.#keys.book(token as TokenId), 'json');
      return resultsOf<Buffer | null>(await pipeline.exec());
    });
  }

  async #fetchQuotes(tokens: readonly string[]): Promise<readonly (Quote | null)[]> {
    return await this.#pipelined(tokens, async (chunk) => {
      const pipeline = this.#redis.pipeline();
      for (const token of chunk) {
        pipeline.hmget(this.#keys.book(token as TokenId), ...quoteFields);
      }
      const rows = resultsOf<readonly (string | null)[]>(await pipeline.exec());
      return rows.map((fields) =>
        fields.every((field) => field === null) ? null : quoteOf(fields),
      );
    });
  }

  async #pipelined<V>(
    tokens: readonly string[],
    fetch: (chunk: readonly string[]) => Promise<readonly V[]>,
  ): Promise<readonly V[]> {
    const values: V[] = [];
    for (let from = 0; from < tokens.length; from += pipelineMax) {
      values.push(...(await fetch(tokens.slice(from, from + pipelineMax))));
    }
    return values;
  }

  /**
   * A token without a stored book has an empty one only if the books of its partition are what the log says and none of
   * its market was ever written; otherwise they were lost, and an empty answer would be a lie.
   */
  async #assertEmpty(absent: readonly Listing[]): Promise<void> {
    if (absent.length === 0) return;
    const partitions = [...new Set(absent.map(({ market }) => String(market.partition)))];
    const markets = [...new Set(absent.map(({ market }) => market.market))];
    const written = markets.map((market) => this.#keys.bookMarkOf(market));
    const marks = await this.#redis.hmget(this.#keys.bookMarks, ...partitions, ...written);
    const isEmpty = marks.every((mark, index) =>
      index < partitions.length ? mark !== null : mark === null,
    );
    if (!isEmpty) throw new Fault('books_not_ready', 'retry');
  }
}
