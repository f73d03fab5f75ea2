import type { Fences } from './fences.ts';
import type { State } from './state.ts';
import { type StateWriter, selfTrades, sides, timesInForce } from './state-bytes.ts';

/** A row per delayed order, by release: its id, position and builder code, then its terms. The owner is that of the position. */
export function writeDelays(
  { delays }: State,
  from: Readonly<Record<'positions' | 'ids', Int32Array>>,
  to: StateWriter,
): void {
  to.number(delays.count);
  for (const { order, releaseAtMs, memory, position, rests } of delays.inOrder()) {
    to.number(from.ids[memory] as number);
    to.number(from.positions[position] as number);
    to.bytes(order.apiKey);
    to.bytes(order.builder);
    to.number(releaseAtMs);
    to.number(rests ? 1 : 0);
    to.number(order.outcome);
    to.number(sides.indexOf(order.side));
    to.number(timesInForce.indexOf(order.timeInForce));
    to.number(selfTrades.indexOf(order.selfTrade));
    to.number(order.price);
    to.number(order.sizeMicro);
    to.number(order.budgetMicro);
    to.number(order.holdMicro);
    to.number(order.expiresAtMs);
    to.number(order.acceptedAtMs);
  }
}

/** By whom and by what. Nobody in particular is written as a zero in front of no bytes. */
export function writeFences(fences: Fences, to: StateWriter): void {
  to.number(fences.count);
  for (const { signer, apiKey, market, outcome, acceptedAtMs } of fences.inOrder()) {
    for (const who of [signer, apiKey]) {
      to.number(who === null ? 0 : 1);
      if (who !== null) to.bytes(who);
    }
    to.number(market);
    to.number(outcome);
    to.number(acceptedAtMs);
  }
}
