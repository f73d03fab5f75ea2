import type { Column, Table } from './table.ts';

const column = (name: string, type: string, comment: string): Column => ({
  name,
  type,
  comment,
  codec: 'ZSTD(1)',
});
const snapshot = column(
  'snapshot',
  'UInt64',
  'When it was computed, Unix milliseconds: what a period ends at.',
);
const market = column('market', 'UInt32', 'Number of the market, its id in the catalog.');
const wallet = column('wallet', 'FixedString(42)', 'Wallet, lower case.');
const period = column(
  'period',
  "Enum8('ALL' = 1, 'DAY' = 2, 'WEEK' = 3, 'MONTH' = 4)",
  'Everything, or the last 1, 7 or 30 days before the snapshot.',
);
const category = column('category', 'UInt8', 'Place in the list of categories; 0 is OVERALL.');
const volume = column('vol_micro', 'Int64', 'Notional traded in the period. Micro-USDC.');
const profit = column('pnl_micro', 'Int64', 'Profit of the period. Micro-USDC.');

const categories: Table = {
  name: 'leaderboard_categories',
  comment: 'Categories of markets, as the catalog had them when leaderboards were computed.',
  columns: [snapshot, market, column('mask', 'UInt16', 'Bit n: the market counts in category n.')],
  engine: 'MergeTree',
  partitionBy: 'snapshot',
  orderBy: ['market'],
};

const prices: Table = {
  name: 'leaderboard_prices',
  comment: 'Prices and categories of markets, as one computation of the leaderboards uses them.',
  columns: [
    snapshot,
    market,
    column('categories', 'UInt16', 'Bit n: the market counts in category n.'),
    column(
      'prices',
      'Array(Int64)',
      'Of token 0 at the snapshot and 1, 7 and 30 days before. Micro-USDC.',
    ),
  ],
  engine: 'MergeTree',
  partitionBy: 'snapshot',
  orderBy: ['market'],
};

const sums: Table = {
  name: 'leaderboard_sums',
  comment:
    'Parts of volumes and profits under way: from positions, then from the trades of 30 days.',
  columns: [
    snapshot,
    column('partition', 'UInt16', 'Partition of the topic executions.'),
    wallet,
    column('categories', 'UInt16', 'Bit n: counts in category n.'),
    column(
      'version',
      'UInt64',
      'Largest in_offset of what was summed up; of parts from positions.',
    ),
    column('vols', 'Array(Int128)', 'By period in the order of `period`. Micro-USDC.'),
    column('pnls', 'Array(Int128)', 'The same, in 10^-12 USDC.'),
  ],
  engine: 'MergeTree',
  partitionBy: 'snapshot',
  orderBy: ['wallet'],
};

const wallets: Table = {
  name: 'leaderboard_wallets',
  comment: 'Every wallet of every leaderboard, with its rank in both orders.',
  columns: [
    snapshot,
    period,
    category,
    wallet,
    volume,
    profit,
    column('rank_vol', 'UInt32', 'Competition rank by volume: equal values share one.'),
    column('rank_pnl', 'UInt32', 'The same by profit.'),
    column('place_vol', 'UInt32', 'Place by volume, equal values by wallet.'),
    column('place_pnl', 'UInt32', 'The same by profit.'),
  ],
  engine: 'MergeTree',
  partitionBy: 'snapshot',
  orderBy: ['period', 'category', 'wallet'],
  indexGranularity: 1024,
};

const tops: Table = {
  name: 'leaderboard_tops',
  comment: 'The part of the leaderboards that can be paged through.',
  columns: [
    snapshot,
    period,
    category,
    column('board', "Enum8('PNL' = 0, 'VOL' = 1)", 'What it is sorted by.'),
    column('place', 'UInt32', 'From 1.'),
    column('rank', 'UInt32', 'Competition rank.'),
    wallet,
    volume,
    profit,
  ],
  engine: 'MergeTree',
  partitionBy: 'snapshot',
  orderBy: ['period', 'category', 'board', 'place'],
  indexGranularity: 1024,
};

const runs: Table = {
  name: 'leaderboard_runs',
  comment: 'Snapshots whose leaderboards are whole; the largest is served.',
  columns: [snapshot],
  engine: 'MergeTree',
  orderBy: ['snapshot'],
};

/** Tables that are computed out of others now and then; they are no projections of the log. */
export const leaderboardTables = {
  categories,
  prices,
  sums,
  wallets,
  tops,
  runs,
} as const satisfies Record<string, Table>;

/** Places of a leaderboard that can be asked for: the largest offset and the largest page behind it. */
export const leaderboardPlacesMax = 1_050;

/** Categories in the order of their numbers, with the tags whose events count in them (docs/definitions.md). */
export const leaderboardCategories = {
  OVERALL: [],
  POLITICS: ['politics'],
  SPORTS: ['sports'],
  CRYPTO: ['crypto'],
  FINANCE: ['finance'],
  CULTURE: ['culture', 'pop-culture'],
  MENTIONS: ['mentions'],
  WEATHER: ['weather'],
  ECONOMICS: ['economics', 'economy'],
  TECH: ['tech'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type LeaderboardCategory = keyof typeof leaderboardCategories;

/** The periods in the order of arrays in these tables, with their lengths in seconds; null is everything. */
export const leaderboardPeriods = {
  ALL: null,
  DAY: 86_400,
  WEEK: 7 * 86_400,
  MONTH: 30 * 86_400,
} as const;
export type LeaderboardPeriod = keyof typeof leaderboardPeriods;
