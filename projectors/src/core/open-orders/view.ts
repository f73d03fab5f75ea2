import {
  apiKeyFromBytes,
  type Execution,
  type ExecutionEvent,
  type OrderPlaced,
  orderIdFromBytes,
  tables,
  walletFromBytes,
} from '@pm/schemas';
import { type Row, recordView, type View } from '../rows.ts';
import { epochText, timeText } from '../time.ts';

/** What ended an order, as far as a row needs it. */
interface EndedOrder {
  readonly orderId: Buffer;
  readonly wallet: Buffer;
  readonly apiKey: Buffer;
  readonly market: number;
}

/**
 * Table `open_orders`: a row when an order comes to rest and one when it has left the book, one at most per order and record,
 * since a version speaks for a whole record. Fills that leave a rest write nothing: sizes are read from `order_events`.
 */
export function openOrdersView(partition: number): View {
  return recordView([tables.openOrders], (execution) => [rowsOf(partition, execution)]);
}

function rowsOf(partition: number, execution: Execution): readonly Row[] {
  const rows = new Map<string, Row>();
  const place = [partition, execution.inOffset];
  for (const event of execution.events) {
    if (event.kind === 'OrderPlaced' && event.restingMicro > 0) {
      const row = [...placedCells(event, execution.timeMs), ...place, 0];
      rows.set(orderIdFromBytes(event.orderId), row);
    }
    const ended = endedBy(event);
    if (ended !== null) {
      rows.set(orderIdFromBytes(ended.orderId), [...endedCells(ended), ...place, 1]);
    }
  }
  return [...rows.values()];
}

function endedBy(event: ExecutionEvent): EndedOrder | null {
  if (event.kind === 'OrderCanceled') return { ...event, wallet: event.maker };
  if (event.kind !== 'Fill' || event.makerRestMicro > 0) return null;
  const { makerOrderId: orderId, maker: wallet, makerKey: apiKey, market } = event;
  return { orderId, wallet, apiKey, market };
}

function placedCells(event: OrderPlaced, timeMs: number): Row {
  return [
    walletFromBytes(event.maker),
    orderIdFromBytes(event.orderId),
    apiKeyFromBytes(event.apiKey),
    event.market,
    event.outcome,
    timeText(timeMs),
  ];
}

function endedCells({ orderId, wallet, apiKey, market }: EndedOrder): Row {
  return [
    walletFromBytes(wallet),
    orderIdFromBytes(orderId),
    apiKeyFromBytes(apiKey),
    market,
    0,
    epochText,
  ];
}
