import { SharedReads } from '@pm/domain/cache/shared-reads.io';
import { mergePage, newestPlaceFirst, storedWindow } from '@pm/domain/reading/merge-page';
import type { TradeRow } from '@pm/domain/reports/rows';
import type { TapeSearch } from '@pm/domain/reports/tape-query';
import type { ClickHouse } from '@pm/kit/clickhouse';
import type { Clock } from '@pm/kit/clock';
import type { CutoverOffsets, RecentLog } from '../recent/recent-log.ts';
import { KeptPages } from './kept-pages.ts';
import { newestTrades } from './newest-trades.ts';
import { readTape } from './read-tape.io.ts';

/**
 * Age from which a kept half is read again beside the requests that it still answers, milliseconds: a quarter
 * of the time for which memory keeps records that the tables have, so that requests that come often do not wait for the
 * tables, also when those are slow.
 */
const refreshAfterMs = 2_500;

export interface TradeTapeOptions {
  readonly clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly recent: Pick<RecentLog, 'newestFills' | 'newestCutover' | 'reaches'>;
  readonly clock: Clock;
}

/**
 * Trades of all wallets, newest first, from memory and the tables, joined at an exact cutover: a trade is here as soon
 * as query-api has read it. Memory is read first, so that what it forgets meanwhile is in the tables by then. The half
 * out of the tables is kept for the next request of the same page.
 */
export class TradeTape {
  readonly #parts: TradeTapeOptions;
  readonly #pages: KeptPages;
  readonly #reads = new SharedReads<readonly TradeRow[]>();
  /** Names of halves that are read again beside requests. */
  readonly #refreshing = new Set<string>();

  constructor(parts: TradeTapeOptions) {
    this.#parts = parts;
    this.#pages = new KeptPages(parts.recent, parts.clock.monotonicMs);
  }

  /** Throws the faults of ClickHouse (`retry` when it is away) where nothing is kept. */
  async page(search: TapeSearch): Promise<readonly TradeRow[]> {
    const name = this.#pages.nameOf(search);
    if (name === null) return await this.#read(search);
    const kept = this.#pages.get(name);
    if (kept === undefined) return await this.#reads.read(name, () => this.#load(name, search));
    const { clock, recent } = this.#parts;
    if (clock.monotonicMs() - kept.readMs >= refreshAfterMs) this.#refresh(name, search);
    const { rows } = newestTrades(recent, search, kept.cutover);
    return mergePage<TradeRow>(rows, kept.rows, { ...search, from: 0 }, newestPlaceFirst);
  }

  /** Only the rows that this page needs. */
  async #read(search: TapeSearch): Promise<readonly TradeRow[]> {
    const { cutover, rows } = newestTrades(this.#parts.recent, search);
    const { from, count } = storedWindow(search, rows.length);
    const stored = await this.#stored({ ...search, offset: from, limit: count }, cutover);
    return mergePage<TradeRow>(rows, stored, { ...search, from }, newestPlaceFirst);
  }

  /** Also the rows that the page needs when memory has none. */
  async #load(name: string, search: TapeSearch): Promise<readonly TradeRow[]> {
    const { recent } = this.#parts;
    const { cutover, rows } = newestTrades(recent, search, recent.newestCutover());
    const whole = { ...search, offset: 0, limit: search.offset + search.limit };
    const stored = await this.#stored(whole, cutover);
    this.#pages.keep(name, { cutover, rows: stored });
    return mergePage<TradeRow>(rows, stored, { ...search, from: 0 }, newestPlaceFirst);
  }

  #refresh(name: string, search: TapeSearch): void {
    if (this.#refreshing.has(name)) return;
    this.#refreshing.add(name);
    // When it fails, the request that finds nothing kept any more reads, and tells its caller.
    const done = (): boolean => this.#refreshing.delete(name);
    this.#reads.read(name, () => this.#load(name, search)).then(done, done);
  }

  #stored(search: TapeSearch, cutover: CutoverOffsets): Promise<readonly TradeRow[]> {
    const { clickhouse, clock } = this.#parts;
    return readTape(clickhouse, search, { cutover, nowS: Math.floor(clock.nowMs() / 1000) });
  }
}
