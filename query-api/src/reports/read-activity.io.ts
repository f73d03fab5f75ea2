import { outcomeOf, storedMicro, storedPrice } from '@pm/domain/reading/numbers';
import type { ActivitySearch } from '@pm/domain/reports/activity';
import { type ActivityRow, activityTypes } from '@pm/domain/reports/rows';
import type { ClickHouse, QueryParameter } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas/tables/tables';
import type { CutoverOffsets } from '../recent/recent-log.ts';
import {
  beforeCutover,
  cutoverParams,
  inOrder,
  placeKey,
  sideKey,
  timeBefore,
} from '../tables/statement.io.ts';

interface Row {
  readonly partition: number;
  readonly in_offset: string;
  readonly event_index: number;
  readonly time_ms: string;
  readonly type: string;
  readonly number: number;
  readonly token: number;
  readonly taken: '' | 'BUY' | 'SELL';
  readonly paid: string;
  readonly moved: string;
  readonly money: string;
}

const place = placeKey.join();
const orders = {
  TIMESTAMP: 'at',
  TOKENS: 'shares',
  CASH: 'usdc',
} as const satisfies Record<ActivitySearch['sortBy'], string>;
const moves = ['SPLIT', 'MERGE', 'REDEEM'];

/** Activity of a wallet before the cutover, trades and the rest together; a repeated row counts once. */
export async function readActivity(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  search: ActivitySearch,
  cutover: CutoverOffsets,
): Promise<readonly ActivityRow[]> {
  const types = search.types ?? activityTypes;
  const parts = [
    ...(types.includes('TRADE') ? [tradesSql(search, cutover)] : []),
    ...(search.side === null && moves.some((move) => types.some((type) => type === move))
      ? [movesSql(search, cutover)]
      : []),
  ];
  if (parts.length === 0) return [];
  // A wallet that traded with itself was both sides of a fill.
  const order = inOrder([orders[search.sortBy], 'at', ...placeKey, 'leg'], search.sortDirection);
  const sql = `
SELECT ${place}, toUnixTimestamp64Milli(at) AS time_ms, type, number, token, taken, paid,
  toString(shares) AS moved, toString(usdc) AS money
FROM (${parts.join(' UNION ALL ')})
${order}
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
SETTINGS max_execution_time = 5`;
  const params = { ...paramsOf(search, types), ...cutoverParams(cutover) };
  const rows = await clickhouse.selectRows<Row>(sql, params);
  return rows.map(activityOf);
}

function tradesSql(search: ActivitySearch, cutover: CutoverOffsets): string {
  const side = search.side === null ? '' : ' AND side = {side:String}';
  return `
SELECT ${place}, toInt8(role) AS leg, time AS at, 'TRADE' AS type, market AS number,
  toInt16(outcome) AS token, toString(side) AS taken, price AS paid,
  CAST(size AS Decimal(38, 6)) AS shares, CAST(size * price AS Decimal(38, 6)) AS usdc
FROM ${tables.walletFills.name}
WHERE ${common(search)}${side} ${beforeCutover(cutover, 'in_offset')}
ORDER BY time DESC
LIMIT 1 BY ${sideKey.join()}`;
}

/** The tokens of one move are one thing done. Pairs count once, redeemed tokens all. */
function movesSql(search: ActivitySearch, cutover: CutoverOffsets): string {
  return `
SELECT ${place}, toInt8(0) AS leg, min(time) AS at, toString(any(action)) AS type,
  any(market) AS number, toInt16(-1) AS token, '' AS taken, toDecimal32(0, 4) AS paid,
  CAST(if(any(action) = 'REDEEM', sum(size), max(size)) AS Decimal(38, 6)) AS shares,
  CAST(sum(size * price) AS Decimal(38, 6)) AS usdc
FROM ${tables.walletMoves.name} FINAL
WHERE ${common(search)} AND action IN {moves:Array(String)} ${beforeCutover(cutover, 'in_offset')}
GROUP BY ${place}`;
}

function common({ markets, startS, endS }: ActivitySearch): string {
  return [
    'wallet = {user:String}',
    ...(markets === null ? [] : ['market IN {markets:Array(UInt32)}']),
    ...(startS === null ? [] : ['time >= fromUnixTimestamp({start:UInt32})']),
    ...(endS === null ? [] : [timeBefore('end')]),
  ].join(' AND ');
}

function paramsOf(
  search: ActivitySearch,
  types: readonly string[],
): Readonly<Record<string, QueryParameter>> {
  const { user, markets, side, startS, endS, limit, offset } = search;
  return {
    user,
    limit,
    offset,
    moves: moves.filter((move) => types.includes(move)),
    ...(markets === null ? {} : { markets: [...markets] }),
    ...(side === null ? {} : { side }),
    ...(startS === null ? {} : { start: startS }),
    ...(endS === null ? {} : { end: endS + 1 }),
  };
}

function activityOf(row: Row): ActivityRow {
  return {
    partition: row.partition,
    inOffset: row.in_offset,
    eventIndex: row.event_index,
    timeMs: Number(row.time_ms),
    type: activityTypes.find((type) => type === row.type) ?? 'TRADE',
    market: row.number,
    outcome: row.token < 0 ? null : outcomeOf(row.token),
    side: row.taken === '' ? null : row.taken,
    price: storedPrice(row.paid),
    sizeMicro: storedMicro(row.moved),
    usdcMicro: storedMicro(row.money),
  };
}
