import { type Volume, type windowSeconds, windowStarts } from '@pm/domain/markets/figures';
import { storedMicro, storedPrice } from '@pm/domain/reading/numbers';
import { tables } from '@pm/schemas/tables/tables';
import { endOfTime, type MarkedTables, TableMarks, type TableSpan } from './table-marks.io.ts';

/** Fills of a market up to a moment. */
interface Traded {
  /** Notional of all. */
  readonly totalMicro: number;
  /** The newest price in terms of token 0, 1/10000 USDC. */
  readonly trade: number;
}

/** The newest trade of a market now and some time ago, in terms of token 0, 1/10000 USDC; null where there was none. */
export interface PastTrades {
  readonly now: number | null;
  readonly day: number | null;
  readonly week: number | null;
  readonly month: number | null;
}

/** Volumes and prices of a market, computed from its fills. */
export interface TapeFigures {
  readonly volume: Volume;
  readonly trades: PastTrades;
}

const { name: tape } = tables.tape;

/**
 * A fill has one row of its taker, in the order of time, while its candles may stand under both tokens. The product of
 * two narrow decimals would overflow, and bounds have the precision of the column (traps.md).
 */
const rowsSql = `FROM ${tape} FINAL
WHERE role = 'TAKER' AND time >= toDateTime64({from:UInt32}, 3) AND time < toDateTime64({to:UInt32}, 3)
GROUP BY market
SETTINGS max_execution_time = 10, max_threads = 1`;
const sumsSql = `market, toString(sum(notional)) AS total,
  toString(argMax(if(outcome = 0, price, 1 - price), (in_offset, event_index))) AS trade`;
const notionalSql = 'WITH toDecimal128(price, 4) * size AS notional';

const tradedSql = `${notionalSql}\nSELECT ${sumsSql}\n${rowsSql}`;

const since = (window: keyof typeof windowSeconds) =>
  `toString(sumIf(notional, time >= toDateTime64({${window}:UInt32}, 3))) AS ${window}`;
const newestSql = `${notionalSql}
SELECT ${sumsSql},
  ${since('day')}, ${since('week')}, ${since('month')}, ${since('year')}
${rowsSql}`;

interface TradedRow {
  readonly market: number;
  readonly total: string;
  readonly trade: string;
}
type Windows<T> = { readonly [Name in keyof typeof windowSeconds]: T };

/** Notional and newest trades by market, as of each call: each reads what came and what left its windows since. */
export class VolumeSums {
  readonly #options: MarkedTables;
  readonly #marks: TableMarks<Traded>;

  constructor(options: MarkedTables) {
    this.#options = options;
    this.#marks = new TableMarks(options.clickhouse, {
      table: tape,
      time: 'time',
      read: (span) => this.#read(span),
      fold: (known, more) => ({ ...more, totalMicro: (known?.totalMicro ?? 0) + more.totalMicro }),
    });
  }

  /** One call at a time. Throws the faults of ClickHouse; what was added up stays. */
  async read(nowMs: number): Promise<ReadonlyMap<number, TapeFigures>> {
    const throughS = Math.floor((this.#options.completeThroughMs() ?? 0) / 1000);
    const starts = windowStarts(nowMs);
    const { day, week, month, year } = starts;
    const moments = [year, month, week, day, throughS].map((atS) => Math.min(atS, throughS));
    const [ofYear, ofMonth, ofWeek, ofDay, settled = new Map()] = await this.#marks.upTo(moments);
    const marks = { year: ofYear, month: ofMonth, week: ofWeek, day: ofDay, settled };
    const newest = await this.#newest(starts);
    return new Map(
      [...new Set([...settled.keys(), ...newest.keys()])].map((market) => [
        market,
        tapeFigures(market, marks, newest.get(market)),
      ]),
    );
  }

  async #read({ from, to }: TableSpan): Promise<ReadonlyMap<number, Traded>> {
    const rows = await this.#options.clickhouse.selectRows<TradedRow>(tradedSql, { from, to });
    return new Map(rows.map((row): [number, Traded] => [row.market, tradedOf(row)]));
  }

  async #newest(starts: Windows<number>): Promise<ReadonlyMap<number, Newest>> {
    const span = { from: this.#marks.throughS, to: endOfTime };
    const rows = await this.#options.clickhouse.selectRows<TradedRow & Windows<string>>(newestSql, {
      ...span,
      ...starts,
    });
    return new Map(
      rows.map((row): [number, Newest] => {
        const { day, week, month, year } = row;
        const since = {
          day: storedMicro(day),
          week: storedMicro(week),
          month: storedMicro(month),
          year: storedMicro(year),
        };
        return [row.market, { ...tradedOf(row), since }];
      }),
    );
  }
}

function tradedOf({ total, trade }: TradedRow): Traded {
  return { totalMicro: storedMicro(total), trade: storedPrice(trade) };
}

/** Fills after the last mark, with what of their notional is in each window. */
interface Newest extends Traded {
  readonly since: Windows<number>;
}

type Known = ReadonlyMap<number, Traded> | undefined;

/** Fills of a market up to the start of each window, and those that are settled. */
type Marks = Windows<Known> & { readonly settled: Known };

function tapeFigures(market: number, marks: Marks, newest: Newest | undefined): TapeFigures {
  const settled = marks.settled?.get(market);
  const upTo = (window: keyof Windows<Known>) => marks[window]?.get(market);
  const since = (window: keyof Windows<Known>) =>
    (settled?.totalMicro ?? 0) - (upTo(window)?.totalMicro ?? 0) + (newest?.since[window] ?? 0);
  return {
    volume: {
      volumeMicro: (settled?.totalMicro ?? 0) + (newest?.totalMicro ?? 0),
      dayVolumeMicro: since('day'),
      weekVolumeMicro: since('week'),
      monthVolumeMicro: since('month'),
      yearVolumeMicro: since('year'),
    },
    trades: {
      now: newest?.trade ?? settled?.trade ?? null,
      day: upTo('day')?.trade ?? null,
      week: upTo('week')?.trade ?? null,
      month: upTo('month')?.trade ?? null,
    },
  };
}
