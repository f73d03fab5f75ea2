import { rules } from '@pm/schemas/log/log-rules';
import type { PlaceOrder } from '@pm/schemas/log/orders';
import { writeRefused } from '../events/write-events.ts';
import type { Output } from '../record.ts';
import { type DelayedOrder, withNextTick } from '../state/delayed-orders.ts';
import { copyOf } from '../state/interned.ts';
import { delayedMark } from '../state/order-results.ts';
import type { State } from '../state/state.ts';
import { hasRoom, requiredMicro } from './check-placement.ts';
import { flagsOfStatus, registerOrder } from './fill-and-rest.ts';
import { firstUncleared } from './self-trade.ts';
import type { Taker } from './taker.ts';

/** Whether an accepted order is delayed first: it would trade at once in a market with a taker delay. */
export function isDelayed(state: State, taker: Taker): boolean {
  if (taker.market.takerDelayMs === 0 || taker.order.postOnly) return false;
  return firstUncleared(state, taker) !== -1;
}

/**
 * Whether an order waits for the next tick, which judges its time to book: the clock may be as old as the time between
 * two ticks. So does an order with a limit of its own; and any order that was accepted so long after the clock that
 * this must have stood: without ticks, as while the partition had no owner.
 */
export function isHeldForTick(
  { rules: now, timeMs, bookAgeLimitMs }: State,
  order: PlaceOrder,
): boolean {
  if (now < rules.judgedByTicks) return false;
  return order.ageLimitMs > 0 || order.acceptedAtMs - timeMs > bookAgeLimitMs / 2;
}

/** Holds an order until the next tick, as `delayOrder` does until the end of a delay. */
export function holdForTick(state: State, taker: Taker, out: Output): void {
  hold(state, taker, { releaseAtMs: withNextTick, isHeld: true }, out);
}

/**
 * Delays an order: a BUY holds its money with room for the fee, a SELL locks its tokens. Meanwhile it counts as one of
 * its wallet's open orders. The delay begins at the clock of the partition, or when ingress accepted the order if that
 * is later: short delays are shorter than the time between two ticks.
 */
export function delayOrder(state: State, taker: Taker, out: Output): void {
  hold(state, taker, { releaseAtMs: endOfDelay(state, taker), isHeld: false }, out);
}

/** An order whose funds are free again after it was held for a tick goes on waiting, with the same funds. */
export function delayHeld(state: State, taker: Taker, delayed: DelayedOrder): void {
  const { order, wallet } = delayed;
  attachDelayed(state, { ...delayed, releaseAtMs: endOfDelay(state, taker), isHeld: false });
  state.wallets.move(wallet, -order.holdMicro, order.holdMicro);
}

function endOfDelay({ timeMs }: State, { order, market }: Taker): number {
  return Math.max(timeMs, order.acceptedAtMs) + market.takerDelayMs;
}

function hold(
  state: State,
  taker: Taker,
  until: Pick<DelayedOrder, 'releaseAtMs' | 'isHeld'>,
  out: Output,
): void {
  const { order, market } = taker;
  if (!hasRoom(state, taker.wallet)) {
    writeRefused(order, 'too_many_open_orders', out);
    return;
  }
  registerOrder(state, taker);
  state.orderMemory.setResult(taker.memory, flagsOfStatus(taker, 'DELAYED'));
  const heldMicro = taker.isBuy ? requiredMicro(order, market.feeRateBps) : 0;
  const delayed = {
    order: ownCopy(taker, heldMicro, until.isHeld),
    market,
    ...until,
    memory: taker.memory,
    wallet: taker.wallet,
    position: taker.position,
    account: taker.account,
    rests: taker.rests,
  };
  attachDelayed(state, delayed);
  state.wallets.move(taker.wallet, -heldMicro, heldMicro);
  writeDelayed(delayed, out);
}

/** Registers a delayed order with its id, account, wallet and position, and locks its tokens; moves no money. */
export function attachDelayed(state: State, delayed: DelayedOrder): void {
  const { order, position } = delayed;
  state.orderMemory.setOrder(delayed.memory, delayedMark);
  state.accounts.hold(delayed.account);
  state.wallets.addOpenOrders(delayed.wallet, 1);
  state.positions.addOrders(position, 1);
  if (order.side === 'SELL') state.lock(position, order.outcome, order.sizeMicro);
  state.delays.add(delayed);
}

/** Its own bytes, because decoded ones are views of a whole record; fields that no longer count are zero. */
function ownCopy({ order }: Taker, holdMicro: number, isHeld: boolean): DelayedOrder['order'] {
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
    ageLimitMs: isHeld ? Math.max(0, order.ageLimitMs) : 0,
    signedAtMs: 0,
  };
}

function writeDelayed({ order, releaseAtMs }: DelayedOrder, out: Output): void {
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
