import { BrokenLog } from '@pm/domain/executions/broken-log';
import type { EventOf, Execution, ExecutionEvent } from '@pm/schemas/log/executions';
import type { MarketBook } from './book.ts';

/** The markets whose books a record changes. */
export function marketsOf(execution: Execution): readonly number[] {
  const markets = new Set<number>();
  for (const event of execution.events) if (changesBook(event)) markets.add(event.market);
  return [...markets];
}

/** Whether the market is set before anything else happens in its book: every book begins so. */
export function beginsIn({ events }: Execution, market: number): boolean {
  const first = events.find((event) => changesBook(event) && event.market === market);
  return first?.kind === 'MarketSet';
}

type BookEvent = Extract<
  ExecutionEvent,
  { kind: 'LevelChanged' | 'TopChanged' | 'Fill' | 'MarketSet' }
>;

function changesBook(event: ExecutionEvent): event is BookEvent {
  const { kind } = event;
  return (
    kind === 'LevelChanged' || kind === 'TopChanged' || kind === 'Fill' || kind === 'MarketSet'
  );
}

/**
 * Folds a record into the books it changes and returns them. A record at or below the version of a book is skipped for
 * that book. Throws `BrokenLog` when the best prices in the record are not those of the folded levels.
 */
export function foldBooks(
  books: ReadonlyMap<number, MarketBook>,
  execution: Execution,
): readonly MarketBook[] {
  const open = new Set<MarketBook>();
  for (const event of execution.events) {
    if (!changesBook(event)) continue;
    const book = books.get(event.market);
    if (book === undefined) throw new BrokenLog('a book is changed before it was loaded');
    if (!open.has(book) && book.version >= execution.inOffset) continue;
    open.add(book);
    book.version = execution.inOffset;
    book.timeMs = execution.timeMs;
    apply(book, event);
  }
  for (const event of execution.events)
    if (event.kind === 'TopChanged') checkTop(event, books, open);
  return [...open];
}

function checkTop(
  { market, bid, ask }: EventOf<'TopChanged'>,
  books: ReadonlyMap<number, MarketBook>,
  open: ReadonlySet<MarketBook>,
): void {
  const book = books.get(market);
  if (book === undefined || !open.has(book)) return;
  if (bid === book.bids.highest && ask === book.asks.lowest) return;
  throw new BrokenLog(`the levels of market ${market} do not have its best prices`);
}

function apply(book: MarketBook, event: BookEvent): void {
  switch (event.kind) {
    case 'LevelChanged':
      (event.side === 'BUY' ? book.bids : book.asks).set(event.price, event.sizeMicro);
      return;
    case 'Fill':
      book.trade(event);
      return;
    case 'MarketSet':
      book.tick = event.tick;
      book.minSizeMicro = event.minSizeMicro;
      return;
    case 'TopChanged':
      return;
  }
}
