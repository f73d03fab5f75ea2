import { assume } from '../assumption.ts';
import { KeyTable } from './key-table.ts';
import type { Wallets } from './wallets.ts';

/**
 * Outcome tokens per (wallet, market), in micro-shares: the total of each token and the part that resting and delayed
 * sells lock. A position exists while it has tokens or such orders, and keeps its wallet.
 * Invariant, checked at every change: 0 <= locked <= total.
 */
export class Positions {
  readonly table = new KeyTable(2, 12);
  private readonly wallets: Wallets;

  constructor(wallets: Wallets) {
    this.wallets = wallets;
  }

  /** The position of a wallet in a market (slots), or -1. */
  find(wallet: number, market: number): number {
    if (wallet === -1) return -1;
    this.table.key[0] = wallet;
    this.table.key[1] = market;
    return this.table.find();
  }

  /** The hash that `find` searches with. */
  hashOf(wallet: number, market: number): number {
    this.table.key[0] = wallet;
    this.table.key[1] = market;
    return this.table.hashLoaded();
  }

  /** Reads positions (or -1) into the cache. */
  seeAll(positions: Int32Array, count: number): number {
    const { ints } = this.table;
    let seen = 0;
    for (let index = 0; index < count; index += 1) {
      seen ^= ints[Math.max(0, positions[index] as number) * words + ordersAt] as number;
    }
    return seen;
  }

  open(wallet: number, market: number): number {
    const found = this.find(wallet, market);
    if (found !== -1) return found;
    this.wallets.hold(wallet);
    return this.table.insert();
  }

  /** Forgets the position if it has neither tokens nor orders. */
  close(position: number): void {
    const { ints, floats } = this.table;
    if (ints[position * words + ordersAt] !== 0) return;
    const total = position * doubles + totalAt;
    if (floats[total] !== 0 || floats[total + 1] !== 0) return;
    this.wallets.release(this.wallet(position));
    this.table.remove(position);
  }

  wallet(position: number): number {
    return this.table.ints[position * words] as number;
  }

  market(position: number): number {
    return this.table.ints[position * words + 1] as number;
  }

  orders(position: number): number {
    return this.table.ints[position * words + ordersAt] as number;
  }

  addOrders(position: number, change: number): void {
    const word = position * words + ordersAt;
    this.table.ints[word] = (this.table.ints[word] as number) + change;
  }

  totalMicro(position: number, outcome: number): number {
    return this.table.floats[position * doubles + totalAt + outcome] as number;
  }

  lockedMicro(position: number, outcome: number): number {
    return this.table.floats[position * doubles + lockedAt + outcome] as number;
  }

  /** Tokens that no resting sell has locked; 0 when there is no position. */
  freeMicro(position: number, outcome: number): number {
    if (position === -1) return 0;
    return this.totalMicro(position, outcome) - this.lockedMicro(position, outcome);
  }

  addTokens(position: number, outcome: number, changeMicro: number): void {
    const total = this.totalMicro(position, outcome) + changeMicro;
    assume(total >= this.lockedMicro(position, outcome), 'tokens are at least what is locked');
    this.table.floats[position * doubles + totalAt + outcome] = total;
  }

  addLocked(position: number, outcome: number, changeMicro: number): void {
    const locked = this.lockedMicro(position, outcome) + changeMicro;
    assume(locked >= 0, 'locked tokens are not negative');
    assume(locked <= this.totalMicro(position, outcome), 'locked tokens are there');
    this.table.floats[position * doubles + lockedAt + outcome] = locked;
  }
}

const words = 12;
const doubles = 6;
const ordersAt = 2;
/** Doubles over words 4 to 11: the totals, then the locked amounts. */
export const amountsAt = 4;
const totalAt = 2;
const lockedAt = 4;
