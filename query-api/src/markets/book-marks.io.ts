import { windowStarts } from '@pm/domain/markets/figures';
import { storedPrice } from '@pm/domain/reading/numbers';
import { shownSides, tables } from '@pm/schemas/tables/tables';
import type { BookPrices } from './price-moves.ts';
import { endOfTime, type MarkedTables, TableMarks, type TableSpan } from './table-marks.io.ts';

/** Best prices of a market now and some time ago; null where it had no orders yet. */
export interface PastBooks {
  readonly now: BookPrices;
  readonly day: BookPrices | null;
  readonly week: BookPrices | null;
  readonly month: BookPrices | null;
}

const { name: midpoints } = tables.midpoints;
const minuteS = 60;

/** Exact without FINAL: the later minute, and the later state of a minute, has the larger version. */
const booksSql = `
SELECT market, toString(argMax(${shownSides.bid}, version)) AS bid,
  toString(argMax(${shownSides.ask}, version)) AS ask
FROM ${midpoints}
WHERE bucket >= fromUnixTimestamp({from:UInt32}) AND bucket < fromUnixTimestamp({to:UInt32})
GROUP BY market
SETTINGS max_execution_time = 10, max_threads = 1`;

/**
 * Best prices by market as of each call and at the start of its windows, at the ends of minutes; while the tables are
 * behind a start, as far as they are.
 */
export class BookMarks {
  readonly #options: MarkedTables;
  readonly #marks: TableMarks<BookPrices>;

  constructor(options: MarkedTables) {
    this.#options = options;
    this.#marks = new TableMarks(options.clickhouse, {
      table: midpoints,
      time: 'bucket',
      read: (span) => this.#read(span),
      fold: (_known, more) => more,
    });
  }

  /** One call at a time. Throws the faults of ClickHouse; what was read stays. */
  async read(nowMs: number): Promise<ReadonlyMap<number, PastBooks>> {
    // The minute that is complete no further has rows to come.
    const throughS = minuteOf((this.#options.completeThroughMs() ?? 0) / 1000);
    const { day, week, month } = windowStarts(nowMs);
    const moments = [month, week, day, throughS].map((atS) => Math.min(minuteOf(atS), throughS));
    const [ofMonth, ofWeek, ofDay, settled] = await this.#marks.upTo(moments);
    const newest = await this.#read({ from: this.#marks.throughS, to: endOfTime });
    const books = new Map<number, PastBooks>();
    for (const known of [settled ?? newest, newest])
      for (const [market, now] of known)
        books.set(market, {
          now,
          day: ofDay?.get(market) ?? null,
          week: ofWeek?.get(market) ?? null,
          month: ofMonth?.get(market) ?? null,
        });
    return books;
  }

  async #read({ from, to }: TableSpan): Promise<ReadonlyMap<number, BookPrices>> {
    const rows = await this.#options.clickhouse.selectRows<{
      readonly market: number;
      readonly bid: string;
      readonly ask: string;
    }>(booksSql, { from, to });
    return new Map(
      rows.map(({ market, bid, ask }): [number, BookPrices] => [
        market,
        { bid: storedPrice(bid), ask: storedPrice(ask) },
      ]),
    );
  }
}

function minuteOf(seconds: number): number {
  return Math.floor(seconds / minuteS) * minuteS;
}
