import type { Execution, ExecutionEvent, OrderPlaced } from '@pm/schemas/log/executions';
import { tables } from '@pm/schemas/tables/tables';
import type { RowMemory } from '../tables/row-memory.ts';
import type { RowWriter } from '../tables/row-writer.ts';
import { recordView, type View } from './view.ts';

/** The fields of an ended order that a row needs. */
interface EndedOrder {
  readonly orderId: Buffer;
  readonly wallet: Buffer;
  readonly apiKey: Buffer;
  readonly market: number;
}

/**
 * Table `open_orders`: a row when an order starts to rest and one when it has left the book, at most one for each order
 * and record, since a version stands for a whole record. Partial fills write nothing: sizes are read from
 * `order_events`.
 */
export function openOrdersView(partition: number, memory: RowMemory): View {
  return recordView(tables.openOrders, memory, (execution, to) => {
    const { inOffset, timeMs } = execution;
    for (const last of lastChanges(execution).values()) {
      if (isPlaced(last)) writePlaced(to, last, timeMs);
      else writeEnded(to, last);
      to.int(partition)
        .int(inOffset)
        .int(isPlaced(last) ? 0 : 1)
        .end();
    }
  });
}

/** The last change in the record of each order that it brought to rest or ended. */
function lastChanges({ events }: Execution): ReadonlyMap<string, OrderPlaced | EndedOrder> {
  const last = new Map<string, OrderPlaced | EndedOrder>();
  for (const event of events) {
    const change = event.kind === 'OrderPlaced' && event.restingMicro > 0 ? event : endedBy(event);
    if (change !== null) last.set(change.orderId.toString('latin1'), change);
  }
  return last;
}

function endedBy(event: ExecutionEvent): EndedOrder | null {
  if (event.kind === 'OrderCanceled') {
    const { orderId, maker: wallet, apiKey, market } = event;
    return { orderId, wallet, apiKey, market };
  }
  if (event.kind !== 'Fill' || event.makerRestMicro > 0) return null;
  const { makerOrderId: orderId, maker: wallet, makerKey: apiKey, market } = event;
  return { orderId, wallet, apiKey, market };
}

function isPlaced(order: OrderPlaced | EndedOrder): order is OrderPlaced {
  return 'kind' in order;
}

function writePlaced(to: RowWriter, order: OrderPlaced, timeMs: number): void {
  to.hex(order.maker).hex(order.orderId).uuid(order.apiKey);
  to.int(order.market).int(order.outcome).time(timeMs);
}

function writeEnded(to: RowWriter, { wallet, orderId, apiKey, market }: EndedOrder): void {
  to.hex(wallet).hex(orderId).uuid(apiKey).int(market).none(2);
}
