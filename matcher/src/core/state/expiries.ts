import type { OrderPool } from '../book/order-pool.ts';

/**
 * Resting GTD orders by (expiry, arrival): a binary heap with the place of each order, so that a canceled order leaves
 * at once and `nextMs` is exact.
 */
export class Expiries {
  private readonly orders: OrderPool;
  private readonly heap: number[] = [];
  /** Place in the heap plus one by order, 0 when it has none. */
  private places = new Int32Array(1024);

  constructor(orders: OrderPool) {
    this.orders = orders;
  }

  /** The earliest expiry, Infinity when none. */
  get nextMs(): number {
    const first = this.heap[0];
    return first === undefined ? Number.POSITIVE_INFINITY : this.orders.expiresAtMs(first);
  }

  /** The order of `nextMs`, or -1. */
  get first(): number {
    return this.heap[0] ?? -1;
  }

  get count(): number {
    return this.heap.length;
  }

  has(order: number): boolean {
    return order < this.places.length && this.places[order] !== 0;
  }

  add(order: number): void {
    if (order >= this.places.length) this.grow(order);
    this.heap.push(order);
    this.rise(this.heap.length - 1, order);
  }

  remove(order: number): void {
    const place = (this.places[order] as number) - 1;
    this.places[order] = 0;
    const last = this.heap.pop() as number;
    if (last === order) return;
    this.rise(place, last);
    this.sink((this.places[last] as number) - 1, last);
  }

  private isBefore(a: number, b: number): boolean {
    const difference = this.orders.expiresAtMs(a) - this.orders.expiresAtMs(b);
    return difference < 0 || (difference === 0 && this.orders.arrival(a) < this.orders.arrival(b));
  }

  private rise(from: number, order: number): void {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const other = this.heap[above] as number;
      if (!this.isBefore(order, other)) break;
      this.put(place, other);
      place = above;
    }
    this.put(place, order);
  }

  private sink(from: number, order: number): void {
    let place = from;
    for (;;) {
      let below = place * 2 + 1;
      if (below >= this.heap.length) break;
      const right = below + 1;
      if (
        right < this.heap.length &&
        this.isBefore(this.heap[right] as number, this.heap[below] as number)
      ) {
        below = right;
      }
      const other = this.heap[below] as number;
      if (!this.isBefore(other, order)) break;
      this.put(place, other);
      place = below;
    }
    this.put(place, order);
  }

  private grow(order: number): void {
    const grown = new Int32Array(2 ** Math.ceil(Math.log2(order + 2)));
    grown.set(this.places);
    this.places = grown;
  }

  private put(place: number, order: number): void {
    this.heap[place] = order;
    this.places[order] = place + 1;
  }
}
