import type { ClickHouse, QueryParameter } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas';
import type { Seams } from '../core/recent/recent-log.ts';
import { outcomeOf, storedMicro, storedPrice } from '../core/stored-numbers.ts';
import type { TradeSearch } from '../core/trade-search.ts';
import type { FillRow } from '../core/trades.ts';
import { andInFrontOf, seamParams } from './seam-source.ts';

interface Row {
  readonly partition: number;
  readonly in_offset: string;
  readonly event_index: number;
  readonly time_ms: string;
  readonly market: number;
  readonly size: string;
  readonly taker_order: string;
  readonly taker: string;
  readonly taker_key: string;
  readonly taker_outcome: number;
  readonly taker_side: 'BUY' | 'SELL';
  readonly taker_price: string;
  readonly maker_order: string;
  readonly maker: string;
  readonly maker_key: string;
  readonly maker_outcome: number;
  readonly maker_side: 'BUY' | 'SELL';
  readonly maker_price: string;
  readonly fee_rate_bps: number;
}

/** Trades of a wallet that are looked through when the other side is named, newest first. */
const LOOKED_THROUGH_MAX = 50_000;

const newestFirst = 'ORDER BY time DESC, partition DESC, in_offset DESC, event_index DESC';

/** Conditions on the caller's own rows, and their parameters. */
interface Conditions {
  readonly texts: string[];
  readonly params: Record<string, QueryParameter>;
}

/** Rows of the tables that are wanted: in front of the seams, `count` from the newest but `from`. */
export interface StoredTrades {
  readonly seams: Seams;
  readonly from: number;
  readonly count: number;
}

function ownConditions({ wallets, keys, query, market, outcome }: TradeSearch): Conditions {
  const { place, beforeS, afterS, taker, maker } = query;
  const texts = ['wallet IN {wallets:Array(String)}', 'api_key IN {keys:Array(String)}'];
  const params: Record<string, QueryParameter> = { wallets: [...wallets], keys: [...keys] };
  const add = (text: string, values: Record<string, QueryParameter>): void => {
    texts.push(text);
    Object.assign(params, values);
  };
  if (place !== null) {
    const { partition, inOffset, eventIndex } = place;
    add('partition = {partition:UInt16}', { partition });
    add('in_offset = {inOffset:UInt64}', { inOffset: String(inOffset) });
    add('event_index = {eventIndex:UInt32}', { eventIndex });
  }
  if (market !== null) add('market = {market:UInt32}', { market });
  if (outcome !== null) add('outcome = {outcome:UInt8}', { outcome });
  // Both bounds are strict and whole seconds.
  if (beforeS !== null) add('time < fromUnixTimestamp({before:UInt32})', { before: beforeS });
  if (afterS !== null) add('time >= fromUnixTimestamp({after:UInt32})', { after: afterS + 1 });
  if (taker !== null && wallets.size === 1 && wallets.has(taker)) texts.push("role = 'TAKER'");
  if (maker !== null && wallets.size === 1 && wallets.has(maker)) texts.push("role = 'MAKER'");
  return { texts, params };
}

/** Conditions on whole fills: who met whom, where the caller's own rows do not say it all. */
function fillConditions({ wallets, query: { taker, maker } }: TradeSearch): Conditions {
  const texts: string[] = [];
  const params: Record<string, QueryParameter> = {};
  const isSaid = (wallet: string) => wallets.size === 1 && wallets.has(wallet);
  if (taker !== null && !isSaid(taker)) {
    texts.push('AND taker = {taker:String}');
    params['taker'] = taker;
  }
  if (maker !== null && !isSaid(maker)) {
    texts.push('AND maker = {maker:String}');
    params['maker'] = maker;
  }
  return { texts, params };
}

/**
 * Trades of wallets with both sides. The wallets' own ledger says which, in its order; the fills are then found by their
 * key (the tuple is a prefix of it), never by a scan or a join that would load them all.
 */
export async function readTrades(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  search: TradeSearch,
  { seams, from, count }: StoredTrades,
): Promise<readonly FillRow[]> {
  const own = ownConditions(search);
  const whole = fillConditions(search);
  const namesOther = whole.texts.length > 0;
  const page = 'LIMIT {limit:UInt32} OFFSET {offset:UInt32}';
  const sql = `
SELECT partition, in_offset, event_index, toUnixTimestamp64Milli(time) AS time_ms, market, size,
  taker_order, taker, taker_key, taker_outcome, taker_side, taker_price,
  maker_order, maker, maker_key, maker_outcome, maker_side, maker_price, fee_rate_bps
FROM ${tables.fills.name} FINAL
WHERE (market, time, partition, in_offset, event_index) IN (
  SELECT market, time, partition, in_offset, event_index FROM ${tables.walletFills.name}
  WHERE ${own.texts.join(' AND ')} ${andInFrontOf(seams, 'in_offset')}
  ${newestFirst}
  LIMIT 1 BY partition, in_offset, event_index
  ${namesOther ? 'LIMIT {lookedThrough:UInt32}' : page}
) ${whole.texts.join(' ')}
${newestFirst}
${namesOther ? page : 'LIMIT {limit:UInt32}'}
SETTINGS max_execution_time = 5`;
  const rows = await clickhouse.selectRows<Row>(sql, {
    ...own.params,
    ...whole.params,
    ...seamParams(seams),
    limit: count,
    offset: from,
    ...(namesOther ? { lookedThrough: LOOKED_THROUGH_MAX } : {}),
  });
  return rows.map(fillOf);
}

function fillOf(row: Row): FillRow {
  return {
    partition: row.partition,
    inOffset: row.in_offset,
    eventIndex: row.event_index,
    timeMs: Number(row.time_ms),
    market: row.market,
    sizeMicro: storedMicro(row.size),
    takerOrder: row.taker_order,
    taker: row.taker,
    takerKey: row.taker_key,
    takerOutcome: outcomeOf(row.taker_outcome),
    takerSide: row.taker_side,
    takerPrice: storedPrice(row.taker_price),
    makerOrder: row.maker_order,
    maker: row.maker,
    makerKey: row.maker_key,
    makerOutcome: outcomeOf(row.maker_outcome),
    makerSide: row.maker_side,
    makerPrice: storedPrice(row.maker_price),
    feeRateBps: row.fee_rate_bps,
  };
}
