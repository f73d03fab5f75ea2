import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas';
import type { Seams } from '../recent/recent-log.ts';
import { outcomeOf, storedMicro, storedPrice } from '../tables/numbers.ts';
import { readInPieces } from '../tables/read-pieces.io.ts';
import { andInFrontOf, seamParams } from '../tables/statement.io.ts';
import type { OrderEventRow } from './order-read.ts';

/** Events of one order that are read; a resting order meets one taker per event. */
const eventsMax = 10_000;

interface Row {
  readonly partition: number;
  readonly in_offset: string;
  readonly event_index: number;
  readonly time_ms: string;
  readonly order_id: string;
  readonly kind: OrderEventRow['kind'];
  readonly wallet: string;
  readonly api_key: string;
  readonly market: number;
  readonly outcome: number;
  readonly side: OrderEventRow['side'];
  readonly time_in_force: OrderEventRow['timeInForce'];
  readonly price: string;
  readonly size: string;
  readonly resting: string;
  readonly expires_ms: string;
  readonly accepted_ms: string;
  readonly status: string;
  readonly reason: string;
  readonly role: OrderEventRow['role'];
}

const orderEventCells = `partition, in_offset, event_index, toUnixTimestamp64Milli(time) AS time_ms, order_id, kind,
  wallet, api_key, market, outcome, side, time_in_force, price, size, resting,
  toUnixTimestamp64Milli(expires_at) AS expires_ms,
  toUnixTimestamp64Milli(accepted_at) AS accepted_ms, status, reason, role`;

/** Placement, refusal and end come first: a fold of the first rows knows how it ended even if fills are cut off. */
const sql = (seams: Seams): string => `
SELECT ${orderEventCells}
FROM ${tables.orderEvents.name} FINAL
WHERE order_id IN {ids:Array(String)} ${andInFrontOf(seams, 'in_offset')}
ORDER BY order_id, kind = 'FILLED', partition, in_offset, event_index, role
LIMIT {rows:UInt32} BY order_id
SETTINGS max_execution_time = 5, max_threads = 1`;

/**
 * All events of these orders before the seams: of each placement, refusal and end first, then its
 * fills.
 */
export async function readOrderEvents(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  ids: readonly string[],
  seams: Seams,
): Promise<readonly OrderEventRow[]> {
  return await readInPieces(ids, async (some) => {
    const params = { ids: some, rows: eventsMax, ...seamParams(seams) };
    return (await clickhouse.selectRows<Row>(sql(seams), params)).map(orderEventOf);
  });
}

function orderEventOf(row: Row): OrderEventRow {
  return {
    partition: row.partition,
    inOffset: row.in_offset,
    eventIndex: row.event_index,
    timeMs: Number(row.time_ms),
    orderId: row.order_id,
    kind: row.kind,
    wallet: row.wallet,
    apiKey: row.api_key,
    market: row.market,
    outcome: outcomeOf(row.outcome),
    side: row.side,
    timeInForce: row.time_in_force,
    price: storedPrice(row.price),
    sizeMicro: storedMicro(row.size),
    restingMicro: storedMicro(row.resting),
    expiresAtMs: Number(row.expires_ms),
    acceptedAtMs: Number(row.accepted_ms),
    status: row.status,
    reason: row.reason,
    role: row.role,
  };
}
