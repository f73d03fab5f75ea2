/** A level of a book as the wire has it. */
export interface Level {
  readonly price: string;
  readonly size: string;
}

/** Both sides of a book of a token; the best level of each side first. */
export interface Book {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

export const emptyBook: Book = { bids: [], asks: [] };

/** The form of GET /book and of snapshots of the channel `book`: the best level is the last. */
export function bookOfWire(wire: {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}): Book {
  return { bids: sorted(wire.bids, -1), asks: sorted(wire.asks, 1) };
}

/** A changed level: its new total; "0" removes it. BUY is a bid. */
export interface LevelChange extends Level {
  readonly side: 'BUY' | 'SELL';
}

/** The book after changes; levels keep their order. */
export function changedBook(book: Book, changes: readonly LevelChange[]): Book {
  const side = (levels: readonly Level[], name: 'BUY' | 'SELL', direction: number) => {
    const own = changes.filter((change) => change.side === name);
    if (own.length === 0) return levels;
    const byPrice = new Map(levels.map((level) => [Number(level.price), level]));
    for (const { price, size } of own) {
      if (Number(size) === 0) byPrice.delete(Number(price));
      else byPrice.set(Number(price), { price, size });
    }
    return sorted([...byPrice.values()], direction);
  };
  return { bids: side(book.bids, 'BUY', -1), asks: side(book.asks, 'SELL', 1) };
}

/** A line of the ladder. */
export interface LadderRow extends Level {
  /** Shares from the best level through this one. */
  readonly total: number;
  /** Depth of this row and of its total, as shares of the deepest total of both sides, 0 to 1. */
  readonly depth: number;
  /** Own shares in it. */
  readonly own: number;
}

/** Own resting orders in terms of the token of the book. */
export interface OwnResting {
  readonly side: 'BUY' | 'SELL';
  readonly price: string;
  readonly size: number;
}

export interface Ladder {
  readonly bids: readonly LadderRow[];
  readonly asks: readonly LadderRow[];
  readonly spread: number | null;
  readonly mid: number | null;
}

/** The ladder of a book: at most `rows` levels of each side, own orders marked. */
export function ladderOf(book: Book, own: readonly OwnResting[], rows: number): Ladder {
  const bids = totalled(book.bids.slice(0, rows), own, 'BUY');
  const asks = totalled(book.asks.slice(0, rows), own, 'SELL');
  const deepest = Math.max(bids.at(-1)?.total ?? 0, asks.at(-1)?.total ?? 0);
  const withDepth = (row: Omit<LadderRow, 'depth'>): LadderRow => ({
    ...row,
    depth: deepest === 0 ? 0 : row.total / deepest,
  });
  const [bid, ask] = [book.bids[0], book.asks[0]];
  const both = bid !== undefined && ask !== undefined;
  return {
    bids: bids.map(withDepth),
    asks: asks.map(withDepth),
    spread: both ? rounded(Number(ask.price) - Number(bid.price)) : null,
    mid: both ? rounded((Number(ask.price) + Number(bid.price)) / 2) : null,
  };
}

function totalled(
  levels: readonly Level[],
  own: readonly OwnResting[],
  side: 'BUY' | 'SELL',
): Omit<LadderRow, 'depth'>[] {
  let total = 0;
  return levels.map((level) => {
    total += Number(level.size);
    const mine = own
      .filter((one) => one.side === side && Number(one.price) === Number(level.price))
      .reduce((sum, one) => sum + one.size, 0);
    return { ...level, total, own: mine };
  });
}

function sorted(levels: readonly Level[], direction: number): readonly Level[] {
  return [...levels].sort((one, other) => direction * (Number(one.price) - Number(other.price)));
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
