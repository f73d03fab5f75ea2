import { Interned } from './interned.ts';

/**
 * Wallets: how many orders each has resting or delayed, and how its money moved during the record. The balances are in
 * the ledger (free and held); the core only reports their changes.
 */
export class Wallets extends Interned {
  /** Wallets whose money moved during the record, in order of their first change. */
  moved = new Int32Array(1024);
  movedCount = 0;

  constructor() {
    super(addressWords, 6);
  }

  openOrders(wallet: number): number {
    return this.table.ints[wallet * this.table.stride + restingAt] as number;
  }

  addOpenOrders(wallet: number, change: number): void {
    const word = wallet * this.table.stride + restingAt;
    this.table.ints[word] = (this.table.ints[word] as number) + change;
  }

  /** Changes free and held micro-USDC; a change of nothing lists no wallet. */
  move(wallet: number, freeMicro: number, heldMicro: number): void {
    if (freeMicro === 0 && heldMicro === 0) return;
    const flag = wallet * this.table.stride + movedAt;
    if (this.table.ints[flag] === 0) {
      this.table.ints[flag] = 1;
      this.list(wallet);
    }
    const base = (wallet * this.table.stride) / 2;
    const floats = this.table.floats;
    floats[base + freeAt] = (floats[base + freeAt] as number) + freeMicro;
    floats[base + heldAt] = (floats[base + heldAt] as number) + heldMicro;
  }

  freeChange(wallet: number): number {
    return this.table.floats[(wallet * this.table.stride) / 2 + freeAt] as number;
  }

  heldChange(wallet: number): number {
    return this.table.floats[(wallet * this.table.stride) / 2 + heldAt] as number;
  }

  /** Forgets the changes of the record. */
  endRecord(): void {
    const { moved, movedCount } = this;
    for (let index = 0; index < movedCount; index += 1) {
      const wallet = moved[index] as number;
      const base = wallet * this.table.stride;
      this.table.ints[base + movedAt] = 0;
      this.table.floats[base / 2 + freeAt] = 0;
      this.table.floats[base / 2 + heldAt] = 0;
      this.release(wallet);
    }
    this.movedCount = 0;
    this.sweep();
  }

  /** A wallet that is listed is held until the end of the record. */
  private list(wallet: number): void {
    if (this.movedCount === this.moved.length) {
      const grown = new Int32Array(this.movedCount * 2);
      grown.set(this.moved);
      this.moved = grown;
    }
    this.moved[this.movedCount] = wallet;
    this.movedCount += 1;
    this.hold(wallet);
  }
}

const addressWords = 5;
const restingAt = 6;
const movedAt = 7;
/** Doubles over words 8 to 11. */
const freeAt = 4;
const heldAt = 5;
