import type { CancelReason, CommandOf, RefusalCode } from '@pm/schemas';
import { at } from '../book/order-pool.ts';
import { writeCancelRefused } from '../events/write-events.ts';
import { refuseCommand } from '../rules/partition-rules.ts';
import type { Delayed } from '../state/delayed-orders.ts';
import { fenceOf } from '../state/fences.ts';
import { delayedOrder, filledFlag, statusMask, statusOfFlags } from '../state/id-memory.ts';
import type { Output, State } from '../state/state.ts';
import { cancelResting } from './cancel-resting.ts';

/** One order leaves the book if its signer asks; in every mode of the market. A delayed order stays. */
export function cancelOrder(state: State, command: CommandOf<'CancelOrder'>, out: Output): void {
  const memory = state.orderMemory;
  const slot = memory.find(command.orderId);
  const isMine = slot !== -1 && memory.isSignedBy(slot, command.signer);
  if (isMine && memory.order(slot) >= 0) {
    cancelResting(state, memory.order(slot), 'USER', out);
    return;
  }
  const code = isMine ? whyNotCanceled(memory.order(slot), memory.flags(slot)) : 'order_not_found';
  writeCancelRefused(command.orderId, code, out);
}

function whyNotCanceled(order: number, flags: number): RefusalCode {
  if (order === delayedOrder) return 'order_delayed';
  const isMatched = (flags & filledFlag) !== 0 || statusOfFlags[flags & statusMask] === 'MATCHED';
  return isMatched ? 'already_matched' : 'order_not_found';
}

/**
 * Every matching order leaves the book, oldest first. An ingress names a signer, a key or both; the operator may name a
 * market alone. An outcome is the order's own token. Delayed orders stay, but what they do not fill will not rest; orders
 * still on their way are fenced. Orders beyond the record's budget stay, and the sender is told to repeat; a command that
 * finds the budget used up is told so unseen, so that nobody is searched for in vain.
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
  const isFenced = fence(state, command, out);
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

/** False when there are too many fences already. */
function fence(state: State, command: CommandOf<'CancelOrders'>, out: Output): boolean {
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

function delayedOf(state: State, signer: Buffer | null, apiKey: Buffer | null): Delayed[] {
  if (signer === null && apiKey === null) return [...state.delays.inOrder()];
  return state.accounts
    .named(signer, apiKey)
    .flatMap((account) => [...state.delays.restingOf(account)]);
}

/** Who noticed a silence may have been stopped since; by then the key may have a new session (sessions.md). */
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
