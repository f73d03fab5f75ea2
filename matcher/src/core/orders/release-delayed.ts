import type { RefusalCode } from '@pm/schemas/refusals';
import { writeRefused } from '../events/write-events.ts';
import { interactionsMax, type Output } from '../record.ts';
import type { DelayedOrder } from '../state/delayed-orders.ts';
import type { Market } from '../state/markets.ts';
import { flagsOfRefusal } from '../state/order-results.ts';
import type { State } from '../state/state.ts';
import { checkAfterHold, checkRelease } from './check-placement.ts';
import { delayHeld, isDelayed } from './delay-order.ts';
import { fillAndRest } from './fill-and-rest.ts';
import { cancelOwnMaker } from './self-trade.ts';
import { assignWallet, mayRest, type Taker } from './taker.ts';

/**
 * The ends of taker delays, and of what is held for a tick.
 *
 * Promises: orders are released by the end of their delay, then by arrival, as far as the budgets of the record go;
 * each gets back what it held and is then placed like a new one, or refused for what has changed since, and that result
 * is remembered even if the refusal is not final: a delayed order has one end. An order that was held for a tick is
 * late or not by the clock of its release; it may wait for a taker delay after that. Events have command -1, because
 * the command that moved the clock belongs to another sender. In a market that resolves, all are refused before their
 * delay ends.
 */
export function releaseDue(state: State, out: Output): void {
  const half = out.limits.fillsPerRecord / 2;
  while (state.delays.nextMs <= state.timeMs && out.releasesLeft > 0 && out.fillsLeft > half) {
    release(state, state.delays.takeNext(), out);
  }
}

/** Refuses the delayed orders of a resolved market. */
export function refuseDelayed(state: State, market: Market, out: Output): void {
  if (state.delays.countOf(market) === 0 || out.releasesLeft === 0) return;
  for (const delayed of state.delays.takeOf(market, out.releasesLeft)) release(state, delayed, out);
}

function release(state: State, delayed: DelayedOrder, out: Output): void {
  const { command } = out;
  out.command = -1;
  out.releasesLeft -= 1;
  returnFunds(state, delayed);
  const taker = {
    ...out.scratch.taker.begin(delayed.order, delayed.market, interactionsMax(out)),
    memory: delayed.memory,
    account: delayed.account,
    builder: state.builders.intern(delayed.order.builder),
    rests: delayed.rests,
    // A tick may have been long on its way: the next one shows that.
    isJudged: !delayed.isHeld,
  };
  assignWallet(state, taker, delayed.wallet);
  const refusal = refusalOf(state, taker, delayed);
  if (refusal !== null) {
    if (refusal === 'self_trade') cancelOwnMaker(state, taker, out);
    refuse(state, delayed, refusal, out);
  } else if (delayed.isHeld && isDelayed(state, taker)) {
    delayHeld(state, taker, delayed);
  } else {
    fillAndRest(state, taker, out);
  }
  state.positions.addOrders(delayed.position, -1);
  state.positions.close(delayed.position);
  out.command = command;
}

function refusalOf(
  state: State,
  taker: Taker,
  { order, isHeld, rests }: DelayedOrder,
): RefusalCode | null {
  if (!isHeld) return checkRelease(state, taker);
  return checkAfterHold(state, taker, !rests && mayRest(order));
}

/** Its money and tokens are free, as if it had just arrived; its position stays open until its end. */
function returnFunds(state: State, { order, wallet, position, account }: DelayedOrder): void {
  const { holdMicro, outcome, sizeMicro } = order;
  if (order.side === 'SELL') state.unlock(position, outcome, sizeMicro);
  state.wallets.move(wallet, holdMicro, -holdMicro);
  state.wallets.addOpenOrders(wallet, -1);
  state.accounts.release(account);
}

function refuse(
  state: State,
  { order, memory }: DelayedOrder,
  code: RefusalCode,
  out: Output,
): void {
  state.orderMemory.setResult(memory, flagsOfRefusal(order.side, code));
  state.orderMemory.end(memory, false);
  writeRefused(order, code, out);
}
