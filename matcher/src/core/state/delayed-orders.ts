import type { PlaceOrder } from '@pm/schemas/log/orders';
import type { Market } from './markets.ts';

/** An order that waits for the end of the taker delay of its market, or is held for the next tick. */
export interface DelayedOrder {
  /** Its own bytes; `holdMicro` is the money it holds (0 for a SELL). */
  readonly order: PlaceOrder;
  readonly market: Market;
  /** `withNextTick` while it is held for one. */
  releaseAtMs: number;
  /** Whether it is held so that a tick judges its time to book; it is placed, and may be delayed, after that. */
  readonly isHeld: boolean;
  /** Slots. */
  readonly memory: number;
  readonly wallet: number;
  readonly position: number;
  readonly account: number;
  /** Whether its remainder may rest: not after a cancel that covers it. */
  rests: boolean;
}

/** In place of the end of a delay: it ends with the next tick of the owner. */
export const withNextTick = 0;

/**
 * Delayed orders by the end of their delay, then by arrival, and after them those held for a tick, by arrival. Objects,
 * not flat memory: they are few, since each wallet has a limited number and a delay lasts seconds.
 */
export class DelayedOrders {
  private queue: DelayedOrder[] = [];
  /** Place of the next order in the queue; those before it were released. */
  private head = 0;
  /** Held for the next tick, by the slots of their ids, in order of arrival. */
  private readonly held = new Map<number, DelayedOrder>();
  private readonly counts = new Map<Market, number>();
  /** By account, those that may still rest. */
  private readonly resting = new Map<number, Set<DelayedOrder>>();

  get count(): number {
    return this.queue.length - this.head + this.held.size;
  }

  /** Orders that wait for a tick. */
  get heldCount(): number {
    return this.held.size;
  }

  /** When the next one is released, Infinity when there is none. */
  get nextMs(): number {
    return this.queue[this.head]?.releaseAtMs ?? Number.POSITIVE_INFINITY;
  }

  countOf(market: Market): number {
    return this.counts.get(market) ?? 0;
  }

  add(delayed: DelayedOrder): void {
    if (delayed.releaseAtMs === withNextTick) this.held.set(delayed.memory, delayed);
    else this.queue.splice(this.placeOf(delayed.releaseAtMs), 0, delayed);
    this.counts.set(delayed.market, this.countOf(delayed.market) + 1);
    if (!delayed.rests) return;
    const ofAccount = this.resting.get(delayed.account);
    if (ofAccount === undefined) this.resting.set(delayed.account, new Set([delayed]));
    else ofAccount.add(delayed);
  }

  /** The order of this id, if it is held for a tick. */
  heldBy(memory: number): DelayedOrder | undefined {
    return this.held.get(memory);
  }

  /** A tick: what was held for it is due, after what was due before. */
  endHolds(timeMs: number): void {
    if (this.held.size === 0) return;
    const due = [...this.held.values()];
    this.held.clear();
    for (const delayed of due) delayed.releaseAtMs = timeMs;
    const place = this.placeOf(timeMs);
    const before = this.queue.slice(this.head, place);
    this.queue = before.concat(due, this.queue.slice(place));
    this.head = 0;
  }

  /** Removes and returns the order of `nextMs`. */
  takeNext(): DelayedOrder {
    const next = this.queue[this.head] as DelayedOrder;
    this.head += 1;
    if (this.head > headMax && this.head * 2 > this.queue.length) {
      this.queue = this.queue.slice(this.head);
      this.head = 0;
    }
    this.forget(next);
    return next;
  }

  /** Removes and returns at most `max` orders of a market, in order of release. */
  takeOf(market: Market, max: number): DelayedOrder[] {
    const taken: DelayedOrder[] = [];
    const kept: DelayedOrder[] = [];
    for (const delayed of this.inOrder()) {
      if (delayed.market === market && taken.length < max) taken.push(delayed);
      else kept.push(delayed);
    }
    this.queue = kept.filter(({ releaseAtMs }) => releaseAtMs !== withNextTick);
    this.head = 0;
    for (const delayed of taken) {
      this.held.delete(delayed.memory);
      this.forget(delayed);
    }
    return taken;
  }

  /** The orders of an account that may still rest. */
  restingOf(account: number): Iterable<DelayedOrder> {
    return this.resting.get(account) ?? [];
  }

  /** After this its remainder does not rest. */
  denyRest(delayed: DelayedOrder): void {
    delayed.rests = false;
    this.leaveAccount(delayed);
  }

  inOrder(): readonly DelayedOrder[] {
    return [...this.queue.slice(this.head), ...this.held.values()];
  }

  /** Behind all whose delay ends until then. */
  private placeOf(releaseAtMs: number): number {
    let place = this.queue.length;
    while (place > this.head && (this.queue[place - 1] as DelayedOrder).releaseAtMs > releaseAtMs)
      place -= 1;
    return place;
  }

  private forget(delayed: DelayedOrder): void {
    const left = this.countOf(delayed.market) - 1;
    if (left === 0) this.counts.delete(delayed.market);
    else this.counts.set(delayed.market, left);
    this.leaveAccount(delayed);
  }

  private leaveAccount(delayed: DelayedOrder): void {
    const ofAccount = this.resting.get(delayed.account);
    ofAccount?.delete(delayed);
    if (ofAccount?.size === 0) this.resting.delete(delayed.account);
  }
}

/** Released orders that stay in the queue before it is cut. */
const headMax = 1024;
