import {
  cancelsPerRecordMax,
  fencesMax,
  fillsPerOrderMax,
  fillsPerRecordMax,
  type KeyRole,
  type MarketMode,
  priceOne,
  releasesPerRecordMax,
} from '@pm/schemas';
import { Accounts } from './accounts.ts';
import { Book } from './book.ts';
import { Delays } from './delays.ts';
import type { EventWriter } from './event-writer.ts';
import { Expiries } from './expiries.ts';
import { Fences } from './fences.ts';
import { Interned } from './interned.ts';
import { type Market, Markets } from './markets.ts';
import { Memory } from './memory.ts';
import { at } from './order-pool.ts';
import { Positions } from './positions.ts';
import { SignOffKeys } from './sign-off-keys.ts';
import { Wallets } from './wallets.ts';

/** Everything a partition knows, and the steps that more than one kind of command takes. */
export class State {
  readonly partition: number;
  opened = false;
  operatorKey: Buffer | null = null;
  /** Slot of the wallet that fees are paid to. */
  feeWallet = -1;
  bookAgeLimitMs = 0;
  orderAgeLimitMs = 0;
  timeMs = 0;
  generation = 0;
  /** What all markets take at most; never RESOLVED. */
  mode: MarketMode = 'OPEN';
  readonly keys = new SignOffKeys();
  readonly markets = new Markets();
  readonly book = new Book();
  readonly wallets = new Wallets();
  readonly positions = new Positions(this.wallets);
  readonly accounts = new Accounts(this.book.orders);
  readonly builders = new Interned(8, 0);
  readonly expiries = new Expiries(this.book.orders);
  readonly delays = new Delays();
  readonly fences = new Fences();
  readonly orderMemory = new Memory();
  readonly requestMemory = new Memory();

  constructor(partition: number) {
    this.partition = partition;
  }

  /** Moves the clock, which never runs backwards, and forgets what is too old to be asked again. */
  moveClock(timeMs: number): void {
    if (timeMs <= this.timeMs) return;
    this.timeMs = timeMs;
    this.orderMemory.forget(timeMs, this.orderAgeLimitMs);
    this.requestMemory.forget(timeMs, this.orderAgeLimitMs);
    this.fences.forget(timeMs - this.bookAgeLimitMs);
  }

  /** Hangs an order the book has just taken on everything that must know of it. */
  attach(order: number, owner: OrderOwner): void {
    const { orders } = this.book;
    orders.set(order, at.memory, owner.memory);
    orders.set(order, at.wallet, owner.wallet);
    orders.set(order, at.position, owner.position);
    orders.set(order, at.builder, owner.builder);
    orders.setExpiresAtMs(order, owner.expiresAtMs);
    this.accounts.link(owner.account, order);
    this.wallets.addOpenOrders(owner.wallet, 1);
    this.positions.addOrders(owner.position, 1);
    this.builders.hold(owner.builder);
    this.orderMemory.setOrder(owner.memory, order);
    if (owner.expiresAtMs > 0) this.expiries.add(order);
  }

  /** Takes an order off the book and off everything that knows of it; what it holds has been settled. */
  detach(order: number, isFilled: boolean): void {
    const { orders } = this.book;
    const position = orders.get(order, at.position);
    if (orders.expiresAtMs(order) > 0) this.expiries.remove(order);
    this.orderMemory.end(orders.get(order, at.memory), isFilled);
    this.builders.release(orders.get(order, at.builder));
    this.wallets.addOpenOrders(orders.get(order, at.wallet), -1);
    this.accounts.unlink(order);
    this.book.remove(order);
    this.positions.addOrders(position, -1);
    this.positions.close(position);
  }

  /** Locks tokens of a sell, unless they were redeemed already. */
  lock(position: number, outcome: number, micro: number): void {
    if (!this.isRedeemed(position)) this.positions.addLocked(position, outcome, micro);
  }

  /** Gives them back, unless they were redeemed meanwhile. */
  unlock(position: number, outcome: number, micro: number): void {
    if (!this.isRedeemed(position)) this.positions.addLocked(position, outcome, -micro);
  }

  /** A redemption takes all tokens, locked or not; sells of the resolved market may still wait for their sweep. */
  private isRedeemed(position: number): boolean {
    const { mode } = this.markets.at(this.positions.market(position));
    const total = this.positions.totalMicro(position, 0) + this.positions.totalMicro(position, 1);
    return mode === 'RESOLVED' && total === 0;
  }

  /** Whether a GTD order is due but not swept yet: it is there for readers, never for takers. */
  isOverdue(order: number): boolean {
    const expiresAtMs = this.book.orders.expiresAtMs(order);
    return expiresAtMs !== 0 && expiresAtMs <= this.timeMs;
  }

  idOf(order: number): Buffer {
    return this.orderMemory.id(this.book.orders.get(order, at.memory));
  }

  marketOf(order: number): Market {
    return this.markets.at(this.book.orders.get(order, at.market));
  }

  /** A bid is a BUY of token 0 or a SELL of token 1. */
  isBuy(order: number): boolean {
    return this.book.orders.isBid(order) === (this.book.orders.outcome(order) === 0);
  }

  /** The price in terms of the order's own token. */
  ownPrice(order: number): number {
    const price = this.book.orders.price0(order);
    return this.book.orders.outcome(order) === 0 ? price : priceOne - price;
  }
}

/** What a resting order belongs to, as slots. */
export interface OrderOwner {
  readonly memory: number;
  readonly wallet: number;
  readonly position: number;
  readonly account: number;
  readonly builder: number;
  readonly expiresAtMs: number;
}

/** How much one record may do. Part of the rules: another limit gives another history. */
export interface Limits {
  readonly fillsPerOrder: number;
  readonly fillsPerRecord: number;
  readonly cancelsPerRecord: number;
  readonly releasesPerRecord: number;
  readonly fences: number;
}

export const defaultLimits: Limits = {
  fillsPerOrder: fillsPerOrderMax,
  fillsPerRecord: fillsPerRecordMax,
  cancelsPerRecord: cancelsPerRecordMax,
  releasesPerRecord: releasesPerRecordMax,
  fences: fencesMax,
};

/** What the record has done so far, and what it may still do. */
export interface Output {
  readonly events: EventWriter;
  /** Index of the command that is being applied, -1 for what the partition does itself. */
  command: number;
  /** Role of the key that signed the envelope. */
  readonly role: KeyRole;
  readonly limits: Limits;
  /** Input offset of the record. */
  readonly offset: number;
  /** Resting orders that takers of this record may still meet. */
  fillsLeft: number;
  /** Orders that expiries, resolutions and `CancelOrders` of this record may still cancel. */
  cancelsLeft: number;
  /** Delayed orders that may still be released or refused with their market. */
  releasesLeft: number;
}
