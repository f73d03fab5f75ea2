import type { EventOf, ExecutionEvent, Fill, OrderPlaced } from '@pm/schemas/log/executions';
import { tables } from '@pm/schemas/tables/tables';
import type { RowMemory } from '../tables/row-memory.ts';
import type { RowWriter } from '../tables/row-writer.ts';
import { TakersAccepted } from './takers-accepted.ts';
import { recordView, type View, writeSource } from './view.ts';

/** Table `order_events`: placements, delays, refusals, fills (one row for each of the two orders) and cancels. */
export function ordersView(partition: number, memory: RowMemory): View {
  return recordView(
    tables.orderEvents,
    memory,
    ({ events, inOffset, timeMs }, to, appendedAtMs) => {
      const accepted = new TakersAccepted(events);
      for (let index = 0; index < events.length; index += 1) {
        const event = events[index];
        if (event === undefined) continue;
        const source = { partition, inOffset, index, timeMs, appendedAtMs };
        if (event.kind === 'Fill') {
          writeTaker(writeSource(to, source), event, accepted.atMs(event, index));
          writeMaker(writeSource(to, source), event);
        } else if (isAboutOneOrder(event)) writeEvent(writeSource(to, source), event);
      }
    },
  );
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
  to.int(event.market);
  switch (event.kind) {
    case 'OrderPlaced':
      writeTerms(to, event).micro(event.restingMicro);
      writeEntry(to, event).word(event.status).word('').none().end();
      break;
    case 'OrderDelayed':
      writeTerms(to, event).micro(0);
      writeEntry(to, event).word('DELAYED').word('').none().end();
      break;
    case 'OrderRefused':
      to.none(5).micro(0).none(3).word(event.code).none().end();
      break;
    case 'OrderCanceled':
      to.none(4).micro(event.restMicro).micro(0).none(3).word(event.reason).none().end();
      break;
  }
}

const rowKinds = {
  OrderPlaced: 'PLACED',
  OrderDelayed: 'DELAYED',
  OrderRefused: 'REFUSED',
  OrderCanceled: 'CANCELED',
} as const;

type StatedOrder = OrderPlaced | EventOf<'OrderDelayed'>;

function writeTerms(to: RowWriter, order: StatedOrder): RowWriter {
  to.int(order.outcome).word(order.side).word(order.timeInForce);
  return to.price(order.price).micro(order.sizeMicro);
}

/** 0 stands for an order that never expires. */
function writeEntry(to: RowWriter, { expiresAtMs, acceptedAtMs }: StatedOrder): RowWriter {
  return to.timeOrNone(expiresAtMs === 0 ? null : expiresAtMs).time(acceptedAtMs);
}

/** The remaining size of the taker is known when its command ends: it is in the PLACED row. */
function writeTaker(to: RowWriter, fill: Fill, acceptedAtMs: number | null): void {
  to.hex(fill.takerOrderId).word('FILLED').hex(fill.taker).uuid(fill.takerKey).int(fill.market);
  to.int(fill.takerOutcome).word(fill.takerSide).none().price(fill.takerPrice);
  to.micro(fill.sizeMicro).micro(0).none().timeOrNone(acceptedAtMs).none();
  to.word('').word('TAKER').end();
}

function writeMaker(to: RowWriter, fill: Fill): void {
  to.hex(fill.makerOrderId).word('FILLED').hex(fill.maker).uuid(fill.makerKey).int(fill.market);
  to.int(fill.makerOutcome).word(fill.makerSide).none().price(fill.makerPrice);
  to.micro(fill.sizeMicro).micro(fill.makerRestMicro).none(3).word('').word('MAKER').end();
}

/** Table `wallet_cancels`: one row for each canceled order. */
export function cancelsView(partition: number, memory: RowMemory): View {
  return recordView(
    tables.walletCancels,
    memory,
    ({ events, inOffset, timeMs }, to, appendedAtMs) => {
      for (let index = 0; index < events.length; index += 1) {
        const event = events[index];
        if (event?.kind !== 'OrderCanceled') continue;
        writeSource(to, { partition, inOffset, index, timeMs, appendedAtMs });
        to.hex(event.maker).hex(event.orderId).uuid(event.apiKey).int(event.market);
        to.word(event.reason).micro(event.restMicro).end();
      }
    },
  );
}
