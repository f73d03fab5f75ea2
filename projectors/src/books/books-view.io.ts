import {
  boundsOf,
  type ExecutionLog,
  ExecutionReader,
} from '@pm/domain/executions/execution-reader.io';
import type { ReaderTraces, TracedReader } from '@pm/domain/traces/traced-reader.io';
import { Fault } from '@pm/kit/fault';
import type { RecordBatch } from '@pm/kit/kafka';
import type { Execution } from '@pm/schemas/log/executions';
import type { BooksCheckpoint } from '../checkpoints/read-checkpoints.io.ts';
import type { Catalog } from '../log/catalog.io.ts';
import {
  LagCommits,
  type PartitionProjection,
  type ViewDefinition,
  type ViewGroup,
} from '../log/view-definition.io.ts';
import type { ProjectorMetrics } from '../metrics.ts';
import { MarketBook } from './book.ts';
import { beginsIn, foldBooks, marketsOf } from './fold.ts';
import type { BooksClaim, RedisBooks } from './redis-books.io.ts';
import type { MarketFacts } from './render.ts';

export interface BooksViewOptions extends ExecutionLog, TracedReader {
  readonly redisBooks: Pick<
    RedisBooks,
    'claim' | 'isValid' | 'load' | 'wasWritten' | 'lost' | 'write' | 'move' | 'forget'
  >;
  readonly catalog: Pick<Catalog, 'find' | 'facts' | 'inPartition'>;
  /** The newest books of a partition that can be used; without it lost books are folded from the start of the log. */
  readonly checkpoints?: { books(partition: number): Promise<BooksCheckpoint | null> };
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
      let claim = await redisBooks.claim(partition);
      // Read after the claim: books written before it come from a log that ends no later.
      const { low, high } = await boundsOf(options, partition);
      if (claim.fold === null && claim.from < low) {
        await redisBooks.forget(claim);
        claim = await redisBooks.claim(partition);
      }
      const until = claim.fold === null ? 0 : high;
      const checkpoint = claim.fold === null ? null : await checkpointFor(options, partition, low);
      const from = checkpoint?.place.offset ?? claim.from;
      const reader = await ExecutionReader.open(options, partition, from);
      const books = new BooksProjection(options, { reader, claim, from, until, group });
      await books.begin(checkpoint?.books ?? new Map());
      return books;
    },
  };
}

/** Where a fold of lost books begins; null for the start of the log, which must be there then. */
async function checkpointFor(
  { topic, checkpoints }: BooksViewOptions,
  partition: number,
  low: number,
): Promise<BooksCheckpoint | null> {
  const found = (await checkpoints?.books(partition)) ?? null;
  if (found === null && low > 0)
    throw new Fault('books_history_removed', 'retry', { facts: { topic, partition, low } });
  return found;
}

/** Where a projection of books begins. */
interface BooksStart {
  readonly reader: ExecutionReader;
  readonly claim: BooksClaim;
  /** First offset to read: that of the claim or, of a fold, that of the checkpoint it begins with. */
  readonly from: number;
  /** End offset that a fold must reach before anything is written; 0 where nothing is folded. */
  readonly until: number;
  readonly group: ViewGroup;
}

/**
 * The books of one partition. Stored books are restored market by market when they are first needed. Where there are
 * none, the log is folded from a checkpoint or from its start to the end that it had at the start before anything is
 * written: until then every book would be one of the past, and a market listed late would have none. A book whose
 * market the catalog does not show is kept in memory, and written when it does; the others go on.
 */
class BooksProjection implements PartitionProjection {
  readonly from: number;
  readonly #options: BooksViewOptions;
  readonly #reader: ExecutionReader;
  readonly #until: number;
  /** All books are in memory: whatever is not is new. */
  readonly #hasAll: boolean;
  readonly #lag: LagCommits;
  readonly #traced: ReaderTraces | null;
  readonly #books = new Map<number, MarketBook>();
  readonly #unwritten = new Set<MarketBook>();
  #claim: BooksClaim;
  #checkedMs = Number.NEGATIVE_INFINITY;

  constructor(options: BooksViewOptions, { reader, claim, from, until, group }: BooksStart) {
    this.#options = options;
    this.#reader = reader;
    this.#claim = claim;
    this.#until = until;
    this.from = from;
    this.#hasAll = from === 0 || claim.fold !== null;
    this.#lag = new LagCommits(group, claim.partition);
    this.#traced = options.tracesOf?.(claim.partition) ?? null;
  }

  get lastTimeMs(): number {
    return this.#reader.lastTimeMs;
  }

  /** Takes the books of a checkpoint. Without records after it the fold ends before the first one comes. */
  async begin(books: ReadonlyMap<number, MarketBook>): Promise<void> {
    for (const [market, book] of books) {
      this.#books.set(market, book);
      this.#unwritten.add(book);
    }
    if (this.#claim.fold !== null && this.from >= this.#until) await this.#write(this.from);
  }

  async project({ records }: RecordBatch): Promise<number> {
    await this.#checkStored();
    for (const { execution, offset } of await this.#reader.take(records)) {
      if (execution === null) continue;
      this.#traced?.take(offset, execution);
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
      if (this.#books.has(market)) continue;
      const book = this.#claim.fold === null ? await this.#stored(market) : null;
      if (book === null && !this.#hasAll && !beginsIn(execution, market))
        throw await this.#lost(market);
      this.#books.set(market, book ?? new MarketBook(market));
    }
  }

  /** The book as it was written; null when it never was, or when all of it is in the log that is read. */
  async #stored(market: number): Promise<MarketBook | null> {
    const { redisBooks } = this.#options;
    const facts = await this.#factsOf(market);
    const stored = facts === null ? 'none' : await redisBooks.load(market, facts);
    if (stored === 'lost' && !this.#hasAll) throw await this.#lost(market);
    // A Redis that was emptied knows no market either: then the claim is gone as well.
    if (stored === 'none' && !(await redisBooks.isValid(this.#claim))) throw this.#overtaken();
    return typeof stored === 'string' ? null : stored;
  }

  /** A book that was written had its facts, so a catalog without them is read behind the log. */
  async #factsOf(market: number): Promise<MarketFacts | null> {
    const { redisBooks, catalog } = this.#options;
    const facts = catalog.find(market);
    return facts === null && (await redisBooks.wasWritten(market))
      ? await catalog.facts(market)
      : facts;
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
      else if (!this.#hasAll) throw await this.#lost(market);
    }
  }

  /** Writes the books and moves the mark. */
  async #write(to: number): Promise<void> {
    const { redisBooks, metrics, catalog } = this.#options;
    const books = [...this.#unwritten].flatMap((book) => {
      const facts = catalog.find(book.market);
      return facts === null ? [] : [{ book, facts }];
    });
    for (let from = 0; from < books.length; from += writesAtOnce) {
      const some = books.slice(from, from + writesAtOnce);
      const writing = some.map(({ book, facts }) => redisBooks.write(book, facts, this.#claim));
      if ((await Promise.all(writing)).includes(false)) throw this.#overtaken();
    }
    const claim = await redisBooks.move(this.#claim, { to, clockMs: this.lastTimeMs });
    if (claim === null) throw this.#overtaken();
    this.#claim = claim;
    for (const { book } of books) this.#unwritten.delete(book);
    metrics.books.add(books.length);
    this.#traced?.stored(to);
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
