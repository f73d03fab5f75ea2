import { rules } from '@pm/schemas/log/log-rules';
import { noOwner } from '@pm/schemas/log/orders';
import type { CancelReason, MarketMode } from '@pm/schemas/log/types';
import { priceOne } from '@pm/schemas/money';
import { Book } from '../book/book.ts';
import { at, type Owner } from '../book/order-pool.ts';
import { SignOffKeys } from '../rules/sign-off-keys.ts';
import { Accounts } from './accounts.ts';
import { BookedOrders } from './booked-orders.ts';
import { DelayedOrders } from './delayed-orders.ts';
import { Expiries } from './expiries.ts';
import { FencedIds } from './fenced-ids.ts';
import { Fences } from './fences.ts';
import { Interned } from './interned.ts';
import { type Market, Markets } from './markets.ts';
import { IdMemory } from './order-results.ts';
import { Positions } from './positions.ts';
import { Wallets } from './wallets.ts';

/** The whole state of a partition, and the changes that several kinds of commands share. */
export class State {
  readonly partition: number;
  opened = false;
  /** The key that opened the partition. */
  operatorKey: Buffer | null = null;
  /** Slot of the wallet that fees are paid to. */
  feeWallet = -1;
  bookAgeLimitMs = 0;
  orderAgeLimitMs = 0;
  timeMs = 0;
  generation = 0;
  /** Version of the rules that records are judged by (`SetRules`). */
  rules = 0;
  /** The latest time that a key other than an owner's bears witness to, Unix milliseconds; 0 before the first. */
  witnessMs = 0;
  /** Number of the claim that gave the partition to its owner; 0 before the first. */
  term = 0;
  /** Id of the process that has claimed the partition last. */
  owner: Buffer = noOwner;
  /** Limits the modes of all markets; never RESOLVED. */
  mode: MarketMode = 'OPEN';
  readonly keys = new SignOffKeys();
  readonly markets = new Markets();
  readonly book = new Book();
  readonly wallets = new Wallets();
  readonly positions = new Positions(this.wallets);
  readonly accounts = new Accounts(this.book.orders);
  readonly builders = new Interned(8, 0);
  readonly expiries = new Expiries(this.book.orders);
  readonly delays = new DelayedOrders();
  readonly booked = new BookedOrders();
  readonly fences = new Fences();
  readonly fencedIds = new FencedIds();
  readonly orderMemory = new IdMemory();
  readonly requestMemory = new IdMemory();

  constructor(partition: number) {
    this.partition = partition;
  }

  /** Moves the clock, which never runs backwards, and forgets ids and fences that no order in time can need. */
  moveClock(timeMs: number): void {
    if (timeMs <= this.timeMs) return;
    this.timeMs = timeMs;
    this.orderMemory.forget(timeMs, this.orderAgeLimitMs);
    this.requestMemory.forget(timeMs, this.orderAgeLimitMs);
    this.fences.forget(timeMs - this.bookAgeLimitMs);
    this.fencedIds.forget(timeMs - this.bookAgeLimitMs);
  }

  /** Whether there is no room for one more id: then nothing may be applied that had to be remembered. */
  isMemoryFull(idsMax: number): boolean {
    if (this.rules < rules.boundedIds) return false;
    return this.orderMemory.count + this.requestMemory.count >= idsMax;
  }

  /** Removes records of ids that are forgotten: some of them, or as many as are said. */
  sweepIds(max?: number): void {
    this.orderMemory.sweep(max);
    this.requestMemory.sweep(max);
  }

  /** Registers an order that was just added to the book with its id, wallet, position, account and expiry. */
  attach(order: number, owner: Owner): void {
    this.book.orders.setOwner(order, owner);
    this.accounts.link(owner.account, order);
    this.wallets.addOpenOrders(owner.wallet, 1);
    this.positions.addOrders(owner.position, 1);
    this.builders.hold(owner.builder);
    this.orderMemory.setOrder(owner.memory, order);
    if (owner.expiresAtMs > 0) this.expiries.add(order);
  }

  /**
   * Removes an order from the book and from its id, wallet, position, account and expiry; its funds are settled
   * already.
   */
  detach(order: number, isFilled: boolean): void {
    const { orders } = this.book;
    const position = orders.get(order, at.position);
    if (orders.expiresAtMs(order) > 0) this.expiries.remove(order);
    this.booked.remove(order);
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

  /** Unlocks them, unless they were redeemed meanwhile. */
  unlock(position: number, outcome: number, micro: number): void {
    if (!this.isRedeemed(position)) this.positions.addLocked(position, outcome, -micro);
  }

  /** A redemption takes all tokens, locked or not; sells of the resolved market may still wait for their cancel. */
  private isRedeemed(position: number): boolean {
    const { mode } = this.markets.at(this.positions.market(position));
    const total = this.positions.totalMicro(position, 0) + this.positions.totalMicro(position, 1);
    return mode === 'RESOLVED' && total === 0;
  }

  /**
   * Whether an order is past its expiry, or came too late, but is not canceled yet: it is in the book for readers,
   * never for takers.
   */
  isOverdue(order: number): boolean {
    const expiresAtMs = this.book.orders.expiresAtMs(order);
    return (expiresAtMs !== 0 && expiresAtMs <= this.timeMs) || this.booked.isLate(order);
  }

  /** Why an overdue order is canceled. */
  overdueReason(order: number): CancelReason {
    return this.booked.isLate(order) ? 'TOO_LATE' : 'EXPIRED';
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
