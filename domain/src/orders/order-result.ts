import type { OrderId } from '@pm/schemas/ids';
import { orderIdFromBytes } from '@pm/schemas/ids';
import type { EventOf, ExecutionEvent, PlacedStatus } from '@pm/schemas/log/executions';
import type { Side } from '@pm/schemas/log/types';
import type { RefusalCode } from '@pm/schemas/refusals';
import { refusals } from '@pm/schemas/refusals';

/** An event and its index in its record. */
export interface PlacedEvent {
  readonly index: number;
  readonly event: ExecutionEvent;
}

/** The place of the record of a command's events. */
export interface EventsPlace {
  readonly partition: number;
  /** Offset of the input record. */
  readonly inOffset: number;
}

/** One fill as reported: enough to name the trade. */
export interface TradeRef extends EventsPlace {
  readonly eventIndex: number;
}

/** Whether the log had the order before: its result is that of the first time. */
interface Repeatable {
  readonly repeated?: true;
}

/** The result of an order from the log, kept so that the same order gets the same response again. */
export type OrderResult = Repeatable &
  (
    | {
        readonly kind: 'placed';
        readonly orderId: OrderId;
        readonly side: Side;
        readonly status: PlacedStatus;
        readonly filledMicro: number;
        readonly paidMicro: number;
        /** Null when the place of the fills in the log is unknown. */
        readonly trades: readonly TradeRef[] | null;
        /** It rested or was delayed, and has ended since. */
        readonly ended?: true;
      }
    | { readonly kind: 'refused'; readonly orderId: OrderId; readonly code: RefusalCode }
  );

/** The first result among the events; null when there is none, as in a rejected record. */
export function firstResultOf(
  events: readonly PlacedEvent[],
  place: EventsPlace,
): OrderResult | null {
  return resultsOf(events, place)[0] ?? null;
}

/**
 * All results among the events. Fills of one placement follow each other directly and come before its result, so fills
 * since the result before belong to this one.
 */
export function resultsOf(
  events: readonly PlacedEvent[],
  place: EventsPlace,
): readonly OrderResult[] {
  const results: OrderResult[] = [];
  let trades: TradeRef[] = [];
  for (const { event, index } of events) {
    if (event.kind === 'Fill') trades.push({ ...place, eventIndex: index });
    const result = resultIn(event, trades, place);
    if (result === null) continue;
    results.push(result);
    trades = [];
  }
  return results;
}

/** How long the matcher holds the order first, milliseconds: 0 until its next tick; null when it does not. */
export function delayOf(events: readonly PlacedEvent[]): number | null {
  for (const { event } of events) {
    if (event.kind === 'OrderDelayed') return Math.max(0, event.releaseAtMs - event.acceptedAtMs);
  }
  return null;
}

/** Whether the same order will have this result for ever: the matcher remembers it. */
export function isLasting(result: OrderResult): boolean {
  if (result.kind === 'placed') return result.status !== 'DELAYED';
  return refusals[result.code].final === true;
}

function resultIn(
  event: ExecutionEvent,
  trades: readonly TradeRef[],
  place: EventsPlace,
): OrderResult | null {
  if (event.kind === 'OrderPlaced') return placed(event, trades);
  if (event.kind === 'OrderRefused') {
    return { kind: 'refused', orderId: orderIdFromBytes(event.orderId), code: event.code };
  }
  if (event.kind === 'OrderRepeated') return repeated(event, place);
  return event.kind === 'OrderDelayed' ? delayed(event) : null;
}

function placed(event: EventOf<'OrderPlaced'>, trades: readonly TradeRef[]): OrderResult {
  const { side, status, filledMicro, paidMicro } = event;
  const orderId = orderIdFromBytes(event.orderId);
  return { kind: 'placed', orderId, side, status, filledMicro, paidMicro, trades };
}

function delayed({ orderId: bytes, side }: EventOf<'OrderDelayed'>): OrderResult {
  const orderId = orderIdFromBytes(bytes);
  const sums = { filledMicro: 0, paidMicro: 0, trades: [] };
  return { kind: 'placed', orderId, side, status: 'DELAYED', ...sums };
}

function repeated(event: EventOf<'OrderRepeated'>, place: EventsPlace): OrderResult {
  const orderId = orderIdFromBytes(event.orderId);
  const repeated = true;
  if (event.code !== null) return { kind: 'refused', orderId, code: event.code, repeated };
  const { side, status, filledMicro, paidMicro, alive } = event;
  const trades = firstTrades(event, place);
  const ended = alive ? {} : ({ ended: true } as const);
  const sums = { filledMicro, paidMicro, trades };
  return { kind: 'placed', orderId, side, status, ...sums, ...ended, repeated };
}

/** The trades of the first result, by their places in the log. */
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
