import { mergePage, storedWindow } from '@pm/domain/reading/merge-page';
import type { ActivitySearch } from '@pm/domain/reports/activity';
import type {
  ActivityRow,
  BuilderRow,
  BuilderVolumeRow,
  MakerFeesRow,
  MarketPositionRow,
  SupplyRow,
  TradeRow,
} from '@pm/domain/reports/rows';
import type { TapeSearch } from '@pm/domain/reports/tape-query';
import type { ClickHouse } from '@pm/kit/clickhouse';
import type { Clock } from '@pm/kit/clock';
import type { WalletAddress } from '@pm/schemas/ids';
import type { MarketPositionsSearch } from '../positions/market-positions.ts';
import type { PayoutOf } from '../positions/newest-positions.ts';
import { RecentLog } from '../recent/recent-log.ts';
import type { BuilderSearch } from './builder-trades.ts';
import type { BuilderVolumeSearch } from './builder-volumes.ts';
import { inActivityOrder, newestActivity } from './newest-activity.ts';
import { readActivity } from './read-activity.io.ts';
import { readBuilderTrades, readBuilderVolumes } from './read-builders.io.ts';
import { readMakerFees, readMarketPositions, readSupply, readTraded } from './read-markets.io.ts';
import { TradeTape } from './trade-tape.io.ts';

/** Sums over everything may be this old, milliseconds; one query serves all requests meanwhile. */
const maxAgeMs = 60_000;
/** Different sums remembered at a time. */
const sumsMax = 100;

/** Rows read at `atMs` (Unix milliseconds) and served for a while. */
export interface Remembered<T> {
  readonly atMs: number;
  readonly value: T;
}

type NewestRecords = Pick<RecentLog, 'holdings' | 'newestFills' | 'newestCutover' | 'reaches'>;

/**
 * Public reports but the leaderboards, from the tables and so, but for tape and activity, some seconds old: each by
 * one statement with bound parameters and bounded time and rows. Methods throw the faults of ClickHouse (`retry` when
 * it is away).
 */
export class Reports {
  readonly #clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly #clock: Clock;
  readonly #tape: TradeTape;
  readonly #recent: NewestRecords;
  readonly #payoutOf: PayoutOf;
  readonly #sums = new Map<string, { readonly readMs: number; readonly rows: Promise<unknown> }>();

  /** Without `recent` the tables answer alone. */
  constructor(
    clickhouse: Pick<ClickHouse, 'selectRows'>,
    clock: Clock,
    recent: NewestRecords = new RecentLog(),
    payoutOf: PayoutOf = () => null,
  ) {
    this.#clickhouse = clickhouse;
    this.#recent = recent;
    this.#payoutOf = payoutOf;
    this.#clock = clock;
    this.#tape = new TradeTape({ clickhouse, recent, clock });
  }

  /** Number of markets the wallet traded in. */
  traded(wallet: WalletAddress): Promise<number> {
    return readTraded(this.#clickhouse, wallet);
  }

  /**
   * Activity of a wallet, the newest records included. Memory is read first: records that it forgets meanwhile are in
   * the tables by then.
   */
  async activity(search: ActivitySearch): Promise<readonly ActivityRow[]> {
    const { cutover, rows } = this.#recent.holdings([search.user]);
    const newest = newestActivity(rows, search, this.#payoutOf);
    const { from, count } = storedWindow(search, newest.length);
    const window = { ...search, offset: from, limit: count };
    const stored = await readActivity(this.#clickhouse, window, cutover);
    const page = { ...search, from };
    // Both sides of a fill with oneself are one place: they stay in the order of the rest.
    const ordered = search.sortDirection === 'DESC' ? [...newest].reverse() : newest;
    return mergePage(ordered, stored, page, inActivityOrder(search));
  }

  /** Newest first, the newest records included. */
  tape(search: TapeSearch): Promise<readonly TradeRow[]> {
    return this.#tape.page(search);
  }

  supply(markets: readonly number[]): Promise<readonly SupplyRow[]> {
    return readSupply(this.#clickhouse, markets);
  }

  /** Supply of the tokens of all markets; up to a minute old. */
  wholeSupply(): Promise<Remembered<readonly SupplyRow[]>> {
    return this.#remembered('supply', () => readSupply(this.#clickhouse, null));
  }

  marketPositions(search: MarketPositionsSearch): Promise<readonly MarketPositionRow[]> {
    return readMarketPositions(this.#clickhouse, search);
  }

  /** `dayS` is the start of the day in Unix seconds. */
  makerFees(wallet: WalletAddress, dayS: number): Promise<readonly MakerFeesRow[]> {
    return readMakerFees(this.#clickhouse, wallet, dayS);
  }

  /** Newest first; one row more than a page says that there is another page. */
  builderTrades(search: BuilderSearch): Promise<readonly BuilderRow[]> {
    return readBuilderTrades(this.#clickhouse, search, this.#nowS());
  }

  /** Up to a minute old. */
  builderVolumes(search: BuilderVolumeSearch): Promise<Remembered<readonly BuilderVolumeRow[]>> {
    const { sinceS, builder, daily } = search;
    // Whole minutes, so that requests of one minute share a result.
    const rounded = { builder, daily, sinceS: sinceS - (sinceS % 60) };
    return this.#remembered(JSON.stringify(rounded), () =>
      readBuilderVolumes(this.#clickhouse, rounded),
    );
  }

  #nowS(): number {
    return Math.floor(this.#clock.nowMs() / 1000);
  }

  /** Runs a query at most once in `maxAgeMs` for each name; a failure is not remembered. */
  #remembered<T>(name: string, read: () => Promise<T>): Promise<Remembered<T>> {
    const found = this.#sums.get(name);
    const readMs = this.#clock.monotonicMs();
    if (found !== undefined && readMs - found.readMs < maxAgeMs)
      return found.rows as Promise<Remembered<T>>;
    if (this.#sums.size >= sumsMax) this.#sums.clear();
    const atMs = this.#clock.nowMs();
    const rows = read().then((value): Remembered<T> => ({ atMs, value }));
    this.#sums.set(name, { readMs, rows });
    rows.catch(() => this.#sums.delete(name));
    return rows;
  }
}
