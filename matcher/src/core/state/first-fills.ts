import { KeyTable } from './key-table.ts';

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

/** First fills by a number of the order, in flat memory: 48 bytes for each order that has any. */
export class FirstFillsTable {
  private readonly table = new KeyTable(1, doubles * 2);

  get(order: number): FirstFills {
    const slot = this.find(order);
    if (slot === -1) return noFills;
    const at = slot * doubles;
    const { floats } = this.table;
    return {
      filledMicro: floats[at + 1] as number,
      paidMicro: floats[at + 2] as number,
      offset: floats[at + 3] as number,
      first: floats[at + 4] as number,
      count: floats[at + 5] as number,
    };
  }

  set(order: number, fills: FirstFills): void {
    const found = this.find(order);
    const at = (found === -1 ? this.table.insert() : found) * doubles;
    const { floats } = this.table;
    floats[at + 1] = fills.filledMicro;
    floats[at + 2] = fills.paidMicro;
    floats[at + 3] = fills.offset;
    floats[at + 4] = fills.first;
    floats[at + 5] = fills.count;
  }

  remove(order: number): void {
    const slot = this.find(order);
    if (slot !== -1) this.table.remove(slot);
  }

  private find(order: number): number {
    this.table.key[0] = order;
    return this.table.find();
  }
}

/** The first double is the key and its padding. */
const doubles = 6;
