import { Fault } from '@pm/kit/fault';
import { conditionIdFromBytes, tokenIdFromBytes } from '@pm/schemas/ids';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import { fakeLog, sealed } from '../../../domain/test/executions/fake-log.ts';
import { bytesOf } from '../../../kit/test/seeded.ts';
import type { MarketBook } from '../../src/books/book.ts';
import { booksView } from '../../src/books/books-view.io.ts';
import type { BooksClaim } from '../../src/books/redis-books.io.ts';
import type { MarketFacts } from '../../src/books/render.ts';
import { executionOf, fillOf, marketSet } from '../log.ts';

const partition = 0;

const factsOf = (market: number): MarketFacts => ({
  conditionId: conditionIdFromBytes(bytesOf(32, market)),
  tokens: [tokenIdFromBytes(bytesOf(32, market + 10)), tokenIdFromBytes(bytesOf(32, market + 20))],
  negRisk: false,
});

const levelOf = (market: number): ExecutionEvent[] => [
  {
    kind: 'LevelChanged',
    command: 0,
    market,
    side: 'BUY',
    price: 4_000,
    sizeMicro: 5_000_000,
  } as unknown as ExecutionEvent,
  { kind: 'TopChanged', command: 0, market, bid: 4_000, ask: 0 } as unknown as ExecutionEvent,
];

/** Books in memory: by market the version that was written, and where the mark is. */
class MemoryBooks {
  readonly versions = new Map<number, number>();
  mark: number;
  forgotten = 0;

  constructor(mark: number) {
    this.mark = mark;
  }

  claim = async (): Promise<BooksClaim> => ({ partition, from: this.mark, fold: null });
  isValid = async () => true;
  load = async () => 'none' as const;
  wasWritten = async (market: number) => this.versions.has(market);
  lost = async () => [];
  write = async (book: MarketBook) => {
    this.versions.set(book.market, book.version);
    return true;
  };
  move = async (claim: BooksClaim, { to }: { readonly to: number }): Promise<BooksClaim> => {
    this.mark = to;
    return { ...claim, from: to };
  };
  forget = async () => {
    this.forgotten += 1;
  };
}

/** A projection of a log of these records, one batch each, with a catalog that shows the markets in `shown`. */
async function projecting(events: readonly (readonly ExecutionEvent[])[], from = 0) {
  const records = sealed(events.map((some, inOffset) => executionOf(inOffset, some)));
  const books = new MemoryBooks(from);
  const shown = new Set<number>();
  const find = (market: number) => (shown.has(market) ? factsOf(market) : null);
  const view = booksView({
    ...fakeLog(records),
    checksChain: false,
    redisBooks: books,
    catalog: {
      find,
      facts: async (market) => {
        throw new Fault('market_facts_missing', 'retry', { facts: { market } });
      },
      inPartition: () => [],
    },
    groupId: 'g',
    metrics: { books: { add: () => {} } } as never,
  });
  const projection = await view.assign(partition, {
    commit: async () => {},
    committed: async () => null,
    fail: () => {},
    stored: () => {},
  });
  const batch = { topic: 'executions', partition, highWatermark: records.length };
  const project = (offset: number) =>
    projection.project({ ...batch, records: records.slice(offset, offset + 1) });
  return { books, shown, project };
}

test('a market without facts stops no other book, and is written when the catalog shows it', async () => {
  const events = [[marketSet(1)], [marketSet(2)], levelOf(2), levelOf(1), []];
  const { books, shown, project } = await projecting(events);
  shown.add(1);
  for (const offset of [0, 1, 2, 3]) expect(await project(offset)).toBe(offset + 1);
  expect([...books.versions]).toEqual([[1, 3]]);
  shown.add(2);
  await project(4);
  expect(books.versions.get(2)).toBe(2);
});

test('a book whose beginning is not in the records that are read is folded again from the start', async () => {
  const events = [[marketSet(1)], [], levelOf(1)];
  const { books, shown, project } = await projecting(events, 2);
  shown.add(1);
  await expect(project(2)).rejects.toMatchObject({ code: 'book_lost', reaction: 'release' });
  expect(books.forgotten).toBe(1);
});

test('a market that is set again begins a book, with what is written of it after that', async () => {
  const events = [[marketSet(1)], [], [marketSet(1)], [fillOf({})]];
  const { books, shown, project } = await projecting(events, 2);
  shown.add(1);
  await project(2);
  await project(3);
  expect(books.versions.get(1)).toBe(3);
});
