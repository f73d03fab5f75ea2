import { rules } from '@pm/schemas/log/log-rules';
import { type CommandOf, idsPerCancelMax } from '@pm/schemas/log/orders';
import type { CancelReason } from '@pm/schemas/log/types';
import type { RefusalCode } from '@pm/schemas/refusals';
import { at } from '../book/order-pool.ts';
import { refuseCommand, writeCancelRefused } from '../events/write-events.ts';
import type { Output } from '../record.ts';
import type { DelayedOrder } from '../state/delayed-orders.ts';
import type { FencedId } from '../state/fenced-ids.ts';
import { fenceOf } from '../state/fences.ts';
import {
  delayedMark,
  filledFlag,
  idWords,
  statusMask,
  statusOfFlags,
} from '../state/order-results.ts';
import type { State } from '../state/state.ts';
import { cancelResting } from './cancel-resting.ts';
import { commandsAhead } from './look-ahead.ts';
import { mayRest } from './taker.ts';

/**
 * Cancels one order if its signer asks, in every mode of the market. A delayed order stays; one that is held for a tick
 * will not reach the book, if it could rest there.
 */
export function cancelOrder(state: State, command: CommandOf<'CancelOrder'>, out: Output): void {
  const memory = state.orderMemory;
  const { ids, hashes } = out.scratch.ahead;
  const index = out.command % commandsAhead;
  const slot = memory.findLoaded(ids, index * idWords, hashes[index] as number);
  const order = ownOrder(state, slot, command.signer);
  if (order >= 0) cancelResting(state, order, 'USER', out);
  else refuseCancel(state, command, slot, out);
}

type Named = Pick<CommandOf<'CancelOrder'>, 'orderId' | 'signer'>;

/**
 * Cancels each order as `cancelOrder` does, within the budget of the record, and fences the ids that the partition has
 * never seen, without an event: their orders may be on their way, or in another partition. Refused with
 * `too_many_open_orders` where a budget or the room for fenced ids is used up, so that its sender repeats it.
 */
export function cancelByIds(state: State, command: CommandOf<'CancelByIds'>, out: Output): void {
  const { signer, orderIds, acceptedAtMs } = command;
  if (orderIds.length > idsPerCancelMax) {
    refuseCommand('invalid_payload', out);
    return;
  }
  let isWhole = true;
  for (const orderId of orderIds) {
    const named = { orderId, signer, acceptedAtMs };
    const slot = state.orderMemory.find(orderId);
    const order = ownOrder(state, slot, signer);
    if (slot === -1) isWhole = fenceId(state, named, out) && isWhole;
    else if (order < 0) refuseCancel(state, named, slot, out);
    else if (out.cancelsLeft === 0) isWhole = false;
    else {
      out.cancelsLeft -= 1;
      cancelResting(state, order, 'USER', out);
    }
  }
  if (!isWhole) refuseCommand('too_many_open_orders', out);
}

/** False when there is no room for it. */
function fenceId(state: State, named: FencedId, out: Output): boolean {
  const { timeMs, bookAgeLimitMs } = state;
  const acceptedAtMs = Math.min(named.acceptedAtMs, timeMs + bookAgeLimitMs);
  const isDue = named.acceptedAtMs > 0 && acceptedAtMs >= timeMs - bookAgeLimitMs;
  if (!isDue || state.rules < rules.fencedIds) return true;
  const max = { total: out.limits.fencedIds, perSigner: out.limits.fencedIdsPerSigner };
  return state.fencedIds.add({ ...named, acceptedAtMs }, max);
}

/** The resting order of the signer at this slot of the memory, else a negative number. */
function ownOrder({ orderMemory }: State, slot: number, signer: Buffer): number {
  return slot !== -1 && orderMemory.isSignedBy(slot, signer) ? orderMemory.order(slot) : -1;
}

function refuseCancel(state: State, { orderId, signer }: Named, slot: number, out: Output): void {
  const memory = state.orderMemory;
  const isMine = slot !== -1 && memory.isSignedBy(slot, signer);
  const code = isMine ? cancelRefusal(state, slot) : 'order_not_found';
  writeCancelRefused(orderId, code, out);
}

function cancelRefusal({ orderMemory, delays }: State, slot: number): RefusalCode {
  if (orderMemory.order(slot) === delayedMark) {
    const held = delays.heldBy(slot);
    if (held === undefined || !mayRest(held.order)) return 'order_delayed';
    delays.denyRest(held);
    return 'fenced';
  }
  const flags = orderMemory.flags(slot);
  const isMatched = (flags & filledFlag) !== 0 || statusOfFlags[flags & statusMask] === 'MATCHED';
  return isMatched ? 'already_matched' : 'order_not_found';
}

/**
 * Cancels every matching order, oldest first. An ingress names a signer, a key or both; the operator may name a market
 * alone. An outcome is the order's own token. Delayed orders stay, but their remainder will not rest; orders that
 * have not reached the book are fenced. Orders beyond the record's budget stay, and the command is refused with
 * `too_many_open_orders`, so that its sender repeats it; a command that finds the budget used up is refused without a
 * search.
 */
export function cancelOrders(state: State, command: CommandOf<'CancelOrders'>, out: Output): void {
  const { signer, apiKey } = command;
  const named = signer !== null || apiKey !== null;
  if (!named && (out.role !== 'OPERATOR' || command.market === -1)) {
    refuseCommand('invalid_payload', out);
    return;
  }
  if (isLate(state, command)) {
    refuseCommand('too_late', out);
    return;
  }
  const isFenced = addFence(state, command, out);
  denyRest(state, command);
  if (out.cancelsLeft === 0) {
    refuseCommand('too_many_open_orders', out);
    return;
  }
  const orders = askedOrders(state, command);
  const now = orders.subarray(0, out.cancelsLeft);
  const reason = reasonOf(command, out);
  for (const order of now) cancelResting(state, order, reason, out);
  out.cancelsLeft -= now.length;
  if (now.length < orders.length || !isFenced) refuseCommand('too_many_open_orders', out);
}

/** False when the limit of fences is reached. */
function addFence(state: State, command: CommandOf<'CancelOrders'>, out: Output): boolean {
  const asked = fenceOf(command, state.timeMs + state.bookAgeLimitMs);
  if (asked === null || asked.acceptedAtMs < state.timeMs - state.bookAgeLimitMs) return true;
  return state.fences.add(asked, out.limits.fences);
}

function denyRest(state: State, command: CommandOf<'CancelOrders'>): void {
  const { signer, apiKey, market, outcome } = command;
  if (state.delays.count === 0) return;
  for (const delayed of delayedOf(state, signer, apiKey)) {
    const isAsked =
      (market === -1 || delayed.order.market === market) &&
      (outcome === -1 || delayed.order.outcome === outcome);
    if (isAsked) state.delays.denyRest(delayed);
  }
}

function delayedOf(state: State, signer: Buffer | null, apiKey: Buffer | null): DelayedOrder[] {
  if (signer === null && apiKey === null) return [...state.delays.inOrder()];
  return state.accounts
    .named(signer, apiKey)
    .flatMap((account) => [...state.delays.restingOf(account)]);
}

/**
 * A cancel for a session that ended may arrive late, after its ingress was paused. By then the key may have a new
 * session, whose orders it must not cancel (sessions.md).
 */
function isLate(state: State, { session, acceptedAtMs }: CommandOf<'CancelOrders'>): boolean {
  return session && acceptedAtMs !== 0 && state.timeMs - acceptedAtMs > state.bookAgeLimitMs;
}

/** Oldest first. */
function askedOrders(state: State, command: CommandOf<'CancelOrders'>): Int32Array {
  const { signer, apiKey, market, outcome } = command;
  const { orders } = state.book;
  const slot = market === -1 ? -1 : state.markets.find(market)?.slot;
  if (slot === undefined) return new Int32Array(0);
  const candidates =
    signer === null && apiKey === null
      ? state.book.ordersOf(slot)
      : state.accounts.restingOrders(signer, apiKey);
  const asked = candidates.filter(
    (order) =>
      (slot === -1 || orders.get(order, at.market) === slot) &&
      (outcome === -1 || orders.outcome(order) === outcome),
  );
  return orders.sortByArrival(Int32Array.from(asked));
}

function reasonOf(command: CommandOf<'CancelOrders'>, out: Output): CancelReason {
  if (out.role === 'OPERATOR') return 'MARKET';
  return command.session ? 'SESSION' : 'USER';
}
