import type { CancelReason } from '@pm/schemas/log/types';
import { feeMicro, lotMicro, notionalMicro } from '@pm/schemas/money';
import { writeFill } from '../events/write-events.ts';
import { removeResting } from '../orders/cancel-resting.ts';
import { type Interaction, interactionWith } from '../orders/self-trade.ts';
import { type FillFacts, lotsTaken, type Taker, takerPrice } from '../orders/taker.ts';
import type { Output } from '../record.ts';
import type { State } from '../state/state.ts';
import { at } from './order-pool.ts';

/**
 * Fills of an incoming order, complete and partial.
 *
 * Promises: makers are met by price, then time; each fill is at the maker's price; a lot costs a whole number of
 * micro-USDC, so both sides and the collateral balance exactly. Buyer and seller of one token swap it (COMPLEMENTARY),
 * two buyers create a pair and its collateral (MINT), two sellers destroy one (MERGE). The taker alone pays a fee: a
 * buyer on top, never beyond the order's hold; a seller out of the proceeds. The taker's own money moves after all
 * fills. An overdue order in the way expires instead of filling, an order of the same signer follows the taker's mode
 * of self-trade (`interactionWith`). A taker that may meet no more orders stops. Fills follow each other directly among
 * the events; the cancels of orders in the way come after them.
 */
export function matchTaker(state: State, taker: Taker, out: Output): void {
  while (taker.lotsLeft > 0 && !taker.isStopped) {
    const maker = state.book.firstMaker(taker.market.slot, taker.isBid, taker.limit0);
    if (maker === -1) break;
    const price = takerPrice(taker, state.book.orders.price0(maker));
    const lots = lotsTaken(taker, price, state.book.orders.get(maker, at.restLots));
    if (lots === 0) break;
    const interaction = taker.interactionsLeft === 0 ? 'end' : interactionWith(state, taker, maker);
    taker.isStopped = interaction === 'end' || interaction === 'end-both';
    if (interaction === 'end') break;
    taker.interactionsLeft -= 1;
    out.fillsLeft -= 1;
    if (interaction === 'fill') fill(state, taker, factsOf(maker, price, lots, out), out);
    else
      out.events.pushLater(removeResting(state, maker, clearedBy(state, maker, interaction), out));
  }
  out.events.endLater();
}

/** The reason of the cancel of a maker that is cleared away. */
function clearedBy(state: State, maker: number, interaction: Interaction): CancelReason {
  return interaction === 'expire' ? state.overdueReason(maker) : 'SELF_TRADE';
}

function factsOf(maker: number, price: number, lots: number, { scratch }: Output): FillFacts {
  const facts = scratch.fill;
  facts.maker = maker;
  facts.price = price;
  facts.lots = lots;
  facts.fee = 0;
  return facts;
}

function fill(state: State, taker: Taker, facts: FillFacts, out: Output): void {
  const { maker, price, lots } = facts;
  const sizeMicro = lots * lotMicro;
  const paidMicro = notionalMicro(price, sizeMicro);
  taker.fills += 1;
  taker.lotsLeft -= lots;
  taker.filledMicro += sizeMicro;
  taker.paidMicro += paidMicro;
  if (taker.hasBudget) taker.budgetLeftMicro -= paidMicro;
  facts.fee = feeOf(taker, price, sizeMicro);
  taker.feeMicro += facts.fee;
  settleTokens(state, taker, maker, sizeMicro);
  settleMakerMoney(state, maker, sizeMicro);
  writeFill(state, taker, facts, out);
  const restLots = state.book.orders.get(maker, at.restLots) - lots;
  if (restLots === 0) state.detach(maker, true);
  else state.book.reduce(maker, lots);
}

/** The fee of the fill just counted. It leaves a buyer the money that the rest of the order still needs. */
function feeOf(taker: Taker, price: number, sizeMicro: number): number {
  const fee = feeMicro(price, sizeMicro, taker.market.feeRateBps);
  if (fee === 0) return 0;
  if (!taker.isBuy) return Math.min(fee, notionalMicro(price, sizeMicro));
  const needed = taker.hasBudget
    ? taker.budgetLeftMicro
    : notionalMicro(taker.order.price, taker.lotsLeft * lotMicro);
  const room = taker.order.holdMicro - taker.paidMicro - taker.feeMicro - needed;
  return Math.max(0, Math.min(fee, room));
}

function settleTokens(state: State, taker: Taker, maker: number, sizeMicro: number): void {
  const { positions, book } = state;
  const makerPosition = book.orders.get(maker, at.position);
  const makerOutcome = book.orders.outcome(maker);
  const makerBuys = state.isBuy(maker);
  if (!makerBuys) positions.addLocked(makerPosition, makerOutcome, -sizeMicro);
  positions.addTokens(makerPosition, makerOutcome, makerBuys ? sizeMicro : -sizeMicro);
  positions.addTokens(taker.position, taker.order.outcome, taker.isBuy ? sizeMicro : -sizeMicro);
  if (makerOutcome !== taker.order.outcome) {
    taker.market.collateralMicro += taker.isBuy ? sizeMicro : -sizeMicro;
  }
}

function settleMakerMoney(state: State, maker: number, sizeMicro: number): void {
  const wallet = state.book.orders.get(maker, at.wallet);
  const amount = notionalMicro(state.ownPrice(maker), sizeMicro);
  if (state.isBuy(maker)) state.wallets.move(wallet, 0, -amount);
  else state.wallets.move(wallet, amount, 0);
}
