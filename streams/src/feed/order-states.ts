import { assert } from '@pm/kit/assert';
import type { EventOf, OrderPlaced } from '@pm/schemas/log/executions';
import type { Side } from '@pm/schemas/log/types';
import { complementPrice } from '@pm/schemas/money';
import type { OwnOpenOrder, RestingOrder } from './changes.ts';
import type { MarketState } from './market-states.ts';
import { type FrozenTable, RecordTable, type RecordView } from './record-table.ts';
import { MadeList, type SnapshotList } from './snapshot-list.ts';
import type { WalletStates } from './wallet-states.ts';

/**
 * Words of a resting order: id 8, market, slot of its wallet, slot + 1 of its neighbours in the lists of its market and
 * of its wallet, packed terms, slot of its key, then doubles.
 */
const orderAt = {
  market: 8,
  wallet: 9,
  marketNext: 10,
  marketPrevious: 11,
  walletNext: 12,
  walletPrevious: 13,
  terms: 14,
  key: 15,
  rest: 16,
  size: 18,
  expires: 20,
  accepted: 22,
} as const;
const idWords = 8;
const orderWords = 24;
const keyWords = 4;

/** Packed terms: price in terms of the order's own token below, then one bit each. */
const priceMask = (1 << 14) - 1;
const outcomeBit = 1 << 14;
const sellBit = 1 << 15;
const gtdBit = 1 << 16;

export interface FrozenOrders {
  readonly orders: FrozenTable;
  readonly keys: FrozenTable;
  readonly delayed: readonly DelayedOrder[];
}

/** An order that waits for the end of a taker delay. */
export interface DelayedOrder extends OwnOpenOrder {
  /** Slot of its wallet. */
  readonly wallet: number;
}

/** The markets and wallets that the lists of orders begin in. */
export interface OrderOwners {
  readonly wallets: WalletStates;
  marketOf(number: number): MarketState;
}

/**
 * The resting orders of a partition by id, in a list for each market and one for each wallet, the oldest first; and the
 * delayed ones. Keys of orders stay for good: there are as many as API keys.
 */
export class OrderStates {
  readonly #orders: RecordTable;
  readonly #keys: RecordTable;
  readonly #delayed = new Map<string, DelayedOrder>();
  readonly #owners: OrderOwners;

  constructor(owners: OrderOwners, frozen?: FrozenOrders) {
    this.#owners = owners;
    if (frozen === undefined) {
      this.#orders = new RecordTable(idWords, orderWords);
      this.#keys = new RecordTable(keyWords, keyWords);
      return;
    }
    this.#orders = RecordTable.restore(idWords, orderWords, frozen.orders);
    this.#keys = RecordTable.restore(keyWords, keyWords, frozen.keys);
    for (const order of frozen.delayed) this.#delayed.set(idText(order.orderId), order);
  }

  get count(): number {
    return this.#orders.count;
  }

  delay(event: EventOf<'OrderDelayed'>): void {
    const { market, side, timeInForce, price, sizeMicro, expiresAtMs, acceptedAtMs } = event;
    this.#delayed.set(idText(event.orderId), {
      orderId: Buffer.from(event.orderId),
      apiKey: Buffer.from(event.apiKey),
      wallet: this.#owners.wallets.intern(event.maker),
      market,
      outcome: event.outcome === 1 ? 1 : 0,
      side,
      timeInForce,
      price,
      sizeMicro,
      restingMicro: null,
      expiresAtMs,
      acceptedAtMs,
    });
  }

  /** A delayed order was placed or refused: the order; null for one that was not delayed. */
  endDelay(orderId: Buffer): OwnOpenOrder | null {
    const id = idText(orderId);
    const delayed = this.#delayed.size === 0 ? undefined : this.#delayed.get(id);
    if (delayed === undefined) return null;
    this.#delayed.delete(id);
    const { wallet: _, ...order } = delayed;
    return order;
  }

  rest(event: OrderPlaced): void {
    const orders = this.#orders;
    assert(orders.find(event.orderId) === -1, 'an order rests once');
    const slot = orders.add();
    orders.setInt(slot, orderAt.market, event.market);
    orders.setInt(slot, orderAt.wallet, this.#owners.wallets.intern(event.maker));
    orders.setInt(slot, orderAt.terms, termsOf(event));
    orders.setInt(slot, orderAt.key, this.#keyOf(event.apiKey));
    orders.setFloat(slot, orderAt.rest, event.restingMicro);
    orders.setFloat(slot, orderAt.size, event.sizeMicro);
    orders.setFloat(slot, orderAt.expires, event.expiresAtMs);
    orders.setFloat(slot, orderAt.accepted, event.acceptedAtMs);
    this.#link(slot);
  }

  /** An order was filled; without a rest it leaves. The order before it; null when no such order rests. */
  fill(orderId: Buffer, restMicro: number): OwnOpenOrder | null {
    const slot = this.#orders.find(orderId);
    if (slot === -1) return null;
    const before = this.#ownAt(this.#orders, slot);
    if (restMicro > 0) this.#orders.setFloat(slot, orderAt.rest, restMicro);
    else this.#remove(slot);
    return before;
  }

  /** The order that left; null when no such order rests. */
  cancel(orderId: Buffer): OwnOpenOrder | null {
    return this.fill(orderId, 0);
  }

  /** Resting orders of a market at this moment, in terms of token 0, the oldest first. */
  ofMarket(market: MarketState): SnapshotList<RestingOrder> {
    const slots = this.#slots(market.firstOrder, orderAt.marketNext);
    const copy = this.#orders.copy(slots);
    return new MadeList(slots.length, (place) => restingAt(copy, place));
  }

  /** Adds all orders to the levels of their markets, whose ladders are empty. */
  addLevels(): void {
    for (const slot of this.#orders.slots()) {
      const market = this.#owners.marketOf(this.#orders.int(slot, orderAt.market));
      const { side, price } = inToken0(ownTerms(this.#orders.int(slot, orderAt.terms)));
      const ladder = side === 'BUY' ? market.bids : market.asks;
      ladder.set(price, ladder.sizeOf(price) + this.#orders.float(slot, orderAt.rest));
    }
  }

  /** Resting and delayed orders of a wallet by its slot at this moment; delayed ones last. */
  ofWallet(wallet: number): SnapshotList<OwnOpenOrder> {
    const slots = this.#slots(this.#owners.wallets.firstOrderOf(wallet), orderAt.walletNext);
    const copy = this.#orders.copy(slots);
    const delayed: OwnOpenOrder[] = [];
    for (const { wallet: owner, ...order } of this.#delayed.values())
      if (owner === wallet) delayed.push(order);
    return new MadeList(slots.length, (place) => this.#ownAt(copy, place), delayed);
  }

  freeze(): FrozenOrders {
    const delayed = [...this.#delayed.values()];
    return { orders: this.#orders.freeze(), keys: this.#keys.freeze(), delayed };
  }

  thaw(): void {
    this.#orders.thaw();
    this.#keys.thaw();
  }

  #keyOf(apiKey: Buffer): number {
    const slot = this.#keys.find(apiKey);
    return slot === -1 ? this.#keys.add() : slot;
  }

  /** Slots of a list of orders, the oldest first. */
  #slots(first: number, nextAt: number): readonly number[] {
    const slots: number[] = [];
    for (let slot = first; slot !== -1; slot = this.#next(slot, nextAt)) slots.push(slot);
    return slots;
  }

  /** Keys stay for good, so that a copy of an order names one. */
  #ownAt(orders: RecordView, slot: number): OwnOpenOrder {
    const terms = orders.int(slot, orderAt.terms);
    return {
      orderId: orders.keyOf(slot),
      apiKey: this.#keys.keyOf(orders.int(slot, orderAt.key)),
      market: orders.int(slot, orderAt.market),
      ...ownTerms(terms),
      timeInForce: (terms & gtdBit) === 0 ? 'GTC' : 'GTD',
      sizeMicro: orders.float(slot, orderAt.size),
      restingMicro: orders.float(slot, orderAt.rest),
      expiresAtMs: orders.float(slot, orderAt.expires),
      acceptedAtMs: orders.float(slot, orderAt.accepted),
    };
  }

  #next(slot: number, word: number): number {
    return this.#orders.int(slot, word) - 1;
  }

  /** Appends an order to both lists. */
  #link(slot: number): void {
    const { wallets } = this.#owners;
    const orders = this.#orders;
    const market = this.#owners.marketOf(orders.int(slot, orderAt.market));
    orders.setInt(slot, orderAt.marketPrevious, market.lastOrder + 1);
    if (market.lastOrder === -1) market.firstOrder = slot;
    else orders.setInt(market.lastOrder, orderAt.marketNext, slot + 1);
    market.lastOrder = slot;
    const wallet = orders.int(slot, orderAt.wallet);
    const last = wallets.lastOrderOf(wallet);
    orders.setInt(slot, orderAt.walletPrevious, last + 1);
    if (last === -1) wallets.setFirstOrder(wallet, slot);
    else orders.setInt(last, orderAt.walletNext, slot + 1);
    wallets.setLastOrder(wallet, slot);
  }

  #remove(slot: number): void {
    const { wallets } = this.#owners;
    const orders = this.#orders;
    const market = this.#owners.marketOf(orders.int(slot, orderAt.market));
    const { next, previous } = this.#cut(slot, orderAt.marketNext, orderAt.marketPrevious);
    if (previous === -1) market.firstOrder = next;
    if (next === -1) market.lastOrder = previous;
    const wallet = orders.int(slot, orderAt.wallet);
    const own = this.#cut(slot, orderAt.walletNext, orderAt.walletPrevious);
    if (own.previous === -1) wallets.setFirstOrder(wallet, own.next);
    if (own.next === -1) wallets.setLastOrder(wallet, own.previous);
    orders.remove(slot);
  }

  /** Joins the neighbours of an order in one of its lists and returns them. */
  #cut(slot: number, nextAt: number, previousAt: number): { next: number; previous: number } {
    const orders = this.#orders;
    const next = orders.int(slot, nextAt) - 1;
    const previous = orders.int(slot, previousAt) - 1;
    if (next !== -1) orders.setInt(next, previousAt, previous + 1);
    if (previous !== -1) orders.setInt(previous, nextAt, next + 1);
    return { next, previous };
  }
}

function restingAt(orders: RecordView, slot: number): RestingOrder {
  const terms = orders.int(slot, orderAt.terms);
  const restingMicro = orders.float(slot, orderAt.rest);
  return { orderId: orders.keyOf(slot), ...inToken0(ownTerms(terms)), restingMicro };
}

/** Side and price of an order in terms of its own token. */
interface OwnTerms {
  readonly outcome: 0 | 1;
  readonly side: Side;
  readonly price: number;
}

/** A BUY of token 1 at q is a SELL of token 0 at 1-q. */
export function inToken0({
  outcome,
  side,
  price,
}: {
  readonly outcome: number;
  readonly side: Side;
  readonly price: number;
}): { readonly side: Side; readonly price: number } {
  if (outcome === 0) return { side, price };
  return { side: side === 'BUY' ? 'SELL' : 'BUY', price: complementPrice(price) };
}

function termsOf({ price, outcome, side, timeInForce }: OrderPlaced): number {
  const bits = (outcome === 1 ? outcomeBit : 0) | (side === 'SELL' ? sellBit : 0);
  return price | bits | (timeInForce === 'GTD' ? gtdBit : 0);
}

function ownTerms(terms: number): OwnTerms {
  const outcome = (terms & outcomeBit) === 0 ? 0 : 1;
  return { outcome, side: (terms & sellBit) === 0 ? 'BUY' : 'SELL', price: terms & priceMask };
}

function idText(orderId: Buffer): string {
  return orderId.toString('latin1');
}
