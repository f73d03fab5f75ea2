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
      /** Null when nobody knows where the fills stand. */
      readonly trades: readonly TradeRef[] | null;
    }
  | { readonly kind: 'refused'; readonly orderId: OrderId; readonly code: RefusalCode };

/** The first answer among the events; null when there is none, as in a rejected record. */
export function answerOf(
  events: readonly PlacedEvent[],
  place: EventsPlace,
): PlacementAnswer | null {
  return answersOf(events, place)[0] ?? null;
}

/**
 * All answers among the events. Fills of one placement stand directly behind each other and before its answer, so what was
 * seen since the answer before belongs to this one.
 */
export function answersOf(
  events: readonly PlacedEvent[],
  place: EventsPlace,
): readonly PlacementAnswer[] {
  const answers: PlacementAnswer[] = [];
  let trades: TradeRef[] = [];
  for (const { event, index } of events) {
    if (event.kind === 'Fill') trades.push({ ...place, eventIndex: index });
    const answer = answerIn(event, trades, place);
    if (answer === null) continue;
    answers.push(answer);
    trades = [];
  }
  return answers;
}

/** How long the matcher holds the order first, milliseconds; null when it does not. */
export function delayOf(events: readonly PlacedEvent[]): number | null {
  for (const { event } of events) {
    if (event.kind === 'OrderDelayed') return event.releaseAtMs - event.acceptedAtMs;
  }
  return null;
}

/** Whether the same order will be answered so for ever: the matcher remembers it. */
export function isLasting(answer: PlacementAnswer): boolean {
  if (answer.kind === 'placed') return answer.status !== 'DELAYED';
  return refusals[answer.code].final === true;
}

function answerIn(
  event: ExecutionEvent,
  trades: readonly TradeRef[],
  place: EventsPlace,
): PlacementAnswer | null {
  if (event.kind === 'OrderPlaced') return placed(event, trades);
  if (event.kind === 'OrderRefused') {
    return { kind: 'refused', orderId: orderIdFromBytes(event.orderId), code: event.code };
  }
  if (event.kind === 'OrderRepeated') return repeated(event, place);
  return event.kind === 'OrderDelayed' ? delayed(event) : null;
}

function placed(event: EventOf<'OrderPlaced'>, trades: readonly TradeRef[]): PlacementAnswer {
  const { side, status, filledMicro, paidMicro } = event;
  const orderId = orderIdFromBytes(event.orderId);
  return { kind: 'placed', orderId, side, status, filledMicro, paidMicro, trades };
}

function delayed({ orderId: bytes, side }: EventOf<'OrderDelayed'>): PlacementAnswer {
  const orderId = orderIdFromBytes(bytes);
  const sums = { filledMicro: 0, paidMicro: 0, trades: [] };
  return { kind: 'placed', orderId, side, status: 'DELAYED', ...sums };
}

function repeated(event: EventOf<'OrderRepeated'>, place: EventsPlace): PlacementAnswer {
  const orderId = orderIdFromBytes(event.orderId);
  if (event.code !== null) return { kind: 'refused', orderId, code: event.code };
  const { side, status, filledMicro, paidMicro } = event;
  const trades = firstTrades(event, place);
  return { kind: 'placed', orderId, side, status, filledMicro, paidMicro, trades };
}

/** The trades of the first answer, by where they stand in the log. */
function firstTrades(
  { placedAtOffset, firstFill, fillCount }: EventOf<'OrderRepeated'>,
  { partition }: EventsPlace,
): readonly TradeRef[] | null {
  if (placedAtOffset < 0) return null;
  return Array.from({ length: fillCount }, (_, count) => ({
    partition,
    inOffset: placedAtOffset,
    eventIndex: firstFill + count,
  }));
}
