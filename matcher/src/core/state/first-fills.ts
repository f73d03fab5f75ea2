import { DeferredSlots } from './deferred-slots.ts';
import { newWords } from './key-table.ts';

/** The fills of an order at its placement in sum, and their place in the log. */
export interface FirstFills {
  /** Micro-shares. */
  readonly filledMicro: number;
  /** Micro-USDC, without the fee. */
  readonly paidMicro: number;
  /** Input offset of their record. */
  readonly offset: number;
  /** Index of the first among the events of that record; the others follow it directly. */
  readonly first: number;
  readonly count: number;
}

export const noFills: FirstFills = {
  filledMicro: 0,
  paidMicro: 0,
  offset: -1,
  first: -1,
  count: 0,
};

/** Doubles of a record, in the order of `FirstFills`. */
export const fillsDoubles = 5;

/**
 * First fills in flat memory, 40 bytes for each order that has any. A record is written once and stays until its order
 * is forgotten, so other threads may read it.
 */
export class FirstFillsPool {
  private floats = new Float64Array(newWords(64 * fillsDoubles * 2, true).buffer);
  private fresh = 0;
  private readonly free: number[] = [];
  /** Slots of records that were removed while another thread reads them. */
  readonly held = new DeferredSlots();

  get(place: number): FirstFills {
    const at = place * fillsDoubles;
    const { floats } = this;
    return {
      filledMicro: floats[at] as number,
      paidMicro: floats[at + 1] as number,
      offset: floats[at + 2] as number,
      first: floats[at + 3] as number,
      count: floats[at + 4] as number,
    };
  }

  /** Returns the place of the record. */
  add(fills: FirstFills): number {
    const place = this.takePlace();
    const at = place * fillsDoubles;
    const { floats } = this;
    floats[at] = fills.filledMicro;
    floats[at + 1] = fills.paidMicro;
    floats[at + 2] = fills.offset;
    floats[at + 3] = fills.first;
    floats[at + 4] = fills.count;
    return place;
  }

  remove(place: number): void {
    if (!this.held.hold(place)) this.free.push(place);
  }

  freeze(): Float64Array {
    return this.floats;
  }

  private takePlace(): number {
    const held = this.held.take();
    if (held !== -1) return held;
    const place = this.free.pop();
    if (place !== undefined) return place;
    if ((this.fresh + 1) * fillsDoubles > this.floats.length) this.grow();
    this.fresh += 1;
    return this.fresh - 1;
  }

  private grow(): void {
    const floats = new Float64Array(newWords(this.floats.length * 4, true).buffer);
    floats.set(this.floats);
    this.floats = floats;
  }
}
