import type { LeaderboardPeriod } from '../tables/leaderboard-tables.ts';

/** Values of the parameters that reports are sorted and bounded by (conventions.md 6.1, 6.2, 6.5). */
export const positionSorts = [
  'CURRENT',
  'INITIAL',
  'TOKENS',
  'CASHPNL',
  'PERCENTPNL',
  'TITLE',
  'RESOLVING',
  'PRICE',
  'AVGPRICE',
] as const;
export type PositionSort = (typeof positionSorts)[number];

export const closedPositionSorts = [
  'REALIZEDPNL',
  'TITLE',
  'PRICE',
  'AVGPRICE',
  'TIMESTAMP',
] as const;
export type ClosedPositionSort = (typeof closedPositionSorts)[number];

export const marketPositionSorts = ['TOKENS', 'CASH_PNL', 'REALIZED_PNL', 'TOTAL_PNL'] as const;
export type MarketPositionSort = (typeof marketPositionSorts)[number];

export const activitySorts = ['TIMESTAMP', 'TOKENS', 'CASH'] as const;
export type ActivitySort = (typeof activitySorts)[number];

/** Periods of leaderboards and of the volumes of builders, in the order of documents. */
export const reportPeriods = [
  'DAY',
  'WEEK',
  'MONTH',
  'ALL',
] as const satisfies readonly LeaderboardPeriod[];
