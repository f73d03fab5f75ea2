import type { FilledRow, OrderEventRow, StatedRow } from '@pm/domain/orders/order-read';
import { outcomeOf, storedMicro, storedPrice } from '@pm/domain/reading/numbers';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas/tables/tables';
import type { CutoverOffsets } from '../recent/recent-log.ts';
import { readInPieces } from '../tables/read-pieces.io.ts';
import { beforeCutover, cutoverParams } from '../tables/statement.io.ts';

/** Events of one order that are read; a resting order meets one taker per event. */
const eventsMax = 10_000;

interface PlaceCells {
  readonly partition: number;
  readonly in_offset: string;
  readonly event_index: number;
  readonly time_ms: string;
  readonly order_id: string;
  readonly wallet: string;
  readonly api_key: string;
  readonly market: number;
}

interface PricedCells extends PlaceCells {
  readonly outcome: number;
  readonly side: StatedRow['side'];
  readonly price: string;
  readonly size: string;
  readonly resting: string;
}

interface StatedCells extends PricedCells {
  readonly kind: StatedRow['kind'];
  readonly time_in_force: StatedRow['timeInForce'];
  /** Null for never. */
  readonly expires_ms: string | null;
  readonly accepted_ms: string;
  readonly status: string;
}

interface FilledCells extends PricedCells {
  readonly kind: 'FILLED';
  readonly role: FilledRow['role'];
}

interface CanceledCells extends PlaceCells {
  readonly kind: 'CANCELED';
  readonly size: string;
  readonly reason: string;
}

interface RefusedCells extends PlaceCells {
  readonly kind: 'REFUSED';
  readonly reason: string;
}

type Cells = StatedCells | FilledCells | CanceledCells | RefusedCells;

const orderEventCells = `partition, in_offset, event_index, toUnixTimestamp64Milli(time) AS time_ms, order_id, kind,
  wallet, api_key, market, outcome, side, time_in_force, price, size, resting,
  toUnixTimestamp64Milli(expires_at) AS expires_ms,
  toUnixTimestamp64Milli(accepted_at) AS accepted_ms, status, reason, role`;

/** Placement, refusal and end come first: a fold of the first rows knows how it ended even if fills are cut off. */
const sql = (cutover: CutoverOffsets): string => `
SELECT ${orderEventCells}
FROM ${tables.orderEvents.name} FINAL
WHERE order_id IN {ids:Array(String)} ${beforeCutover(cutover, 'in_offset')}
ORDER BY order_id, kind = 'FILLED', partition, in_offset, event_index
LIMIT {rows:UInt32} BY order_id
SETTINGS max_execution_time = 5, max_threads = 1`;

/**
 * All events of these orders before the cutover: of each placement, refusal and end first, then its
 * fills.
 */
export async function readOrderEvents(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  ids: readonly string[],
  cutover: CutoverOffsets,
): Promise<readonly OrderEventRow[]> {
  return await readInPieces(ids, async (some) => {
    const params = { ids: some, rows: eventsMax, ...cutoverParams(cutover) };
    return (await clickhouse.selectRows<Cells>(sql(cutover), params)).map(orderEventOf);
  });
}

function orderEventOf(cells: Cells): OrderEventRow {
  const place = placeOf(cells);
  switch (cells.kind) {
    case 'FILLED':
      return { ...place, ...pricedOf(cells), kind: 'FILLED', role: cells.role };
    case 'CANCELED': {
      const { kind, reason, size } = cells;
      return { ...place, kind, reason, sizeMicro: storedMicro(size) };
    }
    case 'REFUSED':
      return { ...place, kind: 'REFUSED', reason: cells.reason };
    default:
      return {
        ...place,
        ...pricedOf(cells),
        kind: cells.kind,
        timeInForce: cells.time_in_force,
        expiresAtMs: Number(cells.expires_ms ?? 0),
        acceptedAtMs: Number(cells.accepted_ms),
        status: cells.status,
      };
  }
}

function placeOf(cells: PlaceCells) {
  return {
    partition: cells.partition,
    inOffset: cells.in_offset,
    eventIndex: cells.event_index,
    timeMs: Number(cells.time_ms),
    orderId: cells.order_id,
    wallet: cells.wallet,
    apiKey: cells.api_key,
    market: cells.market,
  };
}

function pricedOf({ outcome, side, price, size, resting }: PricedCells) {
  return {
    outcome: outcomeOf(outcome),
    side,
    price: storedPrice(price),
    sizeMicro: storedMicro(size),
    restingMicro: storedMicro(resting),
  };
}
