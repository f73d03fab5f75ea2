import {
  boundsOf,
  type ExecutionLog,
  ExecutionReader,
} from '@pm/domain/executions/execution-reader.io';
import { Fault } from '@pm/kit/fault';
import type { RecordBatch } from '@pm/kit/kafka';
import type { Execution } from '@pm/schemas';
import type { Catalog } from '../log/catalog.io.ts';
import {
  LagCommits,
  type PartitionProjection,
  type ViewDefinition,
  type ViewGroup,
} from '../log/view-definition.io.ts';
import type { ProjectorMetrics } from '../metrics.ts';
import { MarketBook } from './book.ts';
import { foldBooks, marketsOf } from './fold.ts';
import type { BooksClaim, RedisBooks } from './redis-books.io.ts';
import type { MarketFacts } from './render.ts';

export interface BooksViewOptions extends ExecutionLog {
  readonly redisBooks: RedisBooks;
  readonly catalog: Pick<Catalog, 'facts' | 'inPartition'>;
  readonly groupId: string;
  readonly metrics: Pick<ProjectorMetrics, 'books'>;
}

/** Books written at the same time. */
const writesAtOnce = 32;
/** How often a partition checks that the books of quiet markets still exist, milliseconds. */
const checkEveryMs = 10_000;

/** Executions into the books in Redis. */
export function booksView(options: BooksViewOptions): ViewDefinition {
  const { groupId, topic, redisBooks } = options;
  return {
    view: 'books',
    groupId,
    topic,
    async assign(partition, group) {
      const claim = await redisBooks.claim(partition);
      // Read after the claim: books written before it come from a log that ends no later.
      const until = claim.fold === null ? 0 : (await boundsOf(options, partition)).high;
      const reader = await ExecutionReader.open(options, partition, claim.from);
      const books = new BooksProjection(options, { reader, claim, until, group });
      await books.begin();
      return books;
    },
  };
}

/** Where a projection of books begins. */
interface BooksStart {
  readonly reader: ExecutionReader;
  readonly claim: BooksClaim;
  /** Of a fold from the start of the log the end to reach before anything is written; 0 otherwise. */
  readonly until: number;
  readonly group: ViewGroup;
}

interface LoadedBook {
  readonly book: MarketBook;
  readonly facts: MarketFacts;
}

/**
 * The books of one partition. Stored books are restored market by market when they are first needed. Where there are
 * none, the log is folded to the end that it had at the start before anything is written: until then every book would
 * be one of the past, and a market listed late would have none.
 */
class BooksProjection implements PartitionProjection {
  readonly from: number;
  readonly #options: BooksViewOptions;
  readonly #reader: ExecutionReader;
  readonly #until: number;
  readonly #lag: LagCommits;
  readonly #loaded = new Map<number, LoadedBook>();
  readonly #books = new Map<number, MarketBook>();
  readonly #unwritten = new Set<MarketBook>();
  #claim: BooksClaim;
  #checkedMs = Number.NEGATIVE_INFINITY;

  constructor(options: BooksViewOptions, { reader, claim, until, group }: BooksStart) {
    this.#options = options;
    this.#reader = reader;
    this.#claim = claim;
    this.#until = until;
    this.from = claim.from;
    this.#lag = new LagCommits(group, claim.partition);
  }

  get lastTimeMs(): number {
    return this.#reader.lastTimeMs;
  }

  /** In a log without records the fold ends before the first one comes. */
  async begin(): Promise<void> {
    if (this.#claim.fold !== null && this.#until === 0) await this.#write(0);
  }

  async project({ records }: RecordBatch): Promise<number> {
    await this.#checkStored();
    for (const { execution } of await this.#reader.take(records)) {
      if (execution === null) continue;
      await this.#loadFor(execution);
      for (const book of foldBooks(this.#books, execution)) this.#unwritten.add(book);
    }
    const to = (records.at(-1)?.offset ?? this.#claim.from - 1) + 1;
    if (to >= this.#until) await this.#write(to);
    else if (!(await this.#options.redisBooks.isValid(this.#claim))) throw this.#overtaken();
    await this.#lag.at(to);
    return this.#claim.from;
  }

  async close(): Promise<void> {}

  async #loadFor(execution: Execution): Promise<void> {
    for (const market of marketsOf(execution)) {
      if (this.#loaded.has(market)) continue;
      const facts = await this.#options.catalog.facts(market);
      const book = await this.#bookOf(market, facts);
      this.#loaded.set(market, { book, facts });
      this.#books.set(market, book);
    }
  }

  async #bookOf(market: number, facts: MarketFacts): Promise<MarketBook> {
    if (this.#claim.fold !== null) return new MarketBook(market);
    const stored = await this.#options.redisBooks.load(market, facts);
    // Read from the start of the log, a market without a book in memory is new.
    if (stored === 'lost' && this.from > 0) throw await this.#lost(market);
    return typeof stored === 'string' ? new MarketBook(market) : stored;
  }

  /** Finds lost books of markets without new records: those in memory are written again, others are folded again. */
  async #checkStored(): Promise<void> {
    const nowMs = performance.now();
    if (this.#claim.fold !== null || nowMs - this.#checkedMs < checkEveryMs) return;
    this.#checkedMs = nowMs;
    const { redisBooks, catalog } = this.#options;
    for (const market of await redisBooks.lost(catalog.inPartition(this.#claim.partition))) {
      const book = this.#books.get(market);
      if (book !== undefined) this.#unwritten.add(book);
      // An owner that has read the log from its start has every book in memory.
      else if (this.from > 0) throw await this.#lost(market);
    }
  }

  /** Writes the books and moves the mark. */
  async #write(to: number): Promise<void> {
    const { redisBooks, metrics } = this.#options;
    const books = [...this.#unwritten];
    for (let from = 0; from < books.length; from += writesAtOnce) {
      const some = books.slice(from, from + writesAtOnce);
      const written = await Promise.all(some.map((book) => this.#writeBook(book)));
      if (written.includes(false)) throw this.#overtaken();
    }
    const claim = await redisBooks.move(this.#claim, { to, clockMs: this.lastTimeMs });
    if (claim === null) throw this.#overtaken();
    this.#claim = claim;
    this.#unwritten.clear();
    metrics.books.add(books.length);
  }

  async #writeBook(book: MarketBook): Promise<boolean> {
    const facts = this.#loaded.get(book.market)?.facts;
    if (facts === undefined) return false;
    return await this.#options.redisBooks.write(book, facts, this.#claim);
  }

  /** Redis was emptied or another owner is at work: the marks say where to continue. */
  #overtaken(): Fault {
    const { partition, from } = this.#claim;
    return new Fault('books_mark_moved', 'release', { facts: { partition, mark: from } });
  }

  /**
   * Part of the written books is gone: the partition is folded again from its start. The remaining books stay unchanged
   * until that fold has reached the end.
   */
  async #lost(market: number): Promise<Fault> {
    await this.#options.redisBooks.forget(this.#claim);
    const { partition } = this.#claim;
    return new Fault('book_lost', 'release', { facts: { partition, market } });
  }
}
