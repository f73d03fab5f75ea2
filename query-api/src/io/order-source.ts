import type { ClickHouse } from '@pm/kit/clickhouse';
import { type OrderId, tables } from '@pm/schemas';
import type { OrderEventRow } from '../core/order-read.ts';
import { outcomeOf, storedMicro, storedPrice } from '../core/stored-numbers.ts';

/** Events of one order that are read; a resting order meets one taker per event. */
const EVENTS_MAX = 10_000;

interface Row {
  readonly partition: number;
  readonly in_offset: string;
  readonly event_index: number;
  readonly kind: OrderEventRow['kind'];
  readonly wallet: string;
  readonly api_key: string;
  readonly market: number;
  readonly outcome: number;
  readonly side: OrderEventRow['side'];
  readonly time_in_force: OrderEventRow['timeInForce'];
  readonly price: string;
  readonly size: string;
  readonly expires_ms: string;
  readonly accepted_ms: string;
  readonly status: string;
  readonly reason: string;
}

/** Placement, refusal and end come first: a fold of the first rows knows how it ended even if fills are cut off. */
const sql = `
SELECT partition, in_offset, event_index, kind, wallet, api_key, market, outcome, side,
  time_in_force, price, size, toUnixTimestamp64Milli(expires_at) AS expires_ms,
  toUnixTimestamp64Milli(accepted_at) AS accepted_ms, status, reason
FROM ${tables.orderEvents.name} FINAL
WHERE order_id = {id:String}
ORDER BY kind = 'FILLED', partition, in_offset, event_index, role
LIMIT {rows:UInt32}
SETTINGS max_execution_time = 5, max_threads = 1`;

/** Everything that happened to an order: placement, refusal and end first, then its fills in order. */
export async function readOrderEvents(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  id: OrderId,
): Promise<readonly OrderEventRow[]> {
  const rows = await clickhouse.selectRows<Row>(sql, { id, rows: EVENTS_MAX });
  return rows.map((row) => ({
    partition: row.partition,
    inOffset: row.in_offset,
    eventIndex: row.event_index,
    kind: row.kind,
    wallet: row.wallet,
    apiKey: row.api_key,
    market: row.market,
    outcome: outcomeOf(row.outcome),
    side: row.side,
    timeInForce: row.time_in_force,
    price: storedPrice(row.price),
    sizeMicro: storedMicro(row.size),
    expiresAtMs: Number(row.expires_ms),
    acceptedAtMs: Number(row.accepted_ms),
    status: row.status,
    reason: row.reason,
  }));
}
