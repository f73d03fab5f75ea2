import { outcomeOf, storedMicro, storedPrice } from '@pm/domain/reading/numbers';
import type { BuilderRow, BuilderSide, BuilderVolumeRow } from '@pm/domain/reports/rows';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas/tables/tables';
import { readNewest } from '../tables/read-pieces.io.ts';
import {
  Conditions,
  newestFirst,
  placeAt,
  placeBehind,
  sideKey,
  timeBefore,
  windowOf,
} from '../tables/statement.io.ts';
import type { BuilderSearch, SideRow } from './builder-trades.ts';
import type { BuilderVolumeSearch } from './builder-volumes.ts';

interface Row {
  readonly partition: number;
  readonly in_offset: string;
  readonly event_index: number;
  readonly time_ms: string;
  readonly role: 'TAKER' | 'MAKER';
  readonly builder: string;
  readonly market: number;
  readonly size: string;
  readonly fee: string;
  readonly fee_rate_bps: number;
  readonly taker_order: string;
  readonly taker: string;
  readonly taker_outcome: number;
  readonly taker_side: 'BUY' | 'SELL';
  readonly taker_price: string;
  readonly maker_order: string;
  readonly maker: string;
  readonly maker_outcome: number;
  readonly maker_side: 'BUY' | 'SELL';
  readonly maker_price: string;
}

/** A field of the side that names the builder; of wallets it is the expression of the index `owners`. */
const own = (taker: string, maker: string): string => `if(role = 'TAKER', ${taker}, ${maker})`;

/** Sides of fills that name a builder, newest first; a repeated row counts once. `nowS` is the time, Unix seconds. */
export async function readBuilderTrades(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  search: BuilderSearch,
  nowS: number,
): Promise<readonly BuilderRow[]> {
  const where = conditionsOf(search);
  const sql = `
SELECT partition, in_offset, event_index, toUnixTimestamp64Milli(time) AS time_ms, role, builder,
  market, size, fee, fee_rate_bps, taker_order, taker, taker_outcome, taker_side, taker_price,
  maker_order, maker, maker_outcome, maker_side, maker_price
FROM (
  SELECT * FROM ${tables.builderFills.name}
  WHERE ${where.text}
  ${newestFirst(sideKey)}
  LIMIT {window:UInt32}
)
${newestFirst(sideKey)}
LIMIT 1 BY ${sideKey.join()}
LIMIT {limit:UInt32}
SETTINGS max_execution_time = 5`;
  const { beforeS, afterS } = search.query;
  const newest = {
    // A place has one row.
    limit: search.query.place === null ? search.limit : 1,
    untilS: Math.min(beforeS ?? nowS, secondOf(search.after) ?? nowS, nowS),
    sinceS: afterS === null ? null : afterS + 1,
  };
  const rows = await readNewest(newest, (sinceS) =>
    clickhouse.selectRows<Row>(sql, { ...where.params, since: sinceS }),
  );
  return rows.map(builderRow);
}

function conditionsOf({ query, market, outcome, after, limit }: BuilderSearch): Conditions {
  const { place, wallet, builder, beforeS } = query;
  const where = new Conditions({ limit, window: windowOf({ limit, offset: 0 }) });
  where.add('time >= fromUnixTimestamp({since:UInt32})');
  if (place !== null) {
    const { partition, inOffset, eventIndex, role } = place;
    where.add('partition = {partition:UInt16}', { partition });
    where.add('in_offset = {inOffset:UInt64}', { inOffset: String(inOffset) });
    where.add('event_index = {eventIndex:UInt32}', { eventIndex });
    where.add('role = {role:String}', { role });
  }
  if (wallet !== null) where.add(`${own('taker', 'maker')} = {wallet:String}`, { wallet });
  if (builder !== null) where.add('builder = {builder:String}', { builder });
  if (market !== null) where.add('market = {market:UInt32}', { market });
  if (outcome !== null)
    where.add(`${own('taker_outcome', 'maker_outcome')} = {outcome:UInt8}`, { outcome });
  if (beforeS !== null) where.add(timeBefore('before'), { before: beforeS });
  if (after !== null) where.add(...sideBehind(after));
  return where;
}

/** The list shows the maker of a fill before its taker. */
function sideBehind(after: SideRow): readonly [string, Conditions['params']] {
  const [text, params] = placeBehind(after);
  if (after.role === 'TAKER') return [text, params];
  return [`((${text}) OR (${placeAt} AND role = 'TAKER'))`, params];
}

/** Within the second, rounded up. */
function secondOf(place: { readonly timeMs: number } | null): number | null {
  return place === null ? null : Math.ceil(place.timeMs / 1000);
}

function builderRow(row: Row): BuilderRow {
  const taker: BuilderSide = {
    order: row.taker_order,
    wallet: row.taker,
    outcome: outcomeOf(row.taker_outcome),
    side: row.taker_side,
    price: storedPrice(row.taker_price),
  };
  const maker: BuilderSide = {
    order: row.maker_order,
    wallet: row.maker,
    outcome: outcomeOf(row.maker_outcome),
    side: row.maker_side,
    price: storedPrice(row.maker_price),
  };
  return {
    partition: row.partition,
    inOffset: row.in_offset,
    eventIndex: row.event_index,
    timeMs: Number(row.time_ms),
    role: row.role,
    builder: row.builder,
    market: row.market,
    sizeMicro: storedMicro(row.size),
    feeMicro: storedMicro(row.fee),
    feeRateBps: row.fee_rate_bps,
    taker,
    maker,
  };
}

interface VolumeRow {
  readonly builder: string;
  readonly day: string;
  readonly volume: string;
  readonly wallets: string;
}

/** Builders of one answer: who sends orders under new codes all the time is not shown in full. */
const buildersMax = 10_000;

/** Notional and traders of builders, of a whole period or day by day. */
export async function readBuilderVolumes(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  { sinceS, builder, daily }: BuilderVolumeSearch,
): Promise<readonly BuilderVolumeRow[]> {
  const sql = `
SELECT builder, ${daily ? 'toString(toDate(time))' : "''"} AS day,
  toString(sum(toDecimal128(size, 6) * ${own('taker_price', 'maker_price')})) AS volume,
  uniqExact(${own('taker', 'maker')}) AS wallets
FROM ${tables.builderFills.name} FINAL
WHERE time >= fromUnixTimestamp({since:UInt32})${builder === null ? '' : ' AND builder = {builder:String}'}
GROUP BY builder, day
ORDER BY sum(toDecimal128(size, 6) * ${own('taker_price', 'maker_price')}) DESC, builder, day
LIMIT {rows:UInt32}
SETTINGS max_execution_time = 10`;
  const params = { since: sinceS, rows: buildersMax, ...(builder === null ? {} : { builder }) };
  const rows = await clickhouse.selectRows<VolumeRow>(sql, params);
  return rows.map((row) => ({
    builder: row.builder,
    day: row.day,
    volumeMicro: storedMicro(row.volume),
    wallets: Number(row.wallets),
  }));
}
