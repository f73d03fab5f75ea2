/**
 * Resting orders that the next tick judges: those booked since the tick before, with the time of their acceptance; and
 * those that a tick found late, until their turn to be canceled comes.
 *
 * Flat memory, because every order that rests comes through here.
 */
export class BookedOrders {
  /** In order of arrival; -1 for those that have ended. */
  private orders = new Int32Array(minRoom);
  private acceptedAtMs = new Float64Array(minRoom);
  private used = 0;
  /** Place among them plus one by order, 0 when it has none. */
  private places = new Int32Array(minRoom);
  /** In order of arrival. */
  private readonly late = new Set<number>();

  /** An order that has just come to rest. */
  add(order: number, acceptedAtMs: number): void {
    if (this.used === this.orders.length) this.makeRoom();
    if (order >= this.places.length) this.growPlaces(order);
    this.orders[this.used] = order;
    this.acceptedAtMs[this.used] = acceptedAtMs;
    this.used += 1;
    this.places[order] = this.used;
  }

  addLate(order: number): void {
    this.late.add(order);
  }

  /** The order leaves the book. */
  remove(order: number): void {
    const place = order < this.places.length ? (this.places[order] as number) : 0;
    if (place !== 0) {
      this.orders[place - 1] = -1;
      this.places[order] = 0;
    } else if (this.late.size > 0) {
      this.late.delete(order);
    }
  }

  /** A tick: of the orders booked since the one before, those accepted before then are late; none is new any more. */
  judge(beforeMs: number): void {
    for (let place = 0; place < this.used; place += 1) {
      const order = this.orders[place] as number;
      if (order === -1) continue;
      this.places[order] = 0;
      if ((this.acceptedAtMs[place] as number) < beforeMs) this.late.add(order);
    }
    this.used = 0;
  }

  isLate(order: number): boolean {
    return this.late.size > 0 && this.late.has(order);
  }

  /** In order of arrival. */
  lateOrders(): Iterable<number> {
    return this.late;
  }

  /** Orders that no tick has judged, in order of arrival, with the times of their acceptance. */
  unjudged(): { readonly orders: Int32Array; readonly acceptedAtMs: Float64Array } {
    this.compact();
    const { used } = this;
    return { orders: this.orders.slice(0, used), acceptedAtMs: this.acceptedAtMs.slice(0, used) };
  }

  /** Twice what is in use after the ended ones were left out, so that the next time is as far away. */
  private makeRoom(): void {
    this.compact();
    if (this.used * 2 <= this.orders.length) return;
    const orders = new Int32Array(this.orders.length * 2);
    orders.set(this.orders);
    this.orders = orders;
    const acceptedAtMs = new Float64Array(orders.length);
    acceptedAtMs.set(this.acceptedAtMs);
    this.acceptedAtMs = acceptedAtMs;
  }

  private compact(): void {
    let kept = 0;
    for (let place = 0; place < this.used; place += 1) {
      const order = this.orders[place] as number;
      if (order === -1) continue;
      this.orders[kept] = order;
      this.acceptedAtMs[kept] = this.acceptedAtMs[place] as number;
      kept += 1;
      this.places[order] = kept;
    }
    this.used = kept;
  }

  private growPlaces(order: number): void {
    const grown = new Int32Array(2 ** Math.ceil(Math.log2(order + 2)));
    grown.set(this.places);
    this.places = grown;
  }
}

const minRoom = 1024;
