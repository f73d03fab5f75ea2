import type { Execution, Fill } from '@pm/schemas/log/executions';
import { notionalMicro } from '@pm/schemas/money';
import { tables } from '@pm/schemas/tables/tables';
import type { RowMemory } from '../../tables/row-memory.ts';
import { RowWriter, type TableRows } from '../../tables/row-writer.ts';
import { Buckets, minuteOf } from '../buckets.ts';
import type { View } from '../view.ts';

/** Trades of one token in one minute; prices in 1/10000 USDC. */
export interface Candle {
  readonly market: number;
  readonly outcome: number;
  readonly bucketMs: number;
  readonly open: number;
  high: number;
  low: number;
  close: number;
  volumeMicro: number;
  notionalMicro: number;
  trades: number;
  /** in_offset of the last record folded in; -1 before the first. */
  version: number;
}

interface TokenTrade {
  readonly market: number;
  readonly outcome: number;
  readonly price: number;
  readonly sizeMicro: number;
}

/**
 * Table `candles_1m`: absolute values by token and minute. A mint or merge is a trade of both tokens, each at its
 * price.
 */
export class CandlesView implements View {
  readonly #candles = new Buckets<Candle>();
  readonly #touched = new Set<Candle>();
  /** Candles that the current record has changed: a version stands for a whole record. */
  readonly #open = new Set<Candle>();
  readonly #rows: RowWriter;
  #minuteMs = 0;

  /** `restored`: the rows of the minutes that may still change. */
  constructor(restored: Iterable<Candle>, memory: RowMemory) {
    this.#rows = new RowWriter(tables.candles, memory);
    for (const candle of restored)
      this.#candles.set(candle.bucketMs, tokenNumber(candle), { ...candle });
  }

  get pendingRows(): number {
    return this.#touched.size;
  }

  fold(execution: Execution): void {
    this.#minuteMs = minuteOf(execution.timeMs);
    this.#open.clear();
    for (const event of execution.events) {
      if (event.kind !== 'Fill') continue;
      this.#apply(takersTrade(event), execution.inOffset);
      if (event.match !== 'COMPLEMENTARY') this.#apply(makersTrade(event), execution.inOffset);
    }
  }

  take(): readonly TableRows[] {
    for (const candle of this.#touched) writeCandle(this.#rows, candle);
    this.#touched.clear();
    // The clock of a partition never goes back: a past minute does not change.
    this.#candles.dropBefore(this.#minuteMs);
    return [this.#rows.take()];
  }

  #apply(trade: TokenTrade, inOffset: number): void {
    const candle = this.#candleOf(trade);
    if (!this.#open.has(candle) && candle.version >= inOffset) return;
    this.#open.add(candle);
    addTrade(candle, trade);
    candle.version = inOffset;
    this.#touched.add(candle);
  }

  #candleOf(trade: TokenTrade): Candle {
    const token = tokenNumber(trade);
    const known = this.#candles.get(this.#minuteMs, token);
    if (known !== undefined) return known;
    const fresh = firstCandle(trade, this.#minuteMs);
    this.#candles.set(this.#minuteMs, token, fresh);
    return fresh;
  }
}

function tokenNumber({ market, outcome }: { market: number; outcome: number }): number {
  return market * 2 + outcome;
}

function takersTrade(fill: Fill): TokenTrade {
  const { market, sizeMicro, takerOutcome: outcome, takerPrice: price } = fill;
  return { market, sizeMicro, outcome, price };
}

function makersTrade(fill: Fill): TokenTrade {
  const { market, sizeMicro, makerOutcome: outcome, makerPrice: price } = fill;
  return { market, sizeMicro, outcome, price };
}

function firstCandle({ market, outcome, price }: TokenTrade, bucketMs: number): Candle {
  const prices = { open: price, high: price, low: price, close: price };
  const sums = { volumeMicro: 0, notionalMicro: 0, trades: 0 };
  return { market, outcome, bucketMs, ...prices, ...sums, version: -1 };
}

function addTrade(candle: Candle, { price, sizeMicro }: TokenTrade): void {
  candle.high = Math.max(candle.high, price);
  candle.low = Math.min(candle.low, price);
  candle.close = price;
  candle.volumeMicro += sizeMicro;
  candle.notionalMicro += notionalMicro(price, sizeMicro);
  candle.trades += 1;
}

function writeCandle(to: RowWriter, candle: Candle): void {
  to.int(candle.market).int(candle.outcome).second(candle.bucketMs);
  to.price(candle.open).price(candle.high).price(candle.low).price(candle.close);
  to.micro(candle.volumeMicro).micro(candle.notionalMicro).int(candle.trades);
  to.int(candle.version).end();
}
