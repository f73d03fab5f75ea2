import { leaderboardPeriods } from '@pm/schemas/tables/leaderboard-tables';

/**
 * Volume and liquidity of a market, in micro-USDC, or their sum over an event. They sort lists and show beside markets;
 * they are some seconds old.
 */
export interface Figures extends Volume {
  /** Collateral of its resting orders: bids at their price, asks as bids of the other token. */
  readonly liquidityMicro: number;
}

/** Notional of fills in micro-USDC: of all, and of those of some time until now (`windowSeconds`). */
export interface Volume {
  readonly volumeMicro: number;
  readonly dayVolumeMicro: number;
  readonly weekVolumeMicro: number;
  readonly monthVolumeMicro: number;
  readonly yearVolumeMicro: number;
}

const { DAY, WEEK, MONTH } = leaderboardPeriods;

/** Lengths of the windows that volumes and changes of prices are of, seconds. */
export const windowSeconds = {
  day: DAY,
  week: WEEK,
  month: MONTH,
  year: 365 * DAY,
} as const;

/** When each window begins that ends now, Unix seconds. */
export function windowStarts(nowMs: number) {
  const nowS = Math.floor(nowMs / 1000);
  const { day, week, month, year } = windowSeconds;
  const startOf = (seconds: number) => Math.max(0, nowS - seconds);
  return { day: startOf(day), week: startOf(week), month: startOf(month), year: startOf(year) };
}

/** How the price of token 0 moved until now, in micro-USDC; null where there was none before. */
export interface PriceMoves {
  readonly dayMicro: number | null;
  readonly weekMicro: number | null;
  readonly monthMicro: number | null;
  /** See `competitiveness`. */
  readonly competitive: number;
}

export interface MarketFigures extends Figures {
  readonly moves: PriceMoves;
}

/**
 * The moves that a market shows: none once it is resolved, since its price is then its payout and the tables do not say
 * of which moment.
 */
export function shownMoves(
  { payout0 }: { readonly payout0: number },
  { moves }: MarketFigures,
): PriceMoves {
  return payout0 < 0 ? moves : noMoves;
}

/** Figures by market number; markets on which nothing happened may be missing. */
export type FiguresByMarket = ReadonlyMap<number, MarketFigures>;

export const noVolume: Volume = {
  volumeMicro: 0,
  dayVolumeMicro: 0,
  weekVolumeMicro: 0,
  monthVolumeMicro: 0,
  yearVolumeMicro: 0,
};

export const noMoves: PriceMoves = {
  dayMicro: null,
  weekMicro: null,
  monthMicro: null,
  competitive: 0,
};

export const noFigures: MarketFigures = { ...noVolume, liquidityMicro: 0, moves: noMoves };

export function addFigures(left: Figures, right: Figures, sign: 1 | -1 = 1): Figures {
  return {
    volumeMicro: left.volumeMicro + sign * right.volumeMicro,
    dayVolumeMicro: left.dayVolumeMicro + sign * right.dayVolumeMicro,
    weekVolumeMicro: left.weekVolumeMicro + sign * right.weekVolumeMicro,
    monthVolumeMicro: left.monthVolumeMicro + sign * right.monthVolumeMicro,
    yearVolumeMicro: left.yearVolumeMicro + sign * right.yearVolumeMicro,
    liquidityMicro: left.liquidityMicro + sign * right.liquidityMicro,
  };
}

export function sameFigures(left: Figures, right: Figures): boolean {
  return (
    left.volumeMicro === right.volumeMicro &&
    left.dayVolumeMicro === right.dayVolumeMicro &&
    left.weekVolumeMicro === right.weekVolumeMicro &&
    left.monthVolumeMicro === right.monthVolumeMicro &&
    left.yearVolumeMicro === right.yearVolumeMicro &&
    left.liquidityMicro === right.liquidityMicro
  );
}

export function sameMoves(left: PriceMoves, right: PriceMoves): boolean {
  return (
    left.dayMicro === right.dayMicro &&
    left.weekMicro === right.weekMicro &&
    left.monthMicro === right.monthMicro &&
    left.competitive === right.competitive
  );
}

/** Figures out of tables, by market number; what never traded and had no orders is not in it. */
export type TableFigures = ReadonlyMap<number, Volume & { readonly moves: PriceMoves }>;
