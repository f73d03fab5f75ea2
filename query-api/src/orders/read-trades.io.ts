import type { FillRow } from '@pm/domain/orders/trades';
import { outcomeOf, storedMicro, storedPrice } from '@pm/domain/reading/numbers';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas/tables/tables';
import type { CutoverOffsets } from '../recent/recent-log.ts';
import {
  beforeCutover,
  Conditions,
  cutoverParams,
  newestFirst,
  placeBehind,
  placeKey,
  timeBefore,
} from '../tables/statement.io.ts';
import type { TradeSearch } from './trade-search.ts';

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
const lookedThroughMax = 50_000;

/** On the caller's own rows. */
function ownConditions(search: TradeSearch): Conditions {
  const { wallets, keys, query, market, outcome, after } = search;
  const { place, beforeS, afterS, taker, maker } = query;
  const where = new Conditions();
  where.add('wallet IN {wallets:Array(String)}', { wallets: [...wallets] });
  where.add('api_key IN {keys:Array(String)}', { keys: [...keys] });
  if (place !== null) {
    const { partition, inOffset, eventIndex } = place;
    where.add('partition = {partition:UInt16}', { partition });
    where.add('in_offset = {inOffset:UInt64}', { inOffset: String(inOffset) });
    where.add('event_index = {eventIndex:UInt32}', { eventIndex });
  }
  if (market !== null) where.add('market = {market:UInt32}', { market });
  if (outcome !== null) where.add('outcome = {outcome:UInt8}', { outcome });
  if (after !== null) where.add(...placeBehind(after));
  // Both bounds are strict and whole seconds.
  if (beforeS !== null) where.add(timeBefore('before'), { before: beforeS });
  if (afterS !== null)
    where.add('time >= fromUnixTimestamp({after:UInt32})', { after: afterS + 1 });
  if (taker !== null && isOnly(wallets, taker)) where.add("role = 'TAKER'");
  if (maker !== null && isOnly(wallets, maker)) where.add("role = 'MAKER'");
  return where;
}

/** On whole fills: who met whom, where the caller's own rows do not say it all. */
function fillConditions({ wallets, query: { taker, maker } }: TradeSearch): Conditions {
  const where = new Conditions();
  if (taker !== null && !isOnly(wallets, taker)) where.add('taker = {taker:String}', { taker });
  if (maker !== null && !isOnly(wallets, maker)) where.add('maker = {maker:String}', { maker });
  return where;
}

function isOnly(wallets: ReadonlySet<string>, wallet: string): boolean {
  return wallets.size === 1 && wallets.has(wallet);
}

/**
 * The newest requested trades before the cutover, with both sides. The fills of the wallets say which, in their order;
 * the fills are then found by their key (the tuple is a prefix of it), never by a scan or a join that would load all.
 */
export async function readTrades(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  search: TradeSearch,
  cutover: CutoverOffsets,
): Promise<readonly FillRow[]> {
  const own = ownConditions(search);
  const whole = fillConditions(search);
  const namesOther = !whole.isEmpty;
  const page = 'LIMIT {limit:UInt32}';
  const sql = `
SELECT partition, in_offset, event_index, toUnixTimestamp64Milli(time) AS time_ms, market, size,
  taker_order, taker, taker_key, taker_outcome, taker_side, taker_price,
  maker_order, maker, maker_key, maker_outcome, maker_side, maker_price, fee_rate_bps
FROM ${tables.fills.name} FINAL
WHERE (market, time, partition, in_offset, event_index) IN (
  SELECT market, time, partition, in_offset, event_index FROM ${tables.walletFills.name}
  WHERE ${own.text} ${beforeCutover(cutover, 'in_offset')}
  ${newestFirst(placeKey)}
  LIMIT 1 BY ${placeKey.join()}
  ${namesOther ? 'LIMIT {lookedThrough:UInt32}' : page}
) ${namesOther ? `AND ${whole.text}` : ''}
${newestFirst(placeKey)}
${page}
SETTINGS max_execution_time = 5`;
  const rows = await clickhouse.selectRows<Row>(sql, {
    ...own.params,
    ...whole.params,
    ...cutoverParams(cutover),
    limit: search.limit,
    ...(namesOther ? { lookedThrough: lookedThroughMax } : {}),
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
