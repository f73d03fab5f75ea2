import { outcomeOf, storedMicro, storedPrice } from '@pm/domain/reading/numbers';
import type { TradeRow } from '@pm/domain/reports/rows';
import { leastText, type TapeSearch } from '@pm/domain/reports/tape-query';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas/tables/tables';
import type { CutoverOffsets } from '../recent/recent-log.ts';
import { readNewest } from '../tables/read-pieces.io.ts';
import {
  beforeCutover,
  Conditions,
  cutoverParams,
  newestFirst,
  placeKey,
  sideKey,
  timeBefore,
  windowOf,
} from '../tables/statement.io.ts';

interface Row {
  readonly partition: number;
  readonly in_offset: string;
  readonly event_index: number;
  readonly time_ms: string;
  readonly trader: string;
  readonly market: number;
  readonly token: number;
  readonly taken: 'BUY' | 'SELL';
  readonly paid: string;
  readonly size: string;
}

/** A table that has the requested trades in a good order, and the names of its columns. */
interface Tape {
  readonly table: string;
  readonly wallet: string;
  readonly outcome: string;
  readonly side: string;
  readonly price: string;
  /** Condition on the role; empty where rows are takers anyway. */
  readonly takers: string;
  /** The columns that identify a row. */
  readonly key: readonly string[];
}

const bySide = { wallet: 'wallet', outcome: 'outcome', side: 'side', price: 'price' };
const takers = "role = 'TAKER'";
const ofWallet: Tape = { ...bySide, table: tables.walletFills.name, takers, key: sideKey };
const byTime: Tape = { ...bySide, table: tables.tape.name, takers, key: sideKey };
const ofMarket: Tape = {
  table: tables.fills.name,
  wallet: 'taker',
  outcome: 'taker_outcome',
  side: 'taker_side',
  price: 'taker_price',
  takers: '',
  key: placeKey,
};

/** Bounds of a read of the tape besides its search: rows before the cutover, by the time `nowS`, Unix seconds. */
export interface TapeReading {
  readonly cutover: CutoverOffsets;
  readonly nowS: number;
}

/** Trades of all wallets, newest first; a repeated row counts once. */
export async function readTape(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  search: TapeSearch,
  { cutover, nowS }: TapeReading,
): Promise<readonly TradeRow[]> {
  const tape = tapeFor(search);
  const where = conditionsOf(search, tape);
  const { wallet, outcome, side, price, key } = tape;
  const sql = `
SELECT partition, in_offset, event_index, toUnixTimestamp64Milli(time) AS time_ms, ${wallet} AS trader, market,
  ${outcome} AS token, ${side} AS taken, ${price} AS paid, size
FROM (
  SELECT * FROM ${tape.table}
  WHERE ${where.text} ${beforeCutover(cutover, 'in_offset')}
  ${newestFirst(key)}
  LIMIT {window:UInt32}
)
${newestFirst(key)}
LIMIT 1 BY ${key.join()}
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
SETTINGS max_execution_time = 5`;
  const { limit, startS, endS } = search;
  const readSince = (sinceS: number) =>
    clickhouse.selectRows<Row>(sql, { ...where.params, ...cutoverParams(cutover), since: sinceS });
  // Trades of one wallet or market are sorted by it, and seldom fill a page within a day.
  const rows =
    tape === byTime
      ? await readNewest({ limit, untilS: Math.min(endS ?? nowS, nowS), sinceS: startS }, readSince)
      : await readSince(startS ?? 0);
  return rows.map((row) => ({
    partition: row.partition,
    inOffset: row.in_offset,
    eventIndex: row.event_index,
    timeMs: Number(row.time_ms),
    wallet: row.trader,
    market: row.market,
    outcome: outcomeOf(row.token),
    side: row.taken,
    price: storedPrice(row.paid),
    sizeMicro: storedMicro(row.size),
  }));
}

function tapeFor({ user, markets, takerOnly }: TapeSearch): Tape {
  if (user !== null) return ofWallet;
  return markets !== null && takerOnly ? ofMarket : byTime;
}

function conditionsOf(search: TapeSearch, tape: Tape): Conditions {
  const { user, markets, side, takerOnly, least, endS, limit, offset } = search;
  const where = new Conditions({ limit, offset, window: windowOf({ limit, offset }) });
  where.add('time >= fromUnixTimestamp({since:UInt32})');
  if (user !== null) where.add(`${tape.wallet} = {user:String}`, { user });
  if (markets !== null) where.add('market IN {markets:Array(UInt32)}', { markets: [...markets] });
  if (takerOnly && tape.takers !== '') where.add(tape.takers);
  if (side !== null) where.add(`${tape.side} = {side:String}`, { side });
  if (endS !== null) where.add(timeBefore('end'), { end: endS + 1 });
  if (least?.of === 'TOKENS')
    where.add('size >= toDecimal64({least:String}, 6)', { least: leastText(least.micro) });
  if (least?.of === 'CASH')
    where.add(`size * ${tape.price} >= toDecimal128({least:String}, 6)`, {
      least: leastText(least.micro),
    });
  return where;
}
