import {
  type Execution,
  type Fill,
  microText,
  notionalMicro,
  priceText,
  tables,
} from '@pm/schemas';
import type { Row, TableRows, View } from '../rows.ts';
import { minuteOf, secondText } from '../time.ts';

/** Trades of one token in one minute; prices in 1/10000 USDC. */
export interface Candle {
  readonly market: number;
  readonly outcome: number;
  readonly bucketMs: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volumeMicro: number;
  readonly notionalMicro: number;
  readonly trades: number;
  readonly version: number;
}

interface TokenTrade {
  readonly market: number;
  readonly outcome: number;
  readonly price: number;
  readonly sizeMicro: number;
}

/** Table `candles_1m`: absolute values per token and minute. A mint or merge is a trade of both tokens, each at its price. */
export class CandlesView implements View {
  readonly #candles = new Map<string, Candle>();
  #touched = new Set<string>();
  #minuteMs = 0;

  /** `restored`: the rows of the minutes that may still change. */
  constructor(restored: Iterable<Candle> = []) {
    for (const candle of restored) this.#candles.set(keyOf(candle, candle.bucketMs), candle);
  }

  get pendingRows(): number {
    return this.#touched.size;
  }

  fold(execution: Execution): void {
    this.#minuteMs = minuteOf(execution.timeMs);
    const open = new Set<string>();
    for (const event of execution.events) {
      if (event.kind !== 'Fill') continue;
      for (const trade of tradesOf(event)) this.#apply(trade, execution.inOffset, open);
    }
  }

  take(): readonly TableRows[] {
    const rows: Row[] = [];
    for (const key of this.#touched) {
      const candle = this.#candles.get(key);
      if (candle !== undefined) rows.push(rowOf(candle));
    }
    this.#touched = new Set();
    // The clock never runs backwards: a past minute is done.
    for (const [key, { bucketMs }] of this.#candles)
      if (bucketMs < this.#minuteMs) this.#candles.delete(key);
    return [{ table: tables.candles, rows }];
  }

  #apply(trade: TokenTrade, inOffset: number, open: Set<string>): void {
    const key = keyOf(trade, this.#minuteMs);
    const before = this.#candles.get(key);
    if (before !== undefined && !open.has(key) && before.version >= inOffset) return;
    open.add(key);
    const version = inOffset;
    this.#candles.set(key, { ...added(before ?? first(trade, this.#minuteMs), trade), version });
    this.#touched.add(key);
  }
}

function tradesOf(fill: Fill): readonly TokenTrade[] {
  const { market, sizeMicro } = fill;
  const taker = { market, sizeMicro, outcome: fill.takerOutcome, price: fill.takerPrice };
  if (fill.match === 'COMPLEMENTARY') return [taker];
  return [taker, { market, sizeMicro, outcome: fill.makerOutcome, price: fill.makerPrice }];
}

function first({ market, outcome, price }: TokenTrade, bucketMs: number): Candle {
  const prices = { open: price, high: price, low: price, close: price };
  const sums = { volumeMicro: 0, notionalMicro: 0, trades: 0 };
  return { market, outcome, bucketMs, ...prices, ...sums, version: -1 };
}

function added(candle: Candle, { price, sizeMicro }: TokenTrade): Candle {
  return {
    ...candle,
    high: Math.max(candle.high, price),
    low: Math.min(candle.low, price),
    close: price,
    volumeMicro: candle.volumeMicro + sizeMicro,
    notionalMicro: candle.notionalMicro + notionalMicro(price, sizeMicro),
    trades: candle.trades + 1,
  };
}

function keyOf({ market, outcome }: { market: number; outcome: number }, bucketMs: number): string {
  return `${market}:${outcome}:${bucketMs}`;
}

function rowOf(candle: Candle): Row {
  return [
    candle.market,
    candle.outcome,
    secondText(candle.bucketMs),
    priceText(candle.open),
    priceText(candle.high),
    priceText(candle.low),
    priceText(candle.close),
    microText(candle.volumeMicro),
    microText(candle.notionalMicro),
    candle.trades,
    candle.version,
  ];
}
