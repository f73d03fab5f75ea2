import type { LeaderboardRow, LeaderboardSearch } from './leaderboard.ts';
import { SortedFigures } from './leaderboard.ts';
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

/** Figures that are kept of a board and of one computation, eight bytes each; boards beyond count where the rows are. */
const figuresOfBoardMax = 1_000_000;
const figuresMax = 4_000_000;
/** To read all figures of a board costs about as much as so many counts over its column. */
const countsBeforeReading = 3;
/** Computations that take a page along that nobody asked for any more: some minutes. */
const keptWithoutAsking = 20;

/** A board that was asked for, and what is at hand of it. */
interface Asked {
  readonly board: Board;
  top: Promise<readonly LeaderboardRow[]> | null;
  /** Computations to come that take the top along, unless it is asked for again. */
  left: number;
  /** It was the newest computation after the top was found to be empty. */
  isEmpty: boolean;
  /** Null until they are read; what is too large stays null. */
  figures: SortedFigures | null;
  /** Times the rank of wallets was asked for. */
  lookups: number;
  /** Whether all its figures were or are being read: a board that is too large is not tried again. */
  hasTried: boolean;
}

/**
 * One computation of the leaderboards, and what was read of it: pages of a board are kept from the first one on, some thousand rows; so
 * are all figures of a board once wallets were ranked in it a few times, since counting them each time costs more. There are as many
 * boards as categories, periods and orders.
 */
export class LeaderboardComputation {
  readonly snapshot: number;
  readonly #clickhouse: LeaderboardClickHouse;
  readonly #asked = new Map<string, Asked>();
  #figures = 0;

  constructor(clickhouse: LeaderboardClickHouse, snapshot: number) {
    this.#clickhouse = clickhouse;
    this.snapshot = snapshot;
  }

  /** Reads what was asked of the computation before, so that nobody waits for it. */
  async prepare(before: LeaderboardComputation): Promise<void> {
    for (const { board, lookups, left } of before.#asked.values()) {
      const asked = this.#entry(board);
      // What cannot be read now is read when it is asked for.
      if (left > 0) await this.#top(asked).catch(() => {});
      asked.left = Math.max(asked.left, left - 1);
      if (lookups >= countsBeforeReading) await this.#readFigures(asked).catch(() => {});
    }
  }

  /** Rows of a page, or of wallets; `null` when nothing at all is found: the computation may have been dropped. */
  async read(search: LeaderboardSearch): Promise<readonly LeaderboardRow[] | null> {
    const { offset, limit } = search;
    const asked = this.#entry(search);
    if (search.wallets !== null) return await this.#ofWallets(asked, search);
    asked.left = keptWithoutAsking;
    const rows = await this.#top(asked);
    return rows.length === 0 && !asked.isEmpty ? null : rows.slice(offset, offset + limit);
  }

  /** Nothing was dropped when this was read, so what was not found is not there. */
  believe(search: LeaderboardSearch): void {
    if (search.wallets === null) this.#entry(search).isEmpty = true;
  }

  #entry({ period, category, orderBy }: Omit<Board, 'snapshot'>): Asked {
    const name = `${period}:${category}:${orderBy}`;
    const found = this.#asked.get(name);
    if (found !== undefined) return found;
    const board = { snapshot: this.snapshot, period, category, orderBy };
    const made: Asked = {
      board,
      top: null,
      left: 0,
      isEmpty: false,
      figures: null,
      lookups: 0,
      hasTried: false,
    };
    this.#asked.set(name, made);
    return made;
  }

  #top(asked: Asked): Promise<readonly LeaderboardRow[]> {
    if (asked.top !== null) return asked.top;
    const rows = readTop(this.#clickhouse, asked.board);
    asked.top = rows;
    rows.catch(() => {
      asked.top = null;
    });
    return rows;
  }

  /** Each wallet is ranked behind all that have more. */
  async #ofWallets(
    asked: Asked,
    search: LeaderboardSearch,
  ): Promise<readonly LeaderboardRow[] | null> {
    const { wallets, offset, limit } = search;
    const listed = await readListed(this.#clickhouse, asked.board, wallets ?? []);
    if (listed.length === 0) return null;
    const found = listed.slice(offset, offset + limit);
    asked.lookups += 1;
    const larger = await this.#larger(asked, found);
    return (
      larger?.map((count, at) => {
        const { wallet = '', volMicro = 0, pnlMicro = 0 } = found[at] ?? {};
        return { rank: 1 + count, wallet, volMicro, pnlMicro };
      }) ?? null
    );
  }

  async #larger(asked: Asked, found: readonly UnrankedRow[]): Promise<readonly number[] | null> {
    const { figures, board, lookups } = asked;
    if (figures !== null) return found.map(({ figure }) => figures.countAbove(figure));
    if (lookups >= countsBeforeReading) this.#readFigures(asked).catch(() => {});
    const { wallets, larger } = await countLarger(
      this.#clickhouse,
      board,
      found.map(({ figure }) => figure),
    );
    return wallets === 0 ? null : larger;
  }

  async #readFigures(asked: Asked): Promise<void> {
    const most = Math.min(figuresOfBoardMax, figuresMax - this.#figures);
    if (asked.hasTried || most === 0) return;
    asked.hasTried = true;
    // Taken before it is known how many there are: others may be read meanwhile.
    this.#figures += most;
    let kept = 0;
    try {
      const bytes = await readFigures(this.#clickhouse, asked.board, most);
      if (bytes === null) {
        // There may be room for it once others are read.
        asked.hasTried = most === figuresOfBoardMax;
        return;
      }
      asked.figures = new SortedFigures(bytes);
      kept = asked.figures.count;
    } catch (error) {
      asked.hasTried = false;
      throw error;
    } finally {
      this.#figures += kept - most;
    }
  }
}
