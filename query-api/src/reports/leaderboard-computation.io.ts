import type { LeaderboardRow, LeaderboardSearch } from './leaderboard-query.ts';
import { SortedFigures } from './leaderboard-query.ts';
import {
  type Board,
  countLarger,
  type LeaderboardClickHouse,
  readFigures,
  readListed,
  readTop,
  type UnrankedRow,
} from './read-leaderboards.io.ts';

export type { LeaderboardClickHouse };

/**
 * Figures that are kept of a board and of one computation, eight bytes each; boards beyond count where the rows are.
 */
const figuresOfBoardMax = 1_000_000;
const figuresMax = 4_000_000;
/** To read all figures of a board costs about as much as so many counts over its column. */
const countsBeforeReading = 3;
/** Computations that prepare a page that no client reads any more: some minutes. */
const keptWithoutAsking = 20;

/** A requested board and the data read of it. */
interface RequestedBoard {
  readonly board: Board;
  top: Promise<readonly LeaderboardRow[]> | null;
  /** Further computations that prepare the top, unless it is read again. */
  left: number;
  /** It was the newest computation after the top was found to be empty. */
  isEmpty: boolean;
  /** Null until they are read; what is too large stays null. */
  figures: SortedFigures | null;
  /** Times the rank of wallets was requested. */
  lookups: number;
  /** Whether all its figures were or are being read: a board that is too large is not tried again. */
  hasTried: boolean;
}

/**
 * One computation of the leaderboards, and what was read of it: pages of a board are kept from the first one on, some
 * thousand rows; so are all figures of a board once wallets were ranked in it a few times, since counting them each
 * time costs more. There are as many boards as categories, periods and orders.
 */
export class LeaderboardComputation {
  readonly snapshot: number;
  readonly #clickhouse: LeaderboardClickHouse;
  readonly #requested = new Map<string, RequestedBoard>();
  #figures = 0;

  constructor(clickhouse: LeaderboardClickHouse, snapshot: number) {
    this.#clickhouse = clickhouse;
    this.snapshot = snapshot;
  }

  /** Reads the boards that were requested of the computation before, so that no request waits for them. */
  async prepare(before: LeaderboardComputation): Promise<void> {
    for (const { board, lookups, left } of before.#requested.values()) {
      const requested = this.#entry(board);
      // A board that cannot be read now is read when it is requested.
      if (left > 0) await this.#top(requested).catch(() => {});
      requested.left = Math.max(requested.left, left - 1);
      if (lookups >= countsBeforeReading) await this.#readFigures(requested).catch(() => {});
    }
  }

  /** Rows of a page, or of wallets; `null` when nothing at all is found: the computation may have been dropped. */
  async read(search: LeaderboardSearch): Promise<readonly LeaderboardRow[] | null> {
    const { offset, limit } = search;
    const requested = this.#entry(search);
    if (search.wallets !== null) return await this.#ofWallets(requested, search);
    requested.left = keptWithoutAsking;
    const rows = await this.#top(requested);
    return rows.length === 0 && !requested.isEmpty ? null : rows.slice(offset, offset + limit);
  }

  /** Nothing was dropped when this was read, so what was not found is not there. */
  believe(search: LeaderboardSearch): void {
    if (search.wallets === null) this.#entry(search).isEmpty = true;
  }

  #entry({ period, category, orderBy }: Omit<Board, 'snapshot'>): RequestedBoard {
    const name = `${period}:${category}:${orderBy}`;
    const found = this.#requested.get(name);
    if (found !== undefined) return found;
    const board = { snapshot: this.snapshot, period, category, orderBy };
    const made: RequestedBoard = {
      board,
      top: null,
      left: 0,
      isEmpty: false,
      figures: null,
      lookups: 0,
      hasTried: false,
    };
    this.#requested.set(name, made);
    return made;
  }

  #top(requested: RequestedBoard): Promise<readonly LeaderboardRow[]> {
    if (requested.top !== null) return requested.top;
    const rows = readTop(this.#clickhouse, requested.board);
    requested.top = rows;
    rows.catch(() => {
      requested.top = null;
    });
    return rows;
  }

  /** Each wallet is ranked after all that have more. */
  async #ofWallets(
    requested: RequestedBoard,
    search: LeaderboardSearch,
  ): Promise<readonly LeaderboardRow[] | null> {
    const { wallets, offset, limit } = search;
    const listed = await readListed(this.#clickhouse, requested.board, wallets ?? []);
    if (listed.length === 0) return null;
    const found = listed.slice(offset, offset + limit);
    requested.lookups += 1;
    const larger = await this.#larger(requested, found);
    return (
      larger?.map((count, at) => {
        const { wallet = '', volMicro = 0, pnlMicro = 0 } = found[at] ?? {};
        return { rank: 1 + count, wallet, volMicro, pnlMicro };
      }) ?? null
    );
  }

  async #larger(
    requested: RequestedBoard,
    found: readonly UnrankedRow[],
  ): Promise<readonly number[] | null> {
    const { figures, board, lookups } = requested;
    if (figures !== null) return found.map(({ figure }) => figures.countAbove(figure));
    if (lookups >= countsBeforeReading) this.#readFigures(requested).catch(() => {});
    const { wallets, larger } = await countLarger(
      this.#clickhouse,
      board,
      found.map(({ figure }) => figure),
    );
    return wallets === 0 ? null : larger;
  }

  async #readFigures(requested: RequestedBoard): Promise<void> {
    const most = Math.min(figuresOfBoardMax, figuresMax - this.#figures);
    if (requested.hasTried || most === 0) return;
    requested.hasTried = true;
    // Taken before it is known how many there are: others may be read meanwhile.
    this.#figures += most;
    let kept = 0;
    try {
      const bytes = await readFigures(this.#clickhouse, requested.board, most);
      if (bytes === null) {
        // There may be room for it once others are read.
        requested.hasTried = most === figuresOfBoardMax;
        return;
      }
      requested.figures = new SortedFigures(bytes);
      kept = requested.figures.count;
    } catch (error) {
      requested.hasTried = false;
      throw error;
    } finally {
      this.#figures += kept - most;
    }
  }
}
