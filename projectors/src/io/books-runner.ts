import { Fault } from '@pm/kit/fault';
import type { RecordBatch } from '@pm/kit/kafka';
import type { Execution } from '@pm/schemas';
import { MarketBook } from '../core/books/book.ts';
import { foldBooks, marketsOf } from '../core/books/fold.ts';
import type { MarketFacts } from '../core/books/render.ts';
import type { ProjectorMetrics } from '../metrics.ts';
import type { BooksStore } from './books-store.ts';
import type { CatalogSource } from './catalog-source.ts';
import { ExecutionSource, type ExecutionSourceParts } from './execution-source.ts';
import { LagCommits } from './lag-commit-sink.ts';
import type { PartitionProjection, ViewDefinition, ViewGroup } from './view-runner.ts';

export interface BooksViewParts extends ExecutionSourceParts {
  readonly store: BooksStore;
  readonly catalog: Pick<CatalogSource, 'facts'>;
  readonly groupId: string;
  readonly metrics: Pick<ProjectorMetrics, 'books'>;
}

/** Books written at the same time. */
const writesAtOnce = 32;

/** Executions into the cached books. */
export function booksView(parts: BooksViewParts): ViewDefinition {
  const { groupId, topic, store } = parts;
  return {
    view: 'books',
    groupId,
    topic,
    async assign(partition, group) {
      const from = await store.mark(partition);
      const source = await ExecutionSource.open(parts, partition, from);
      return new BooksProjection(parts, source, { partition, from, group });
    },
  };
}

interface Known {
  readonly book: MarketBook;
  readonly facts: MarketFacts;
}

/** The books of one partition; each is restored from its stored answer when it is first needed. */
class BooksProjection implements PartitionProjection {
  readonly from: number;
  readonly #parts: BooksViewParts;
  readonly #source: ExecutionSource;
  readonly #partition: number;
  readonly #lag: LagCommits;
  readonly #known = new Map<number, Known>();
  readonly #books = new Map<number, MarketBook>();
  #mark: number;

  constructor(
    parts: BooksViewParts,
    source: ExecutionSource,
    at: { partition: number; from: number; group: ViewGroup },
  ) {
    this.#parts = parts;
    this.#source = source;
    this.#partition = at.partition;
    this.from = at.from;
    this.#mark = at.from;
    this.#lag = new LagCommits(at.group, at.partition);
  }

  get lastTimeMs(): number {
    return this.#source.lastTimeMs;
  }

  async project({ records }: RecordBatch): Promise<number> {
    const touched = new Set<MarketBook>();
    for (const { execution } of await this.#source.take(records)) {
      if (execution === null) continue;
      await this.#loadFor(execution);
      for (const book of foldBooks(this.#books, execution)) touched.add(book);
    }
    await this.#write([...touched]);
    await this.#moveMark((records.at(-1)?.offset ?? this.#mark - 1) + 1);
    await this.#lag.at(this.#mark);
    return this.#mark;
  }

  async close(): Promise<void> {}

  async #loadFor(execution: Execution): Promise<void> {
    for (const market of marketsOf(execution)) {
      if (this.#known.has(market)) continue;
      const facts = await this.#parts.catalog.facts(market);
      const stored = await this.#parts.store.load(market, facts);
      // From the start of the log on, a market that is new to us is new.
      if (stored === 'lost' && this.from > 0) throw await this.#lost({ market });
      const book = typeof stored === 'string' ? new MarketBook(market) : stored;
      this.#known.set(market, { book, facts });
      this.#books.set(market, book);
    }
  }

  async #write(books: readonly MarketBook[]): Promise<void> {
    const { store, metrics } = this.#parts;
    for (let from = 0; from < books.length; from += writesAtOnce) {
      const some = books.slice(from, from + writesAtOnce);
      await Promise.all(
        some.map(async (book) => {
          const known = this.#known.get(book.market);
          if (known !== undefined) await store.write(book, known.facts);
        }),
      );
    }
    metrics.books.add(books.length);
  }

  /** The mark is always where we left it, unless Redis was emptied or another owner is at work: then we start over. */
  async #moveMark(to: number): Promise<void> {
    const moved = await this.#parts.store.moveMark(this.#partition, this.#mark, to);
    if (!moved) {
      const facts = { partition: this.#partition, mark: this.#mark };
      throw new Fault('books_mark_moved', 'release', { facts });
    }
    this.#mark = to;
  }

  /** Part of what was written is gone: the partition is folded again from its start; books that are there skip it. */
  async #lost(facts: { market: number }): Promise<Fault> {
    await this.#parts.store.forgetMark(this.#partition);
    return new Fault('book_lost', 'release', { facts: { partition: this.#partition, ...facts } });
  }
}
