import {
  blankOrderEvent,
  type EventOf,
  type ExecutionEvent,
  type Fill,
  type OrderPlaced,
  type Side,
  tables,
} from '@pm/schemas';
import type { RowWriter } from '../row-writer.ts';
import { recordView, type View, writeSource } from '../rows.ts';

/** The terms of an order, or of a fill; blank in the rows of other kinds. */
interface TermCells {
  readonly outcome: number;
  readonly side: Side;
  readonly timeInForce: string;
  readonly price: number;
  readonly sizeMicro: number;
  readonly restingMicro: number;
  /** 0 stands for never, and for unknown. */
  readonly expiresAtMs: number;
  readonly acceptedAtMs: number;
  readonly status: string;
}

/** Table `order_events`: placements, delays, refusals, fills (one row for each of the two orders) and cancels. */
export function ordersView(partition: number): View {
  return recordView(tables.orderEvents, ({ events, inOffset, timeMs }, to) => {
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index];
      if (event === undefined) continue;
      const source = { partition, inOffset, index, timeMs };
      if (event.kind === 'Fill') {
        writeTaker(writeSource(to, source), event);
        writeMaker(writeSource(to, source), event);
      } else if (isAboutOneOrder(event)) writeEvent(writeSource(to, source), event);
    }
  });
}

type OneOrderEvent =
  | OrderPlaced
  | EventOf<'OrderDelayed'>
  | EventOf<'OrderRefused'>
  | EventOf<'OrderCanceled'>;

function isAboutOneOrder(event: ExecutionEvent): event is OneOrderEvent {
  const { kind } = event;
  return (
    kind === 'OrderPlaced' ||
    kind === 'OrderDelayed' ||
    kind === 'OrderRefused' ||
    kind === 'OrderCanceled'
  );
}

function writeEvent(to: RowWriter, event: OneOrderEvent): void {
  to.hex(event.orderId).word(rowKinds[event.kind]).hex(event.maker).uuid(event.apiKey);
  writeTerms(to.int(event.market), termsOf(event));
  writeEnd(to, reasonOf(event), blankOrderEvent.role);
}

const rowKinds = {
  OrderPlaced: 'PLACED',
  OrderDelayed: 'DELAYED',
  OrderRefused: 'REFUSED',
  OrderCanceled: 'CANCELED',
} as const;

function termsOf(event: OneOrderEvent): TermCells {
  if (event.kind === 'OrderPlaced') return event;
  if (event.kind === 'OrderDelayed') return { ...event, restingMicro: 0, status: 'DELAYED' };
  if (event.kind === 'OrderCanceled') return { ...blankOrderEvent, sizeMicro: event.restMicro };
  return blankOrderEvent;
}

function reasonOf(event: OneOrderEvent): string {
  if (event.kind === 'OrderRefused') return event.code;
  return event.kind === 'OrderCanceled' ? event.reason : blankOrderEvent.reason;
}

/** What rests of the taker is known when his command ends: his PLACED row has it. */
function writeTaker(to: RowWriter, fill: Fill): void {
  to.hex(fill.takerOrderId).word('FILLED').hex(fill.taker).uuid(fill.takerKey).int(fill.market);
  to.int(fill.takerOutcome)
    .word(fill.takerSide)
    .word(blankOrderEvent.timeInForce)
    .price(fill.takerPrice);
  to.micro(fill.sizeMicro).micro(0).time(0).time(0).word(blankOrderEvent.status);
  writeEnd(to, blankOrderEvent.reason, 'TAKER');
}

function writeMaker(to: RowWriter, fill: Fill): void {
  to.hex(fill.makerOrderId).word('FILLED').hex(fill.maker).uuid(fill.makerKey).int(fill.market);
  to.int(fill.makerOutcome)
    .word(fill.makerSide)
    .word(blankOrderEvent.timeInForce)
    .price(fill.makerPrice);
  to.micro(fill.sizeMicro).micro(fill.makerRestMicro).time(0).time(0).word(blankOrderEvent.status);
  writeEnd(to, blankOrderEvent.reason, 'MAKER');
}

function writeTerms(to: RowWriter, terms: TermCells): void {
  to.int(terms.outcome).word(terms.side).word(terms.timeInForce).price(terms.price);
  to.micro(terms.sizeMicro).micro(terms.restingMicro);
  to.time(terms.expiresAtMs).time(terms.acceptedAtMs).word(terms.status);
}

function writeEnd(to: RowWriter, reason: string, role: string): void {
  to.word(reason).word(role).end();
}
