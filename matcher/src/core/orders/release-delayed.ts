import type { RefusalCode } from '@pm/schemas';
import { writeRefused } from '../events/write-events.ts';
import type { Delayed } from '../state/delayed-orders.ts';
import type { Market } from '../state/markets.ts';
import type { Output, State } from '../state/state.ts';
import { checkRelease } from './check-placement.ts';
import { takeOrder } from './fill-and-rest.ts';
import { endBoth, flagsOfRefusal } from './self-trade.ts';
import { takerOf } from './taker.ts';

/**
 * The ends of taker delays.
 *
 * Promises: orders are released by the end of their delay, then by arrival, as far as the budgets of the record go; each
 * gets back what it held and is then placed like a new one, or refused for what has changed since, and that answer is
 * remembered even if the refusal is not final: a delayed order has one end. Events are of command -1, whoever moved the
 * clock. In a market that resolves, all are refused, whatever is left of their delay.
 */
export function releaseDue(state: State, out: Output): void {
  const half = out.limits.fillsPerRecord / 2;
  while (state.delays.nextMs <= state.timeMs && out.releasesLeft > 0 && out.fillsLeft > half) {
    release(state, state.delays.takeNext(), out);
  }
}

/** Refuses what is delayed in a resolved market. */
export function refuseDelayed(state: State, market: Market, out: Output): void {
  if (state.delays.countOf(market) === 0 || out.releasesLeft === 0) return;
  for (const delayed of state.delays.takeOf(market, out.releasesLeft)) release(state, delayed, out);
}

function release(state: State, delayed: Delayed, out: Output): void {
  const { command } = out;
  out.command = -1;
  out.releasesLeft -= 1;
  giveBack(state, delayed);
  const taker = {
    ...takerOf(state, delayed.order, delayed.market, out),
    memory: delayed.memory,
    rests: delayed.rests,
  };
  const refusal = checkRelease(state, taker);
  if (refusal === null) {
    takeOrder(state, taker, out);
  } else {
    if (refusal === 'self_trade') endBoth(state, taker, out);
    refuse(state, delayed, refusal, out);
  }
  state.positions.addOrders(delayed.position, -1);
  state.positions.close(delayed.position);
  out.command = command;
}

/** What it held is free, as if it had just come in; its position is kept until its end. */
function giveBack(state: State, { order, wallet, position, account }: Delayed): void {
  const { holdMicro, outcome, sizeMicro } = order;
  if (order.side === 'SELL') state.unlock(position, outcome, sizeMicro);
  state.wallets.move(wallet, holdMicro, -holdMicro);
  state.wallets.addOpenOrders(wallet, -1);
  state.accounts.release(account);
}

function refuse(state: State, { order, memory }: Delayed, code: RefusalCode, out: Output): void {
  state.orderMemory.setAnswer(memory, flagsOfRefusal(order, code));
  state.orderMemory.end(memory, false);
  writeRefused(order, code, out);
}
