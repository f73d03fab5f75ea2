import type { EventOf, Execution, Fill } from '@pm/schemas/log/executions';
import { notionalMicro, priceOne } from '@pm/schemas/money';
import { tables } from '@pm/schemas/tables/tables';
import { digestOf, textDigest } from './digests.ts';
import { type Cells, keyColumns, RowSums } from './row-sums.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;
/** A midpoint is half of the sum of two prices: 1/10000 USDC halved, in micro-USDC. */
const microPerHalfPrice = 50;

/** Indexes of the changing columns of `candles_1m`. */
const candleAt = { high: 4, low: 5, close: 6, volume: 7, notional: 8, trades: 9, version: 10 };

type BucketCells = (number | null)[];

/**
 * Rows of a table of buckets of time. Per partition the rows of the open bucket may still change; all others are
 * summed.
 */
export class Buckets {
  readonly sums: RowSums;
  /** Selects the rows of the table that are compared; it may have others. */
  readonly condition: string;
  readonly #lengthMs: number;
  readonly #open = new Map<number, { bucketMs: number; readonly rows: Map<number, BucketCells> }>();

  constructor(sums: RowSums, lengthMs: number, condition = '1') {
    this.sums = sums;
    this.#lengthMs = lengthMs;
    this.condition = condition;
  }

  /** Rows of the bucket of a time, by a key of the caller's, and the start of the bucket, Unix seconds. */
  at(partition: number, timeMs: number) {
    const bucketMs = timeMs - (timeMs % this.#lengthMs);
    const known = this.#open.get(partition);
    const open = known ?? { bucketMs, rows: new Map<number, BucketCells>() };
    if (known === undefined) this.#open.set(partition, open);
    if (open.bucketMs !== bucketMs) {
      for (const row of open.rows.values()) this.sums.add(partition, row);
      open.rows.clear();
      open.bucketMs = bucketMs;
    }
    return { rows: open.rows, startS: bucketMs / 1000 };
  }

  /** Start of the latest open bucket, Unix seconds; 0 for none. */
  get lastStartS(): number {
    return Math.max(0, ...[...this.#open.values()].map(({ bucketMs }) => bucketMs / 1000));
  }

  /**
   * Ends the log: sums the rows of open buckets, except those with these keys (`#keyOf`). Returns the number of these.
   */
  end(changed: ReadonlySet<string>): number {
    let left = 0;
    for (const [partition, { rows }] of this.#open) {
      for (const row of rows.values()) {
        if (changed.has(this.#keyOf(row))) left += 1;
        else this.sums.add(partition, row);
      }
      rows.clear();
    }
    return left;
  }

  /** Digests of the key columns. */
  #keyOf(row: Cells): string {
    return keyColumns(this.sums.table)
      .map((index) => digestOf(row[index] ?? 0))
      .join(' ');
  }
}

/**
 * Expected sums of the rows of candles, midpoints and closings, by the log. Of closings only those of hours: those of
 * months follow from them.
 */
export class BucketRows {
  readonly candles = new Buckets(new RowSums(tables.candles), minuteMs);
  readonly midpoints = new Buckets(new RowSums(tables.midpoints), minuteMs);
  readonly closings = new Buckets(new RowSums(tables.bookClosings), hourMs, "span = 'hour'");

  get all(): readonly Buckets[] {
    return [this.candles, this.midpoints, this.closings];
  }

  record(partition: number, { events, inOffset, timeMs }: Execution): void {
    for (const event of events) {
      if (event.kind === 'Fill') this.#traded(partition, timeMs, { fill: event, inOffset });
      if (event.kind === 'TopChanged') this.#quoted(partition, timeMs, { top: event, inOffset });
      if (event.kind === 'LevelChanged') {
        const { market, side, price, sizeMicro } = event;
        const { rows, startS } = this.closings.at(partition, timeMs);
        const level = (market * 2 + (side === 'BUY' ? 0 : 1)) * priceOne + price;
        const cells = [textDigest(side), price, sizeMicro, inOffset];
        rows.set(level, [market, textDigest('hour'), startS, ...cells]);
      }
    }
  }

  /** Where a side is empty it has no price, and there is no midpoint. */
  #quoted(partition: number, timeMs: number, { top, inOffset }: Quoted): void {
    const { rows, startS } = this.midpoints.at(partition, timeMs);
    const { market, bid, ask } = top;
    const micro = bid === 0 || ask === 0 ? null : (bid + ask) * microPerHalfPrice;
    rows.set(market, [market, startS, micro, bid || null, ask || null, inOffset]);
  }

  /** A mint or a merge is a trade of both tokens. */
  #traded(partition: number, timeMs: number, { fill, inOffset }: Traded): void {
    const { rows, startS } = this.candles.at(partition, timeMs);
    const { takerOutcome, takerPrice, makerOutcome, makerPrice } = fill;
    const both = [
      [takerOutcome, takerPrice],
      [makerOutcome, makerPrice],
    ] as const;
    for (const [outcome, price] of fill.match === 'COMPLEMENTARY' ? both.slice(0, 1) : both) {
      const token = fill.market * 2 + outcome;
      const first = [fill.market, outcome, startS, price, price, price, price, 0, 0, 0, inOffset];
      const candle = rows.get(token) ?? first;
      rows.set(token, candle);
      trade(candle, { price, sizeMicro: fill.sizeMicro, inOffset });
    }
  }
}

interface Quoted {
  readonly top: EventOf<'TopChanged'>;
  readonly inOffset: number;
}

interface Traded {
  readonly fill: Fill;
  readonly inOffset: number;
}

function trade(
  candle: BucketCells,
  { price, sizeMicro, inOffset }: { price: number; sizeMicro: number; inOffset: number },
): void {
  const { high, low, close, volume, notional, trades, version } = candleAt;
  candle[high] = Math.max(candle[high] ?? 0, price);
  candle[low] = Math.min(candle[low] ?? 0, price);
  candle[close] = price;
  candle[volume] = (candle[volume] ?? 0) + sizeMicro;
  candle[notional] = (candle[notional] ?? 0) + notionalMicro(price, sizeMicro);
  candle[trades] = (candle[trades] ?? 0) + 1;
  candle[version] = inOffset;
}
