import { column, market, wallet } from './columns.ts';
import type { Table } from './create-table.ts';

/** The periods with their lengths in seconds; null is everything. */
export const leaderboardPeriods = {
  ALL: null,
  DAY: 86_400,
  WEEK: 7 * 86_400,
  MONTH: 30 * 86_400,
} as const;
export type LeaderboardPeriod = keyof typeof leaderboardPeriods;

/** Column with a figure of a period. */
export function leaderboardColumn(figure: 'vol' | 'pnl', period: LeaderboardPeriod): string {
  return `${figure}_${period.toLowerCase()}`;
}

const periodNames = Object.keys(leaderboardPeriods) as LeaderboardPeriod[];
const snapshot = column(
  'snapshot',
  'UInt64',
  'When it was computed, Unix milliseconds: what a period ends at.',
);
const category = column('category', 'UInt8', 'Place in the list of categories; 0 is OVERALL.');
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
    ...periodNames.map((period) =>
      column(
        `price_${period.toLowerCase()}`,
        'Int64',
        period === 'ALL'
          ? 'Of token 0 at the snapshot. Micro-USDC.'
          : `Of token 0 when ${period} began. Micro-USDC.`,
      ),
    ),
  ],
  engine: 'MergeTree',
  partitionBy: 'snapshot',
  orderBy: ['market'],
};

const sums: Table = {
  name: 'leaderboard_sums',
  comment: 'What positions add to volumes and profits, before the trades of the periods do.',
  columns: [
    snapshot,
    column('partition', 'UInt16', 'Partition of the topic executions.'),
    wallet,
    column('categories', 'UInt16', 'Bit n: counts in category n.'),
    column('version', 'UInt64', 'Largest in_offset of what was summed up.'),
    column('vol_all', 'Int128', 'Notional traded ever. Micro-USDC.'),
    ...periodNames.map((period) =>
      column(
        leaderboardColumn('pnl', period),
        'Int128',
        period === 'ALL'
          ? 'Profit of everything. 10^-12 USDC.'
          : `What is held now, at the price of now less that when ${period} began. 10^-12 USDC.`,
      ),
    ),
  ],
  engine: 'MergeTree',
  partitionBy: 'snapshot',
  orderBy: ['wallet'],
  indexGranularity: 1024,
};

/** Ranks are counted by reading a whole column, so it is not packed. */
const counted = 'NONE';
/** Single wallets are looked up: what is unpacked for one is a granule, not the 64 KiB of a block. */
const smallBlocks = ['min_compress_block_size = 8192', 'max_compress_block_size = 8192'];

const wallets: Table = {
  name: 'leaderboard_wallets',
  comment:
    'Every wallet of every leaderboard: it is listed for a period in which a figure is not 0. Its rank is one more than there are listed wallets with more.',
  columns: [
    snapshot,
    category,
    { ...wallet, codec: 'LZ4' },
    ...periodNames.flatMap((period) => [
      column(
        leaderboardColumn('vol', period),
        'Int64',
        `Notional traded, ${period}. Micro-USDC.`,
        counted,
      ),
      column(leaderboardColumn('pnl', period), 'Int64', `Profit, ${period}. Micro-USDC.`, counted),
    ]),
  ],
  engine: 'MergeTree',
  partitionBy: 'snapshot',
  orderBy: ['category', 'wallet'],
  indexGranularity: 1024,
  settings: smallBlocks,
};

const tops: Table = {
  name: 'leaderboard_tops',
  comment: 'The part of the leaderboards that can be paged through.',
  columns: [
    snapshot,
    column(
      'period',
      "Enum8('ALL' = 1, 'DAY' = 2, 'WEEK' = 3, 'MONTH' = 4)",
      'Everything, or the last 1, 7 or 30 days before the snapshot.',
    ),
    category,
    column('board', "Enum8('PNL' = 0, 'VOL' = 1)", 'What it is sorted by.'),
    column('place', 'UInt32', 'From 1; equal figures by wallet.'),
    column('rank', 'UInt32', 'Competition rank: equal figures share one.'),
    wallet,
    column('vol_micro', 'Int64', 'Notional traded in the period. Micro-USDC.'),
    column('pnl_micro', 'Int64', 'Profit of the period. Micro-USDC.'),
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

/** Places of a leaderboard that can be requested: the largest offset and the largest page after it. */
export const leaderboardPlacesMax = 1_050;

/** Categories in the order of their numbers, with the tags whose events count in them (definitions.md). */
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
