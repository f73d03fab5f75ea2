import type { BookSnapshot } from '@pm/schemas/http/reading';

/** A market as lists of events show it. */
export interface ListedMarket {
  readonly id: string;
  readonly conditionId: string;
  readonly clobTokenIds: string;
}

export interface ListedEvent {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly tags: readonly { readonly id: string; readonly slug: string }[];
  readonly markets: readonly ListedMarket[];
}

/** A market whose book stays quoted on both sides while the tour trades, and the order that the tour sends there. */
export interface ChosenMarket {
  readonly event: ListedEvent;
  readonly id: string;
  readonly conditionId: string;
  readonly tokens: readonly [string, string];
  /** Price grid, USDC. */
  readonly tick: string;
  /** Limit and shares of a BUY that fills at once. */
  readonly price: string;
  readonly size: string;
}

/** Value of a BUY, USDC; the exchange accepts 1 and more. */
const boughtUsdc = 5;
const sharesMin = 5;
/** Ticks above the best ask: a quote may move by as much between the read and the order. */
const limitTicks = 2;
/** Shares on each side of a book, in sizes of the order: the tour takes two of them, and others trade as well. */
const sizesPerSide = 3;

/** Tokens whose books decide: the first one of each market. */
export function tokensOf(events: readonly ListedEvent[]): readonly string[] {
  return events.flatMap(({ markets }) => markets.map((market) => pairOf(market)[0]));
}

/**
 * The market with most levels on its thinner side; of several the one that was traded, then the first. Null when none
 * has depth.
 */
export function chooseMarket(
  events: readonly ListedEvent[],
  books: readonly BookSnapshot[],
): ChosenMarket | null {
  const bookOf = new Map(books.map((book) => [book.asset_id, book]));
  let best: { readonly market: ChosenMarket; readonly rank: number } | null = null;
  for (const event of events)
    for (const listed of event.markets) {
      const tokens = pairOf(listed);
      const book = bookOf.get(tokens[0]);
      const order = book === undefined ? null : orderOf(book);
      if (book === undefined || order === null) continue;
      const { id, conditionId } = listed;
      const rank = rankOf(book);
      if (best === null || rank > best.rank)
        best = { market: { event, id, conditionId, tokens, ...order }, rank };
    }
  return best?.market ?? null;
}

/** Null when a side of the book is empty or too thin. */
function orderOf({ bids, asks, tick_size: tick }: BookSnapshot) {
  const ask = asks.at(-1);
  if (ask === undefined) return null;
  const size = Math.max(sharesMin, Math.ceil(boughtUsdc / Number(ask.price)));
  const isDeep = [bids, asks].every((side) => sharesOf(side) >= sizesPerSide * size);
  if (!isDeep) return null;
  const decimals = tick.split('.')[1]?.length ?? 0;
  const limit = Math.min(Number(ask.price) + limitTicks * Number(tick), 1 - Number(tick));
  return { tick, price: limit.toFixed(decimals), size: String(size) };
}

function rankOf({ bids, asks, last_trade_price: last }: BookSnapshot): number {
  return 2 * Math.min(bids.length, asks.length) + (last === '' ? 0 : 1);
}

function sharesOf(side: BookSnapshot['bids']): number {
  return side.reduce((sum, { size }) => sum + Number(size), 0);
}

function pairOf({ clobTokenIds }: ListedMarket): readonly [string, string] {
  return JSON.parse(clobTokenIds) as [string, string];
}
