import { createHash } from 'node:crypto';
import { type OrderId, orderIdFromBytes } from '@pm/schemas/ids';
import type { Execution } from '@pm/schemas/log/executions';
import type { Command } from '@pm/schemas/log/orders';

/**
 * An order that has a trace. Which orders have one, and the ids of the spans that other processes continue, follow from
 * the id of the order and its place in the log alone: no topic carries anything for it (docs/decisions.md, "A trace
 * follows from the id of its order").
 */
export interface TracedOrder {
  readonly orderId: OrderId;
  readonly traceId: string;
}

/** Ids of a trace and of a span in it: 32 and 16 hex digits. */
interface SpanPlace {
  readonly traceId: string;
  readonly spanId: string;
}

/** The trace of an order, 32 bytes; null when it has none. */
export type OrderSampler = (orderId: Buffer) => TracedOrder | null;

const drawnBytes = 4;
const traceIdBytes = 16;
const spanIdBytes = 8;
const noTrace = '0'.repeat(2 * traceIdBytes);

/** Ids of orders are hashes: their first bytes decide, their last ones are the id of the trace. */
export function orderSampler(share: number): OrderSampler {
  const limit = share * 2 ** (8 * drawnBytes);
  return (orderId) => {
    if (orderId.readUInt32BE(0) >= limit) return null;
    const traceId = orderId.toString('hex', orderId.length - traceIdBytes);
    return traceId === noTrace ? null : { orderId: orderIdFromBytes(orderId), traceId };
  };
}

/** The span of ingress that puts the order into the log, in the envelope with this sequence. */
export function produceSpanOf(order: TracedOrder, sequence: number): SpanPlace {
  return spanOf(order, `produce ${sequence}`);
}

/** The span of the matcher that processes the record of `orders` at this offset. */
export function matchSpanOf(order: TracedOrder, inOffset: number): SpanPlace {
  return spanOf(order, `match ${inOffset}`);
}

/** The span of a reader of `executions`: again the same when it reads the record again. */
export function readerSpanOf(order: TracedOrder, reader: string, inOffset: number): SpanPlace {
  return spanOf(order, `${reader} ${inOffset}`);
}

function spanOf({ orderId, traceId }: TracedOrder, name: string): SpanPlace {
  const hash = createHash('sha256').update(`${orderId} ${name}`).digest('hex');
  return { traceId, spanId: hash.slice(0, 2 * spanIdBytes) };
}

const noOrders: readonly TracedOrder[] = [];

/** The orders with a trace among these commands. */
export function tracedOrdersIn(
  commands: readonly Command[],
  sample: OrderSampler,
): readonly TracedOrder[] {
  let traced: TracedOrder[] | null = null;
  for (const command of commands) {
    const order = command.kind === 'PlaceOrder' ? sample(command.orderId) : null;
    if (order === null) continue;
    traced ??= [];
    traced.push(order);
  }
  return traced ?? noOrders;
}

/** The orders with a trace that have their result in this record. */
export function tracedResultsIn(
  { events }: Pick<Execution, 'events'>,
  sample: OrderSampler,
): readonly TracedOrder[] {
  let traced: TracedOrder[] | null = null;
  for (const event of events) {
    const { kind } = event;
    if (kind !== 'OrderPlaced' && kind !== 'OrderRefused' && kind !== 'OrderRepeated') continue;
    const order = sample(event.orderId);
    if (order === null) continue;
    traced ??= [];
    traced.push(order);
  }
  return traced ?? noOrders;
}
