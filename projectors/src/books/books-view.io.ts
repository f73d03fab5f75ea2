import {
  boundsOf,
  ExecutionSource,
  type ExecutionSourceParts,
} from '@pm/domain/executions/execution-reader.io';
import { Fault } from '@pm/kit/fault';
import type { RecordBatch } from '@pm/kit/kafka';
import type { Execution } from '@pm/schemas';
import type { CatalogSource } from '../log/catalog.io.ts';
import { LagCommits } from '../log/lag-commits.io.ts';
import type { PartitionProjection, ViewDefinition, ViewGroup } from '../log/running-view.io.ts';
import type { ProjectorMetrics } from '../metrics.ts';
import { MarketBook } from './book.ts';
import { foldBooks, marketsOf } from './fold.ts';
import type { BooksClaim, BooksStore } from './redis-books.io.ts';
import type { MarketFacts } from './render.ts';

export interface BooksViewParts extends ExecutionSourceParts {
  readonly store: BooksStore;
  readonly catalog: Pick<CatalogSource, 'facts' | 'inPartition'>;
  readonly groupId: string;
  readonly metrics: Pick<ProjectorMetrics, 'books'>;
}

/** Books written at the same time. */
const writesAtOnce = 32;
/** How often a partition looks whether the books of quiet markets are still there, milliseconds. */
const lookEveryMs = 10_000;

/** Executions into the cached books. */
export function booksView(parts: BooksViewParts): ViewDefinition {
  const { groupId, topic, store } = parts;
  return {
    view: 'books',
    groupId,
    topic,
    async assign(partition, group) {
      const claim = await store.claim(partition);
      // Asked behind the claim: whatever was stored before it was read off a log that ends no later.
      const until = claim.fold === null ? 0 : (await boundsOf(parts, partition)).high;
      const source = await ExecutionSource.open(parts, partition, claim.from);
      const books = new BooksProjection(parts, source, { claim, until, group });
      await books.begin();
      return books;
    },
  };
}

interface Known {
  readonly book: MarketBook;
  readonly facts: MarketFacts;
}

/**
 * The books of one partition. What is stored is restored market by market, when it is first needed. Where nothing is, the log is
 * folded to the end that was seen at the start before anything is stored: until then every book would be one of the past, and a
 * market that comes late would have none.
 */
class BooksProjection implements PartitionProjection {
  readonly from: number;
  readonly #parts: BooksViewParts;
  readonly #source: ExecutionSource;
  readonly #until: number;
  readonly #lag: LagCommits;
  readonly #known = new Map<number, Known>();
  readonly #books = new Map<number, MarketBook>();
  readonly #unwritten = new Set<MarketBook>();
  #claim: BooksClaim;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(
    parts: BooksViewParts,
    source: ExecutionSource,
    at: { readonly claim: BooksClaim; readonly until: number; readonly group: ViewGroup },
  ) {
    this.#parts = parts;
    this.#source = source;
    this.#claim = at.claim;
    this.#until = at.until;
    this.from = at.claim.from;
    this.#lag = new LagCommits(at.group, at.claim.partition);
  }

  get lastTimeMs(): number {
    return this.#source.lastTimeMs;
  }

  /** Of a log without records the fold is done before the first one comes. */
  async begin(): Promise<void> {
    if (this.#claim.fold !== null && this.#until === 0) await this.#store(0);
  }

  async project({ records }: RecordBatch): Promise<number> {
    await this.#lookAfterBooks();
    for (const { execution } of await this.#source.take(records)) {
      if (execution === null) continue;
      await this.#loadFor(execution);
      for (const book of foldBooks(this.#books, execution)) this.#unwritten.add(book);
    }
    const to = (records.at(-1)?.offset ?? this.#claim.from - 1) + 1;
    if (to >= this.#until) await this.#store(to);
    else if (!(await this.#parts.store.holds(this.#claim))) throw this.#overtaken();
    await this.#lag.at(to);
    return this.#claim.from;
  }

  async close(): Promise<void> {}

  async #loadFor(execution: Execution): Promise<void> {
    for (const market of marketsOf(execution)) {
      if (this.#known.has(market)) continue;
      const facts = await this.#parts.catalog.facts(market);
      const book = await this.#bookOf(market, facts);
      this.#known.set(market, { book, facts });
      this.#books.set(market, book);
    }
  }

  async #bookOf(market: number, facts: MarketFacts): Promise<MarketBook> {
    if (this.#claim.fold !== null) return new MarketBook(market);
    const stored = await this.#parts.store.load(market, facts);
    // From the start of the log on, a market that is new to us is new.
    if (stored === 'lost' && this.from > 0) throw await this.#lost(market);
    return typeof stored === 'string' ? new MarketBook(market) : stored;
  }

  /** Finds books that are gone though nothing happens on their markets: those at hand are written again, others are folded again. */
  async #lookAfterBooks(): Promise<void> {
    const nowMs = performance.now();
    if (this.#claim.fold !== null || nowMs - this.#lookedMs < lookEveryMs) return;
    this.#lookedMs = nowMs;
    const { store, catalog } = this.#parts;
    for (const market of await store.lost(catalog.inPartition(this.#claim.partition))) {
      const book = this.#books.get(market);
      if (book !== undefined) this.#unwritten.add(book);
      // Who has read the log from its start on has every book there is.
      else if (this.from > 0) throw await this.#lost(market);
    }
  }

  /** Writes the books and moves the mark. */
  async #store(to: number): Promise<void> {
    const { store, metrics } = this.#parts;
    const books = [...this.#unwritten];
    for (let from = 0; from < books.length; from += writesAtOnce) {
      const some = books.slice(from, from + writesAtOnce);
      const written = await Promise.all(some.map((book) => this.#write(book)));
      if (written.includes(false)) throw this.#overtaken();
    }
    const claim = await store.move(this.#claim, { to, clockMs: this.lastTimeMs });
    if (claim === null) throw this.#overtaken();
    this.#claim = claim;
    this.#unwritten.clear();
    metrics.books.add(books.length);
  }

  async #write(book: MarketBook): Promise<boolean> {
    const known = this.#known.get(book.market);
    return known !== undefined && (await this.#parts.store.write(book, known.facts, this.#claim));
  }

  /** Redis was emptied or another owner is at work: what is stored says where to go on. */
  #overtaken(): Fault {
    const { partition, from } = this.#claim;
    return new Fault('books_mark_moved', 'release', { facts: { partition, mark: from } });
  }

  /**
   * Part of what was written is gone: the partition is folded again from its start. Books that are there stay as they are until that
   * has come to the end.
   */
  async #lost(market: number): Promise<Fault> {
    await this.#parts.store.forget(this.#claim);
    const { partition } = this.#claim;
    return new Fault('book_lost', 'release', { facts: { partition, market } });
  }
}
