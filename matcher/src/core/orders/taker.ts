import type { PlaceOrder } from '@pm/schemas/log/orders';
import { affordableMicro, complementPrice, lotMicro, orderSizeMaxMicro } from '@pm/schemas/money';
import { readWords } from '../state/key-table.ts';
import type { Market } from '../state/markets.ts';
import { signerWords } from '../state/order-results.ts';
import type { State } from '../state/state.ts';

/** An incoming order while it is matched: its remainder and its fills so far. */
export interface Taker {
  readonly order: PlaceOrder;
  readonly market: Market;
  /** Its signer in words, as the memory of ids has it. */
  readonly signer: Int32Array;
  /** Its place in the book: BUY of token 0 and SELL of token 1 are bids. */
  readonly isBid: boolean;
  readonly isBuy: boolean;
  /** Limit in terms of token 0. */
  readonly limit0: number;
  /** Whether it has a budget to spend instead of a size. */
  readonly hasBudget: boolean;
  /** Slot of its wallet, -1 when the partition does not know it. */
  wallet: number;
  position: number;
  /** Slots once it is registered. */
  memory: number;
  account: number;
  builder: number;
  lotsLeft: number;
  budgetLeftMicro: number;
  /** Whether its remainder may rest. */
  readonly rests: boolean;
  /** Resting orders it may still meet: those it fills, and those in its way that it clears. */
  interactionsLeft: number;
  filledMicro: number;
  paidMicro: number;
  feeMicro: number;
  fills: number;
  /** Micro-shares that rest in the book in the end. */
  restingMicro: number;
  /** Orders it clears before the first that it meets (`firstUncleared`). */
  clearedFirst: number;
  /** Whether no tick judges any more how late it came to its book. */
  isJudged: boolean;
  /** A self-trade or the limit of interactions ended it: its remainder is canceled. */
  isStopped: boolean;
}

/** A fill that is not yet subtracted from its maker. */
export interface FillFacts {
  maker: number;
  /** In terms of the taker's token. */
  price: number;
  lots: number;
  /** Micro-USDC, once it is known. */
  fee: number;
}

type Mutable = { -readonly [Field in keyof Taker]: Taker[Field] };

/** One taker whose memory is used by one order after the other: it ends when the next one begins. */
export class ReusedTaker {
  private taker: Mutable | null = null;

  /** The taker of an order that may meet up to `interactionsMax` resting orders; it has no wallet yet. */
  begin(order: PlaceOrder, market: Market, interactionsMax: number): Taker {
    const taker = this.taker ?? blankTaker(order, market);
    this.taker = taker;
    taker.order = order;
    taker.market = market;
    readWords(order.signer, taker.signer, 0);
    taker.isBuy = order.side === 'BUY';
    taker.isBid = taker.isBuy === (order.outcome === 0);
    taker.limit0 = order.outcome === 0 ? order.price : complementPrice(order.price);
    taker.hasBudget = order.budgetMicro > 0;
    taker.wallet = -1;
    taker.position = -1;
    taker.memory = -1;
    taker.account = -1;
    taker.builder = -1;
    taker.lotsLeft = (taker.hasBudget ? orderSizeMaxMicro : order.sizeMicro) / lotMicro;
    taker.budgetLeftMicro = order.budgetMicro;
    taker.rests = mayRest(order);
    taker.interactionsLeft = interactionsMax;
    taker.filledMicro = 0;
    taker.paidMicro = 0;
    taker.feeMicro = 0;
    taker.fills = 0;
    taker.clearedFirst = 0;
    taker.restingMicro = 0;
    taker.isJudged = false;
    taker.isStopped = false;
    return taker;
  }
}

/** Whether what is left of an order rests in the book, by its time in force. */
export function mayRest({ timeInForce }: PlaceOrder): boolean {
  return timeInForce === 'GTC' || timeInForce === 'GTD';
}

/** Gives it a wallet (slot or -1) and its position. */
export function assignWallet(state: State, taker: Taker, wallet: number): void {
  taker.wallet = wallet;
  taker.position = state.positions.find(wallet, taker.market.slot);
}

function blankTaker(order: PlaceOrder, market: Market): Mutable {
  return {
    order,
    market,
    signer: new Int32Array(signerWords),
    isBid: false,
    isBuy: false,
    limit0: 0,
    hasBudget: false,
    wallet: -1,
    position: -1,
    memory: -1,
    account: -1,
    builder: -1,
    lotsLeft: 0,
    budgetLeftMicro: 0,
    rests: false,
    interactionsLeft: 0,
    filledMicro: 0,
    paidMicro: 0,
    feeMicro: 0,
    fills: 0,
    clearedFirst: 0,
    restingMicro: 0,
    isJudged: false,
    isStopped: false,
  };
}

/** The price of a level in terms of the taker's token. */
export function takerPrice(taker: Taker, price0: number): number {
  return taker.order.outcome === 0 ? price0 : complementPrice(price0);
}

/** Whether the size is filled, or the budget no longer pays a lot at the limit. */
export function isComplete(taker: Taker): boolean {
  if (taker.hasBudget) return taker.budgetLeftMicro < taker.order.price;
  return taker.lotsLeft === 0;
}

/** Lots it takes of a maker: no more than both have, nor than the budget pays at that price. */
export function lotsTaken(taker: Taker, price: number, makerLots: number): number {
  const lots = Math.min(taker.lotsLeft, makerLots);
  if (!taker.hasBudget) return lots;
  return Math.min(lots, affordableMicro(price, taker.budgetLeftMicro) / lotMicro);
}
