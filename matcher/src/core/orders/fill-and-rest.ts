import type { PlacedStatus } from '@pm/schemas/log/executions';
import { lotMicro, notionalMicro } from '@pm/schemas/money';
import { packPrice } from '../book/book.ts';
import { matchTaker } from '../book/matching.ts';
import { writePlaced } from '../events/write-events.ts';
import type { Output } from '../record.ts';
import { numberOfStatus, sellFlag } from '../state/order-results.ts';
import type { State } from '../state/state.ts';
import { isComplete, type Taker } from './taker.ts';

/** Gives an accepted order its wallet, position, account, builder code and id as numbers, by which events name it. */
export function registerOrder(state: State, taker: Taker): void {
  const { order } = taker;
  if (taker.wallet === -1) taker.wallet = state.wallets.intern(order.maker);
  if (taker.position === -1) taker.position = state.positions.open(taker.wallet, taker.market.slot);
  if (taker.account === -1) taker.account = state.accounts.open(order.signer, order.apiKey);
  if (taker.builder === -1) taker.builder = state.builders.intern(order.builder);
  taker.memory = state.orderMemory.add(order.signedAtMs);
  const { ints, stride } = state.accounts.table;
  state.orderMemory.setSignerWords(taker.memory, ints, taker.account * stride);
}

/**
 * Fills a registered order, completely or partially; its remainder rests if it may rest and was not stopped, and
 * is canceled otherwise. No refusal is possible any more.
 */
export function fillAndRest(state: State, taker: Taker, out: Output): void {
  const { orderMemory, positions } = state;
  const first = out.events.length;
  // Clearing or filling the last order of the taker's own wallet must not close the position it still needs.
  positions.addOrders(taker.position, 1);
  matchTaker(state, taker, out);
  positions.addOrders(taker.position, -1);
  restRemainder(state, taker, out);
  moveTakerMoney(state, taker);
  const status = statusOf(taker);
  orderMemory.setResult(taker.memory, flagsOfStatus(taker, status));
  const { filledMicro, paidMicro, fills: count } = taker;
  if (count > 0) {
    const { offset } = out;
    orderMemory.setFirstFills(taker.memory, { filledMicro, paidMicro, offset, first, count });
  }
  // Before its id may be forgotten with it.
  writePlaced(state, taker, status, out);
  if (taker.restingMicro === 0) orderMemory.end(taker.memory, false);
  positions.close(taker.position);
}

function restRemainder(state: State, taker: Taker, out: Output): void {
  const { order, market } = taker;
  if (taker.lotsLeft === 0 || taker.isStopped || !taker.rests) return;
  const place = packPrice(taker.limit0, taker.isBid, order.outcome);
  const resting = state.book.rest(market.slot, place, taker.lotsLeft);
  const { owner } = out.scratch;
  owner.memory = taker.memory;
  owner.wallet = taker.wallet;
  owner.position = taker.position;
  owner.account = taker.account;
  owner.builder = taker.builder;
  owner.expiresAtMs = order.expiresAtMs;
  state.attach(resting, owner);
  if (!taker.isJudged) state.booked.add(resting, order.acceptedAtMs);
  taker.restingMicro = taker.lotsLeft * lotMicro;
  if (taker.isBuy) return;
  state.positions.addLocked(taker.position, order.outcome, taker.restingMicro);
}

function moveTakerMoney(state: State, taker: Taker): void {
  const { paidMicro, feeMicro, wallet } = taker;
  if (taker.isBuy) {
    const held = notionalMicro(taker.order.price, taker.restingMicro);
    state.wallets.move(wallet, -(paidMicro + feeMicro + held), held);
  } else {
    state.wallets.move(wallet, paidMicro - feeMicro, 0);
  }
  state.wallets.move(state.feeWallet, feeMicro, 0);
}

function statusOf(taker: Taker): PlacedStatus {
  if (taker.restingMicro > 0) return 'LIVE';
  return isComplete(taker) ? 'MATCHED' : 'CANCELED';
}

/** The result of an accepted order, as the memory stores it. */
export function flagsOfStatus(taker: Taker, status: PlacedStatus): number {
  return numberOfStatus(status) | (taker.isBuy ? 0 : sellFlag);
}
