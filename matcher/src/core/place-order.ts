import {
  lotMicro,
  notionalMicro,
  type PlacedStatus,
  type PlaceOrder,
  type RefusalCode,
  refusals,
} from '@pm/schemas';
import { packPrice } from './book.ts';
import { checkOrder, isStale, mayRest } from './check-order.ts';
import { matchTaker } from './match.ts';
import { codeOfFlags, flagsOfCode, sellFlag, statusMask, statusOfFlags } from './memory.ts';
import type { Output, State } from './state.ts';
import { isComplete, type Taker, takerOf } from './taker.ts';

/**
 * An order is refused and changes nothing, or it is taken: it fills what it meets, then rests (GTC, GTD) or ends. The
 * first answer to an id is remembered if the order was taken or if the refusal is final; a repetition gets it again.
 */
export function placeOrder(state: State, order: PlaceOrder, out: Output): void {
  const market = state.markets.find(order.market);
  if (market === undefined || (order.outcome !== 0 && order.outcome !== 1)) {
    refuse(order, 'market_not_found', out);
    return;
  }
  if (isStale(state, order)) {
    refuse(order, 'stale_order', out);
    return;
  }
  const known = state.orderMemory.find(order.orderId);
  if (known !== -1) {
    repeat(state, order, known, out);
    return;
  }
  const taker = takerOf(state, order, market, out);
  const refusal = checkOrder(state, taker);
  if (refusal === null) {
    take(state, taker, out);
    return;
  }
  if (refusals[refusal].final === true) rememberRefusal(state, order, refusal);
  refuse(order, refusal, out);
}

/** From here on nothing can refuse the order any more. */
function take(state: State, taker: Taker, out: Output): void {
  const { order } = taker;
  if (taker.wallet === -1) taker.wallet = state.wallets.intern(order.maker);
  if (taker.position === -1) taker.position = state.positions.open(taker.wallet, taker.market.slot);
  taker.memory = state.orderMemory.add(order.signedAtMs);
  state.orderMemory.setSigner(taker.memory, order.signer);
  matchTaker(state, taker, out);
  const restingMicro = restWhatIsLeft(state, taker);
  moveTakerMoney(state, taker, restingMicro);
  const status = statusOf(taker, restingMicro);
  rememberAnswer(state, taker, status);
  state.positions.close(taker.position);
  announce(taker, status, restingMicro, out);
}

function restWhatIsLeft(state: State, taker: Taker): number {
  const { order, market } = taker;
  if (taker.lotsLeft === 0 || taker.isStopped || !mayRest(order)) return 0;
  const place = packPrice(taker.limit0, taker.isBid, order.outcome);
  const resting = state.book.rest(market.slot, place, taker.lotsLeft);
  const restingMicro = taker.lotsLeft * lotMicro;
  state.attach(resting, {
    memory: taker.memory,
    wallet: taker.wallet,
    position: taker.position,
    account: state.accounts.open(order.signer, order.apiKey),
    builder: state.builders.intern(order.builder),
    expiresAtMs: order.expiresAtMs,
  });
  if (!taker.isBuy) state.positions.addLocked(taker.position, order.outcome, restingMicro);
  return restingMicro;
}

function moveTakerMoney(state: State, taker: Taker, restingMicro: number): void {
  const { paidMicro, feeMicro, wallet } = taker;
  if (taker.isBuy) {
    const held = notionalMicro(taker.order.price, restingMicro);
    state.wallets.move(wallet, -(paidMicro + feeMicro + held), held);
  } else {
    state.wallets.move(wallet, paidMicro - feeMicro, 0);
  }
  state.wallets.move(state.feeWallet, feeMicro, 0);
}

function statusOf(taker: Taker, restingMicro: number): PlacedStatus {
  if (restingMicro > 0) return 'LIVE';
  return isComplete(taker) ? 'MATCHED' : 'CANCELED';
}

function rememberAnswer(state: State, taker: Taker, status: PlacedStatus): void {
  const number = statusOfFlags.indexOf(status as (typeof statusOfFlags)[number]);
  state.orderMemory.setFlags(taker.memory, number | (taker.isBuy ? 0 : sellFlag));
  state.orderMemory.setSums(taker.memory, taker.filledMicro, taker.paidMicro);
}

function rememberRefusal(state: State, order: PlaceOrder, code: RefusalCode): void {
  const slot = state.orderMemory.add(order.signedAtMs);
  const sell = order.side === 'BUY' ? 0 : sellFlag;
  state.orderMemory.setFlags(slot, flagsOfCode(code) | sell);
}

function announce(taker: Taker, status: PlacedStatus, restingMicro: number, out: Output): void {
  const { order } = taker;
  out.events.push({
    kind: 'OrderPlaced',
    command: out.command,
    orderId: order.orderId,
    market: order.market,
    outcome: order.outcome,
    side: order.side,
    timeInForce: order.timeInForce,
    postOnly: order.postOnly,
    price: order.price,
    sizeMicro: order.sizeMicro,
    expiresAtMs: order.expiresAtMs,
    acceptedAtMs: order.acceptedAtMs,
    maker: order.maker,
    signer: order.signer,
    apiKey: order.apiKey,
    builder: order.builder,
    status,
    filledMicro: taker.filledMicro,
    paidMicro: taker.paidMicro,
    feeMicro: taker.feeMicro,
    restingMicro,
  });
}

function refuse(order: PlaceOrder, code: RefusalCode, out: Output): void {
  out.events.push({
    kind: 'OrderRefused',
    command: out.command,
    orderId: order.orderId,
    market: order.market,
    maker: order.maker,
    apiKey: order.apiKey,
    code,
  });
}

function repeat(state: State, order: PlaceOrder, slot: number, out: Output): void {
  const memory = state.orderMemory;
  const flags = memory.flags(slot);
  out.events.push({
    kind: 'OrderRepeated',
    command: out.command,
    orderId: order.orderId,
    maker: order.maker,
    alive: memory.order(slot) !== -1,
    code: codeOfFlags(flags),
    status: statusOfFlags[flags & statusMask] ?? 'LIVE',
    side: (flags & sellFlag) === 0 ? 'BUY' : 'SELL',
    filledMicro: memory.filledMicro(slot),
    paidMicro: memory.paidMicro(slot),
    placedAtOffset: -1,
    firstFill: -1,
    fillCount: 0,
  });
}
