import { type Column, type Table, valueType } from '@pm/schemas/tables/create-table';

const wallet = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const otherWallet = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const apiKey = '6f1c0b5e-9d2a-4c37-8b1e-3a5d7f904c26';
const otherKey = 'b2e84a17-05cd-4f68-9a3b-c1d7e6f20943';
const orderId = '0x9f2b6d4c81e7a05332c9d8f1467be0aa5d13c4972e8f60b1d7a3945c28e6f013';
const otherOrderId = '0x3c7e15a9d04b82f66e91c3d5207a8bfb14d69e03f58c27a1b90d4e736a52c8f4';
const builder = '0x00000000000000000000000000000000000000000000000000000000000000b1';
const moment = '2026-06-01 12:00:00.123';

/**
 * One trade as all tables tell it: of market 602 at 0.52, 12.34 shares. Symbols of enumerations need none: their first
 * one is it.
 */
const byName: Readonly<Record<string, string>> = {
  partition: '3',
  in_offset: '48211',
  event_index: '2',
  version: '48211',
  time: moment,
  market: '602',
  outcome: '0',
  wallet,
  api_key: apiKey,
  order_id: orderId,
  price: '0.5200',
  size: '12.340000',
  fee: '0.135830',
  fee_rate_bps: '441',
  taker: wallet,
  taker_key: apiKey,
  taker_order: orderId,
  taker_outcome: '0',
  taker_price: '0.5200',
  taker_builder: builder,
  maker: otherWallet,
  maker_key: otherKey,
  maker_order: otherOrderId,
  maker_outcome: '0',
  maker_price: '0.5200',
  maker_builder: `0x${'0'.repeat(64)}`,
  builder,
  appended_at: '2026-06-01 12:00:00.131',
  accepted_at: '2026-06-01 12:00:00.087',
  placed_at: moment,
  expires_at: '2026-06-02 00:00:00.000',
  resting: '7.660000',
  reason: 'USER',
  ended: '0',
  cost: '6.416800',
  total_bought: '6.416800',
  shares_bought: '12.340000',
  realized_pnl: '-1.250000',
  volume: '6.416800',
  updated: moment,
  payout0: '1.0000',
  bucket: '2026-06-01 12:00:00',
  midpoint: '0.525000',
  bid: '0.5200',
  ask: '0.5300',
  open: '0.5100',
  high: '0.5300',
  low: '0.5000',
  close: '0.5200',
  notional: '251.420000',
  trades: '17',
  tick: '0.0100',
  min_size: '5.000000',
  mode: 'OPEN',
  taker_delay_ms: '3000',
  projection: 'tables',
  through_offset: '48230',
  next_in_offset: '48230',
  through: moment,
  snapshot: '1780315200123',
  category: '3',
  mask: '9',
  categories: '9',
  place: '1',
  rank: '1',
  vol_micro: '251420000',
  pnl_micro: '-1250000',
  price_all: '525000',
  price_day: '510000',
  price_week: '480000',
  price_month: '500000',
  vol_all: '251420000',
  vol_day: '6416800',
  vol_week: '98300000',
  vol_month: '251420000',
  pnl_all: '-1250000',
  pnl_day: '340000',
  pnl_week: '-90000',
  pnl_month: '-1250000',
  until: '2026-06-01 12:01:00.123',
};

/** Where a name says something else. */
const byTable: Readonly<Record<string, string>> = {
  'candles_1m.volume': '483.500000',
  'leaderboard_sums.pnl_all': '-1250000000000',
  'leaderboard_sums.pnl_day': '340000000000',
  'leaderboard_sums.pnl_week': '-90000000000',
  'leaderboard_sums.pnl_month': '-1250000000000',
  'wallet_moves.price': '0.5000',
};

/** A value that a column may hold, as ClickHouse prints it; empty when nobody gave one. */
export function exampleOf(table: Table, column: Column): string {
  const { name } = column;
  const symbol = /^Enum8\('(\w+)'/.exec(valueType(column))?.[1];
  return byTable[`${table.name}.${name}`] ?? byName[name] ?? symbol ?? '';
}
