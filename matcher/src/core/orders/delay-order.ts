import { writeRefused } from '../events/write-events.ts';
import type { Delayed } from '../state/delayed-orders.ts';
import { delayedOrder } from '../state/id-memory.ts';
import { copyOf } from '../state/interned.ts';
import type { Output, State } from '../state/state.ts';
import { hasRoom, requiredMicro } from './check-placement.ts';
import { enter, flagsOf } from './fill-and-rest.ts';
import { firstToMeet, type Taker } from './taker.ts';

/** Whether an order that may be taken is held first: it would trade at once in a market with a taker delay. */
export function isDelayed(state: State, taker: Taker): boolean {
  if (taker.market.takerDelayMs === 0 || taker.order.postOnly) return false;
  return firstToMeet(state, taker) !== -1;
}

/**
 * Holds an order until the end of the delay: a BUY its money with room for the fee, a SELL its tokens. Meanwhile it counts
 * as one of its wallet's open orders. The delay begins when ingress took the order if the clock of the partition has not
 * come that far yet, because ticks are rarer than short delays are long.
 */
export function delayOrder(state: State, taker: Taker, out: Output): void {
  const { order, market } = taker;
  if (!hasRoom(state, taker.wallet)) {
    writeRefused(order, 'too_many_open_orders', out);
    return;
  }
  enter(state, taker);
  state.orderMemory.setAnswer(taker.memory, flagsOf(taker, 'DELAYED'));
  const heldMicro = taker.isBuy ? requiredMicro(order, market.feeRateBps) : 0;
  const delayed = {
    order: ownCopy(taker, heldMicro),
    market,
    releaseAtMs: Math.max(state.timeMs, order.acceptedAtMs) + market.takerDelayMs,
    memory: taker.memory,
    wallet: taker.wallet,
    position: taker.position,
    account: state.accounts.open(order.signer, order.apiKey),
    rests: taker.rests,
  };
  hold(state, delayed);
  state.wallets.move(taker.wallet, -heldMicro, heldMicro);
  announce(delayed, out);
}

/** Hangs a delayed order on everything that must know of it, but moves no money. */
export function hold(state: State, delayed: Delayed): void {
  const { order, position } = delayed;
  state.orderMemory.setOrder(delayed.memory, delayedOrder);
  state.accounts.hold(delayed.account);
  state.wallets.addOpenOrders(delayed.wallet, 1);
  state.positions.addOrders(position, 1);
  if (order.side === 'SELL') state.lock(position, order.outcome, order.sizeMicro);
  state.delays.add(delayed);
}

/** Bytes of its own, as decoded ones are views of a whole record; what counts no more is zero. */
function ownCopy({ order }: Taker, holdMicro: number): Delayed['order'] {
  const { orderId, maker, signer, apiKey, builder } = order;
  return {
    ...order,
    orderId: copyOf(orderId),
    maker: copyOf(maker),
    signer: copyOf(signer),
    apiKey: copyOf(apiKey),
    builder: copyOf(builder),
    holdMicro,
    generation: 0,
    ageLimitMs: 0,
    signedAtMs: 0,
  };
}

function announce({ order, releaseAtMs }: Delayed, out: Output): void {
  out.events.push({
    kind: 'OrderDelayed',
    command: out.command,
    orderId: order.orderId,
    market: order.market,
    outcome: order.outcome,
    side: order.side,
    timeInForce: order.timeInForce,
    price: order.price,
    sizeMicro: order.sizeMicro,
    expiresAtMs: order.expiresAtMs,
    acceptedAtMs: order.acceptedAtMs,
    releaseAtMs,
    maker: order.maker,
    apiKey: order.apiKey,
    heldMicro: order.holdMicro,
  });
}
