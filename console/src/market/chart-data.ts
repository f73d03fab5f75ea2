/** A candle of GET /candles. */
export interface WireCandle {
  readonly t: number;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
}

export interface Candle {
  /** Unix seconds, start of the bucket. */
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}

/** Prices in cents, ascending, one candle per bucket. */
export function candlesOfWire(wire: readonly WireCandle[]): readonly Candle[] {
  const byTime = new Map(wire.map((one) => [one.t, one]));
  return [...byTime.values()]
    .sort((one, other) => one.t - other.t)
    .map(({ t, open, high, low, close, volume }) => ({
      time: t,
      open: Number(open) * 100,
      high: Number(high) * 100,
      low: Number(low) * 100,
      close: Number(close) * 100,
      volume: Number(volume),
    }));
}

/** The newest candle with a trade in it, or a new one after it. Null when the trade is older than the newest candle. */
export function withTrade(
  newest: Candle | null,
  trade: { readonly timeSeconds: number; readonly cents: number; readonly size: number },
  bucketSeconds: number,
): Candle | null {
  const { cents, size } = trade;
  const time = Math.floor(trade.timeSeconds / bucketSeconds) * bucketSeconds;
  if (newest !== null && time < newest.time) return null;
  if (newest === null || time > newest.time) {
    return { time, open: cents, high: cents, low: cents, close: cents, volume: size };
  }
  return {
    ...newest,
    high: Math.max(newest.high, cents),
    low: Math.min(newest.low, cents),
    close: cents,
    volume: newest.volume + size,
  };
}
