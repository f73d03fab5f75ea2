import type { WalletAddress, WalletOwner } from '@pm/schemas';
import { WalletOwners } from '../src/core/wallet-owners.ts';
import { WalletOwnerStore } from '../src/io/wallet-owner-store.ts';
import { keccak } from './wallet-fixture.ts';

export const addressOf = (byte: number) =>
  `0x${byte.toString(16).padStart(2, '0').repeat(20)}` as WalletAddress;

/** The topic `wallet-owners` in memory: every record goes to all who follow, in one order, a moment later. */
export class OwnersTopic {
  readonly records: WalletOwner[] = [];
  readonly #followers: ((record: WalletOwner) => void)[] = [];
  readonly #held: (() => void)[] = [];
  /** Records are kept but told to nobody. */
  isHeldUp = false;
  /** What a send rejects with. */
  fault: Error | null = null;
  /** Whether the record of a send that rejects is on the topic nevertheless. */
  landsAnyway = false;

  /** One more process: what is there is known before anything is asked of it. */
  open({ nowMs = () => 1, waitMs = 200 }: { nowMs?: () => number; waitMs?: number } = {}) {
    const owners = new WalletOwners(keccak);
    const clock = { nowMs, monotonicMs: () => 0 };
    const append = (record: WalletOwner) => this.append(record);
    const store = new WalletOwnerStore({ owners, clock, append, waitMs });
    for (const record of this.records) store.take(record);
    this.#followers.push((record) => store.take(record));
    return { owners, store };
  }

  async append(record: WalletOwner): Promise<void> {
    if (this.fault === null || this.landsAnyway) this.#take(record);
    if (this.fault !== null) throw this.fault;
  }

  goOn(): void {
    this.isHeldUp = false;
    for (const tell of this.#held.splice(0)) tell();
  }

  #take(record: WalletOwner): void {
    this.records.push(record);
    const tell = () => {
      for (const follower of this.#followers) follower(record);
    };
    if (this.isHeldUp) this.#held.push(tell);
    else setImmediate(tell);
  }
}
