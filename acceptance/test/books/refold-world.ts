import { createHash } from 'node:crypto';
import { noQuote, type Quote, quoteFields, quoteOf } from '@pm/domain/books/quote';
import { Catalog } from '@pm/domain/markets/catalog';
import type { Listing } from '@pm/domain/markets/market';
import { Fault } from '@pm/kit/fault';
import type { IncomingRecord } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import type { Execution } from '@pm/schemas/log/executions';
import { redisKeys } from '@pm/schemas/redis/keys';
import { fakeLog, sealed } from '../../../domain/test/executions/fake-log.ts';
import { engineUrl } from '../../../kit/test/engines.ts';
import { seeded } from '../../../kit/test/seeded.ts';
import { MarketBook } from '../../../projectors/src/books/book.ts';
import { booksView } from '../../../projectors/src/books/books-view.io.ts';
import { foldBooks } from '../../../projectors/src/books/fold.ts';
import { RedisBooks } from '../../../projectors/src/books/redis-books.io.ts';
import { type MarketFacts, renderBook } from '../../../projectors/src/books/render.ts';
import { decodeBooks, encodeBooks } from '../../../projectors/src/checkpoints/book-lines.ts';
import type { BooksCheckpoint } from '../../../projectors/src/checkpoints/read-checkpoints.io.ts';
import type { PartitionProjection } from '../../../projectors/src/log/view-definition.io.ts';
import { projectorMetrics } from '../../../projectors/src/metrics.ts';
import { TinyExchange } from '../../../projectors/test/log.ts';
import { emptyBook } from '../../../query-api/src/books/book-bytes.ts';
import { StoredBooks } from '../../../query-api/src/books/stored-books.io.ts';
import { marketEntry, token } from '../../../query-api/test/in-memory.ts';

/** The projector of books and query-api with one Redis that loses data. */
const name = `refold_${process.pid}`;
const keys = redisKeys(name);
const partition = 0;
const markets = [1, 2, 3];
const metrics = projectorMetrics(openMetrics('test'));
const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

const catalog = new Catalog();
for (const market of markets) catalog.apply(marketEntry(market, { partition }));
const listings = markets.flatMap((market) =>
  ([0, 1] as const).map((outcome) => catalog.listing(token(market, outcome)) as Listing),
);
const factsOf = (market: number): MarketFacts => listings[2 * (market - 1)]?.market as MarketFacts;
const listed = markets.map((market) => ({ market, facts: factsOf(market) }));

let redis: RedisClient;
/** Call before the first world. */
export function connect(): void {
  redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
}

export async function disconnect(): Promise<void> {
  await forgetAll();
  await redis.quit();
}

/** Deletes all keys of this test at once, like FLUSHALL. */
export async function forgetAll(): Promise<void> {
  const lua = "for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', key) end";
  await redis.eval(lua, 0, `${name}:*`);
}

/** Book of a token after a record. */
interface Shown {
  readonly text: string;
  readonly quote: Quote;
}

/** By token the books before the first record and after each one. */
function shownBy(exchange: TinyExchange, count: number) {
  const executions = exchange.records(count);
  const books = new Map(markets.map((market) => [market, new MarketBook(market)]));
  const shown = new Map(
    listings.map((one) => [one.token, [{ text: String(emptyBook(one)), quote: noQuote }]]),
  );
  for (const execution of executions) {
    foldBooks(books, execution);
    for (const [market, book] of books) {
      const hashes = renderBook(book, factsOf(market), sha1);
      for (const outcome of [0, 1] as const) {
        const ofToken = shown.get(token(market, outcome)) ?? [];
        const hash = hashes[outcome];
        const quote = quoteOf(quoteFields.map((field) => hash[field]));
        const before = ofToken.at(-1) as Shown;
        ofToken.push(book.version < 0 ? before : { text: hash.json, quote });
      }
    }
  }
  return { executions, records: sealed(executions), shown };
}

/** A growing log, its projectors and query-api. */
export class World {
  readonly next: (below: number) => number;
  readonly #all: readonly IncomingRecord[];
  readonly #executions: readonly Execution[];
  /** Lines and offset of the newest checkpoint. */
  #checkpoint: { readonly lines: Buffer; readonly offset: number } | null = null;
  /** Records on the log so far. */
  readonly log: IncomingRecord[] = [];
  readonly #shown: ReadonlyMap<string, readonly Shown[]>;
  /** By token the least number of records that a response must include. */
  readonly #floors = new Map<string, number>();
  readonly #stored = new StoredBooks(redis, keys);
  /** After so many more writes of a book Redis is emptied. */
  flushAfterWrites = Number.POSITIVE_INFINITY;
  owner: Owner | null = null;
  /** Projections of killed processes that may come back. */
  readonly #dead: Owner[] = [];
  served = 0;
  refused = 0;

  constructor(seed: number, count: number) {
    this.next = seeded(seed);
    const { executions, records, shown } = shownBy(
      new TinyExchange(seed, Math.floor(count / 4)),
      count,
    );
    this.#all = records;
    this.#executions = executions;
    this.#shown = shown;
  }

  get isAllWritten(): boolean {
    return this.log.length === this.#all.length;
  }

  grow(count: number): void {
    this.log.push(...this.#all.slice(this.log.length, this.log.length + count));
  }

  async assign(): Promise<Owner> {
    const view = booksView({
      ...fakeLog(this.log),
      redisBooks: new WatchedBooks(this),
      catalog: {
        find: factsOf,
        facts: async (market) => factsOf(market),
        inPartition: () => listed,
      },
      checkpoints: { books: async () => this.#storedBooks() },
      groupId: 'g',
      metrics,
    });
    const projection = await view.assign(partition, {
      commit: async () => {},
      committed: async () => null,
      fail: () => {},
      stored: () => {},
    });
    this.owner = { projection, at: projection.from };
    return this.owner;
  }

  /** Stores the books at the end of the log as they are there. */
  takeCheckpoint(): void {
    const books = new Map(markets.map((market) => [market, new MarketBook(market)]));
    for (const execution of this.#executions.slice(0, this.log.length)) foldBooks(books, execution);
    const listedBooks = new Map([...books].filter(([, { version }]) => version >= 0));
    const lines = Buffer.concat([...encodeBooks(listedBooks)]);
    this.#checkpoint = { lines, offset: this.log.length };
  }

  #storedBooks(): BooksCheckpoint | null {
    if (this.#checkpoint === null) return null;
    const { lines, offset } = this.#checkpoint;
    const place = { partition, offset, nextInOffset: offset, chain: null };
    return { books: decodeBooks(lines), place };
  }

  /** After each write of a book: Redis may lose everything, and all reads are checked. */
  async afterWrite(): Promise<void> {
    this.flushAfterWrites -= 1;
    if (this.flushAfterWrites === 0) await this.flush();
    await this.look();
  }

  /** One batch; a fault that passes ends the projection. */
  async project(owner: Owner): Promise<boolean> {
    const records = this.log.slice(owner.at, owner.at + 1 + this.next(8));
    const batch = { topic: 't', partition, records, highWatermark: this.log.length };
    if (records.length === 0) return true;
    try {
      await owner.projection.project(batch);
      owner.at += records.length;
      return true;
    } catch (error) {
      if (!(error instanceof Fault) || error.reaction !== 'release') throw error;
      return false;
    }
  }

  /** Stored offsets never go back, whether they are served or not. */
  async flush(): Promise<void> {
    const mark = Number((await redis.hget(keys.bookMarks, String(partition))) ?? 0);
    for (const { token: id } of listings) this.#raise(id, mark);
    await forgetAll();
  }

  #raise(id: string, floor: number): void {
    this.#floors.set(id, Math.max(floor, this.#floors.get(id) ?? 0));
  }

  async removeBook(market: number, outcome: 0 | 1): Promise<void> {
    await redis.del(keys.book(token(market, outcome)));
  }

  async removeMark(): Promise<void> {
    await redis.hdel(keys.bookMarks, String(partition));
  }

  /** Projects to the end of the log. */
  async catchUp(from?: Owner): Promise<Owner> {
    let owner = from ?? (await this.assign());
    while (owner.at < this.log.length)
      if (!(await this.project(owner))) owner = await this.assign();
    return owner;
  }

  /** Reads all books and judges the responses. */
  async look(): Promise<void> {
    for (const listing of listings) {
      const text = await unlessRefused(async () => {
        const [stored = null] = await this.#stored.books([listing]);
        return String(stored ?? emptyBook(listing));
      });
      const quote = await unlessRefused(async () =>
        JSON.stringify((await this.#stored.quotes([listing])).get(listing.token)),
      );
      this.#judge(listing.token, text, (one) => one.text);
      this.#judge(listing.token, quote, (one) => JSON.stringify(one.quote));
    }
  }

  #judge(id: string, shown: string | null, of: (one: Shown) => string): void {
    if (shown === null) {
      this.refused += 1;
      return;
    }
    this.served += 1;
    const floor = this.#floors.get(id) ?? 0;
    const truth = this.#shown.get(id)?.slice(0, this.log.length + 1) ?? [];
    const at = truth.findIndex((one, index) => index >= floor && of(one) === shown);
    if (at < 0) throw new Error(`served as the book of ${id} after record ${floor - 1}: ${shown}`);
    this.#raise(id, at);
  }

  /** One random happening. */
  async happen(): Promise<void> {
    const { next } = this;
    const losses = [
      () => this.flush(),
      async () => {
        this.flushAfterWrites = 1 + next(6);
      },
      () => this.removeBook(1 + next(3), next(2) as 0 | 1),
      () => this.removeMark(),
      async () => this.takeCheckpoint(),
      async () => {
        if (this.owner !== null) this.#dead.push(this.owner);
        this.owner = null;
      },
      async () => {
        const [zombie] = this.#dead;
        if (zombie !== undefined && !(await this.project(zombie))) this.#dead.shift();
      },
    ];
    const happening = losses[next(40)];
    if (happening !== undefined) await happening();
    else if (next(3) === 0) this.grow(1 + next(6));
    else if (!(await this.project(this.owner ?? (await this.assign())))) this.owner = null;
  }

  /** All books are served as at the end of the log. */
  async expectWhole(): Promise<void> {
    for (const { token: id } of listings) this.#raise(id, this.log.length);
    this.refused = 0;
    await this.look();
    expect(this.refused).toBe(0);
  }
}

/** The books in Redis, with a check after every write. */
class WatchedBooks extends RedisBooks {
  readonly #world: World;

  constructor(world: World) {
    super(redis, keys);
    this.#world = world;
  }

  override async write(...args: Parameters<RedisBooks['write']>): Promise<boolean> {
    const written = await super.write(...args);
    await this.#world.afterWrite();
    return written;
  }
}

export interface Owner {
  readonly projection: PartitionProjection;
  /** Next record to deliver. */
  at: number;
}

async function unlessRefused(read: () => Promise<string>): Promise<string | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Fault && error.code === 'books_not_ready') return null;
    throw error;
  }
}
