import type { ActivitySearch } from '@pm/domain/reports/activity';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { RecentLog } from '../../src/recent/recent-log.ts';
import type { HoldingChange } from '../../src/recent/record-rows.ts';
import { newestActivity } from '../../src/reports/newest-activity.ts';
import { Reports } from '../../src/reports/reports.io.ts';
import { wallet } from '../in-memory.ts';

const search: ActivitySearch = {
  user: wallet(1),
  types: null,
  side: null,
  startS: null,
  endS: null,
  markets: null,
  sortBy: 'TIMESTAMP',
  sortDirection: 'DESC',
  limit: 10,
  offset: 0,
};

const change = (inOffset: number, changes: Partial<HoldingChange> = {}): HoldingChange => ({
  partition: 0,
  inOffset,
  eventIndex: 0,
  timeMs: 1_000 * inOffset,
  wallet: wallet(1),
  market: 1,
  outcome: 0,
  changeMicro: 1_000_000,
  price: 5_000,
  cause: 'TAKER',
  ...changes,
});

const split = [
  change(2, { cause: 'SPLIT', changeMicro: 3_000_000 }),
  change(2, { cause: 'SPLIT', changeMicro: 3_000_000, outcome: 1 }),
];
const redeemed = [
  change(4, { cause: 'REDEEM', changeMicro: -2_000_000, price: null }),
  change(4, { cause: 'REDEEM', changeMicro: -2_000_000, price: null, outcome: 1 }),
];
const sale = change(3, { cause: 'MAKER', changeMicro: -4_000_000, price: 2_500 });

test('fills are trades, and the tokens of one move are one thing done', () => {
  const payoutOf = (_market: number, outcome: 0 | 1) => (outcome === 0 ? 10_000 : 0);
  const rows = newestActivity([...split, sale, ...redeemed], search, payoutOf);
  expect(rows.map((row) => [row.type, row.side, row.sizeMicro, row.usdcMicro]).sort()).toEqual([
    ['REDEEM', null, 4_000_000, 2_000_000],
    ['SPLIT', null, 3_000_000, 3_000_000],
    ['TRADE', 'SELL', 4_000_000, 1_000_000],
  ]);
});

test.each<[string, Partial<ActivitySearch>, readonly string[]]>([
  ['types', { types: ['SPLIT'] }, ['SPLIT']],
  ['a side, which only trades have', { side: 'SELL' }, ['TRADE']],
  ['markets', { markets: [2] }, []],
  ['a begin', { startS: 3 }, ['TRADE']],
  ['an end, included', { endS: 2 }, ['SPLIT']],
])('the newest records are filtered by %s', (_name, narrowed, types) => {
  const rows = newestActivity([...split, sale], { ...search, ...narrowed }, () => null);
  expect(rows.map(({ type }) => type)).toEqual(types);
});

test('a page has the newest records before those of the tables, which are read up to the cutover', async () => {
  const asked: Record<string, unknown>[] = [];
  const row = { partition: 0, in_offset: '1', event_index: 0, time_ms: '1000', type: 'TRADE' };
  const stored = {
    ...row,
    number: 1,
    token: 0,
    taken: 'BUY',
    paid: '0.5',
    moved: '1',
    money: '0.5',
  };
  const clickhouse = {
    selectRows: async (sql: string, params: Record<string, unknown>) => {
      asked.push({ ...params, isBounded: sql.includes('in_offset < {cutover:Array(UInt64)}') });
      return [stored];
    },
  } as unknown as Pick<ClickHouse, 'selectRows'>;
  const recent = new RecentLog();
  const holdings = () => ({ cutover: [2], rows: [...split, sale] });
  const newest = Object.assign(recent, { holdings });
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const reports = new Reports(clickhouse, clock, newest);
  const offsetsOf = async (asc: boolean) => {
    const sortDirection = asc ? 'ASC' : 'DESC';
    const rows = await reports.activity({ ...search, sortDirection });
    return rows.map(({ inOffset }) => inOffset);
  };
  expect(await offsetsOf(false)).toEqual(['3', '2', '1']);
  expect(await offsetsOf(true)).toEqual(['1', '2', '3']);
  expect(asked[0]).toMatchObject({ cutover: [2], isBounded: true, limit: 10, offset: 0 });
  const second = await reports.activity({ ...search, limit: 1, offset: 2 });
  expect(second.map(({ inOffset }) => inOffset)).toEqual(['1']);
});
