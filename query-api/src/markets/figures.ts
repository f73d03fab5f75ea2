/**
 * Volume and liquidity of a market, in micro-USDC. They sort lists and show beside markets; they are some seconds old.
 */
export interface Figures {
  /** Notional of all fills. */
  readonly volumeMicro: number;
  /** Notional of the fills of the last 24 hours. */
  readonly dayVolumeMicro: number;
  /** Collateral of its resting orders: bids at their price, asks as bids of the other token. */
  readonly liquidityMicro: number;
}

/** Figures by market number; markets on which nothing happened may be missing. */
export type FiguresByMarket = ReadonlyMap<number, Figures>;

export const noFigures: Figures = { volumeMicro: 0, dayVolumeMicro: 0, liquidityMicro: 0 };

export function addFigures(left: Figures, right: Figures, sign: 1 | -1 = 1): Figures {
  return {
    volumeMicro: left.volumeMicro + sign * right.volumeMicro,
    dayVolumeMicro: left.dayVolumeMicro + sign * right.dayVolumeMicro,
    liquidityMicro: left.liquidityMicro + sign * right.liquidityMicro,
  };
}

export function sameFigures(left: Figures, right: Figures): boolean {
  return (
    left.volumeMicro === right.volumeMicro &&
    left.dayVolumeMicro === right.dayVolumeMicro &&
    left.liquidityMicro === right.liquidityMicro
  );
}

/** Notional of a market in micro-USDC. */
export interface Volume {
  readonly totalMicro: number;
  readonly dayMicro: number;
}
/** Volumes by market number; markets that never traded are not in it. */
export type Volumes = ReadonlyMap<number, Volume>;
