import { type FrozenTable, KeyTable } from './key-table.ts';

/**
 * Wallets, accounts and builder codes, which the log names by bytes, as small integers (slots). Their uses are counted
 * by `hold` and `release`. Unused ones are dropped at the end of a record, many at a time: so the table does not grow
 * without bound, and one that is used again soon keeps its slot. Unused ones never show outside.
 */
export class Interned {
  readonly table: KeyTable;
  private unused = 0;

  constructor(keyWords: number, ownWords: number) {
    this.table = new KeyTable(keyWords, evenWords(keyWords + 1 + ownWords));
  }

  /** The slot of these bytes, or -1. */
  find(bytes: Buffer): number {
    return this.table.findBytes(bytes);
  }

  /** The slot of these bytes; new ones are unused until `hold`. */
  intern(bytes: Buffer): number {
    const found = this.find(bytes);
    return found === -1 ? this.add() : found;
  }

  /** A new Buffer with the whole key. */
  bytes(slot: number): Buffer {
    return this.table.bytes(slot, 0, this.table.keyWords * 4);
  }

  hold(slot: number): void {
    const word = slot * this.table.stride + this.table.keyWords;
    const holds = this.table.ints[word] as number;
    if (holds === 0) this.unused -= 1;
    this.table.ints[word] = holds + 1;
  }

  release(slot: number): void {
    const word = slot * this.table.stride + this.table.keyWords;
    const holds = (this.table.ints[word] as number) - 1;
    if (holds === 0) this.unused += 1;
    this.table.ints[word] = holds;
  }

  holds(slot: number): number {
    return this.table.ints[slot * this.table.stride + this.table.keyWords] as number;
  }

  /** Drops the unused when they are many and no fewer than the used. */
  sweep(): void {
    if (this.unused < unusedMin || this.unused * 2 < this.table.count) return;
    for (const slot of this.table.slots()) {
      if (this.holds(slot) > 0) continue;
      this.dropping(slot);
      this.table.remove(slot);
    }
    this.unused = 0;
  }

  /** Adds the loaded key, which is new. */
  protected add(): number {
    this.unused += 1;
    return this.table.insert();
  }

  protected dropping(_slot: number): void {}
}

/** How often a slot is used. */
export function holdsOf({ ints, stride, keyWords }: FrozenTable, slot: number): number {
  return ints[slot * stride + keyWords] as number;
}

const unusedMin = 4096;

function evenWords(words: number): number {
  return words + (words & 1);
}

/** An own copy: decoded bytes are views that would keep their whole record in memory. */
export function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.alloc(bytes.length);
  copy.set(bytes);
  return copy;
}
