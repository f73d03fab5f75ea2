import { type PlaceOrder, type RefusalCode, refusals } from '@pm/schemas';
import { writeRefused } from '../events/write-events.ts';
import { codeOfFlags, sellFlag, statusMask, statusOfFlags } from '../state/id-memory.ts';
import type { Output, State } from '../state/state.ts';
import { checkOrder, isStale } from './check-placement.ts';
import { delayOrder, isDelayed } from './delay-order.ts';
import { enter, takeOrder } from './fill-and-rest.ts';
import { endBoth, flagsOfRefusal } from './self-trade.ts';
import { type Taker, takerOf } from './taker.ts';

/**
 * An order is refused and changes nothing, or it is taken: it fills what it meets, then rests (GTC, GTD) or ends; in a
 * market with a taker delay an order that would trade at once is held first. The first answer to an id is remembered if
 * the order was taken or if the refusal is final; a repetition gets it again.
 */
export function placeOrder(state: State, order: PlaceOrder, out: Output): void {
  const market = state.markets.find(order.market);
  if (market === undefined || (order.outcome !== 0 && order.outcome !== 1)) {
    writeRefused(order, 'market_not_found', out);
    return;
  }
  if (isStale(state, order)) {
    writeRefused(order, 'stale_order', out);
    return;
  }
  const known = state.orderMemory.find(order.orderId);
  if (known !== -1) {
    repeat(state, order, known, out);
    return;
  }
  const taker = takerOf(state, order, market, out);
  const refusal = checkOrder(state, taker);
  if (refusal !== null) {
    refuseNew(state, taker, refusal, out);
  } else if (isDelayed(state, taker)) {
    delayOrder(state, taker, out);
  } else {
    enter(state, taker);
    takeOrder(state, taker, out);
  }
}

function refuseNew(state: State, taker: Taker, code: RefusalCode, out: Output): void {
  const { order } = taker;
  if (refusals[code].final === true) {
    const slot = state.orderMemory.add(order.signedAtMs);
    state.orderMemory.setFlags(slot, flagsOfRefusal(order, code));
  }
  if (code === 'self_trade') endBoth(state, taker, out);
  writeRefused(order, code, out);
}

function repeat(state: State, order: PlaceOrder, slot: number, out: Output): void {
  const memory = state.orderMemory;
  const flags = memory.flags(slot);
  const fills = memory.firstFills(slot);
  out.events.push({
    kind: 'OrderRepeated',
    command: out.command,
    orderId: order.orderId,
    maker: order.maker,
    alive: memory.order(slot) !== -1,
    code: codeOfFlags(flags),
    status: statusOfFlags[flags & statusMask] ?? 'LIVE',
    side: (flags & sellFlag) === 0 ? 'BUY' : 'SELL',
    filledMicro: fills.filledMicro,
    paidMicro: fills.paidMicro,
    placedAtOffset: fills.offset,
    firstFill: fills.first,
    fillCount: fills.count,
  });
}
