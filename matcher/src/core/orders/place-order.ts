import { rules } from '@pm/schemas/log/log-rules';
import type { PlaceOrder } from '@pm/schemas/log/orders';
import { type RefusalCode, refusals } from '@pm/schemas/refusals';
import { writeRefused } from '../events/write-events.ts';
import { interactionsMax, type Output } from '../record.ts';
import { flagsOfRefusal, idWords } from '../state/order-results.ts';
import type { State } from '../state/state.ts';
import { checkHold, checkPlacement, isStale } from './check-placement.ts';
import { delayOrder, holdForTick, isDelayed, isHeldForTick } from './delay-order.ts';
import { fillAndRest, registerOrder } from './fill-and-rest.ts';
import { commandsAhead } from './look-ahead.ts';
import { repeatOrder } from './repeat-order.ts';
import { cancelOwnMaker } from './self-trade.ts';
import { assignWallet, type Taker } from './taker.ts';

/**
 * An order is refused and changes nothing, or it is accepted: it fills what it meets, then rests (GTC, GTD) or ends; in
 * a market with a taker delay an order that would trade at once is delayed first, and an order whose time to book the
 * next tick judges is held until then. The first result of an id is remembered if the order was accepted or if the
 * refusal is final; a repetition gets the same result again, however long ago the order was signed. While there
 * is no room to remember one more, no new order is looked at.
 */
export function placeOrder(state: State, order: PlaceOrder, out: Output): void {
  const market = state.markets.find(order.market);
  if (market === undefined || (order.outcome !== 0 && order.outcome !== 1)) {
    writeRefused(order, 'market_not_found', out);
    return;
  }
  const { ahead } = out.scratch;
  const index = out.command % commandsAhead;
  const known = state.orderMemory.findLoaded(
    ahead.ids,
    index * idWords,
    ahead.hashes[index] as number,
  );
  const isKnown = known !== -1 && (state.rules >= rules.knownBeforeAge || !isStale(state, order));
  if (isKnown) {
    repeatOrder(state, order, known, out);
    return;
  }
  if (isStale(state, order)) {
    writeRefused(order, 'stale_order', out);
    return;
  }
  if (state.isMemoryFull(out.limits.rememberedIds)) {
    writeRefused(order, 'overloaded', out);
    return;
  }
  const taker = out.scratch.taker.begin(order, market, interactionsMax(out));
  const wallet = ahead.wallets[index] as number;
  assignWallet(state, taker, wallet === -1 ? state.wallets.find(order.maker) : wallet);
  taker.account = ahead.accounts[index] as number;
  taker.builder = ahead.builders[index] as number;
  taker.isJudged = state.rules < rules.judgedByTicks;
  const isHeld = isHeldForTick(state, order);
  const refusal = isHeld ? checkHold(state, taker) : checkPlacement(state, taker);
  if (refusal !== null) {
    refuseNew(state, taker, refusal, out);
  } else if (isHeld) {
    holdForTick(state, taker, out);
  } else if (isDelayed(state, taker)) {
    delayOrder(state, taker, out);
  } else {
    registerOrder(state, taker);
    fillAndRest(state, taker, out);
  }
}

function refuseNew(state: State, taker: Taker, code: RefusalCode, out: Output): void {
  const { order } = taker;
  if (refusals[code].final === true) {
    const slot = state.orderMemory.add(order.signedAtMs);
    state.orderMemory.setFlags(slot, flagsOfRefusal(order.side, code));
  }
  if (code === 'self_trade') cancelOwnMaker(state, taker, out);
  writeRefused(order, code, out);
}
