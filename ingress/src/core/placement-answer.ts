import type {
  EventOf,
  ExecutionEvent,
  OrderId,
  PlacedStatus,
  RefusalCode,
  Side,
} from '@pm/schemas';
import { orderIdFromBytes, refusals } from '@pm/schemas';

/** An event and its index in its record. */
export interface PlacedEvent {
  readonly index: number;
  readonly event: ExecutionEvent;
}

/** Where the record of a command's events stands. */
export interface EventsPlace {
  readonly partition: number;
  /** Offset of the input record. */
  readonly inOffset: number;
}

/** One fill as reported: enough to name the trade. */
export interface TradeRef extends EventsPlace {
  readonly eventIndex: number;
}

/** What the matcher said of an order, kept so that the same order can be answered the same way again. */
export type PlacementAnswer =
  | {
      readonly kind: 'placed';
      readonly orderId: OrderId;
      readonly side: Side;
      readonly status: PlacedStatus;
      readonly filledMicro: number;
      readonly paidMicro: number;
      /** Null when the fills were made in an earlier record that is not at hand. */
      readonly trades: readonly TradeRef[] | null;
    }
  | { readonly kind: 'refused'; readonly orderId: OrderId; readonly code: RefusalCode };

/** The answer among the events of one placement; null when there is none, as in a rejected record. */
export function answerOf(
  events: readonly PlacedEvent[],
  place: EventsPlace,
): PlacementAnswer | null {
  const trades: TradeRef[] = [];
  for (const { event, index } of events) {
    if (event.kind === 'Fill') trades.push({ ...place, eventIndex: index });
    if (event.kind === 'OrderPlaced') return placed(event, trades);
    if (event.kind === 'OrderRefused') {
      return { kind: 'refused', orderId: orderIdFromBytes(event.orderId), code: event.code };
    }
    if (event.kind === 'OrderRepeated') return repeated(event);
  }
  return null;
}

/** Whether the same order will be answered so for ever: the matcher remembers it. */
export function isLasting(answer: PlacementAnswer): boolean {
  return answer.kind === 'placed' || refusals[answer.code].final === true;
}

function placed(event: EventOf<'OrderPlaced'>, trades: readonly TradeRef[]): PlacementAnswer {
  const { side, status, filledMicro, paidMicro } = event;
  const orderId = orderIdFromBytes(event.orderId);
  return { kind: 'placed', orderId, side, status, filledMicro, paidMicro, trades };
}

function repeated(event: EventOf<'OrderRepeated'>): PlacementAnswer {
  const orderId = orderIdFromBytes(event.orderId);
  if (event.code !== null) return { kind: 'refused', orderId, code: event.code };
  const { side, status, filledMicro, paidMicro } = event;
  return { kind: 'placed', orderId, side, status, filledMicro, paidMicro, trades: null };
}
