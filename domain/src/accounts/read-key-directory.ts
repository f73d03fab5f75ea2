import { type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import type { ReadKey } from '@pm/schemas/log/accounts';
import { hashOfKey } from './key-hash.ts';

/** A read-only key as recorded on the topic `read-keys`. */
export interface ListedReadKey {
  /** SHA-256 of the key as text. */
  readonly keyHash: Buffer;
  readonly wallet: WalletAddress;
  /** Number of the key within its wallet. */
  readonly number: number;
  readonly active: boolean;
  readonly createdAtMs: number;
  readonly revokedAtMs: number;
}

/** The read-only keys of the exchange, folded from the compacted topic `read-keys` (conventions.md 2.5). */
export class ReadKeyDirectory {
  readonly #keys = new Map<string, ListedReadKey>();
  readonly #ofWallet = new Map<WalletAddress, Map<number, ListedReadKey>>();

  get size(): number {
    return this.#keys.size;
  }

  /** Takes the newest record of a key. */
  apply({ keyHash, wallet, number, active, createdAtMs, revokedAtMs }: ReadKey): void {
    const owner = walletFromBytes(wallet);
    const key = { keyHash, wallet: owner, number, active, createdAtMs, revokedAtMs };
    this.#keys.set(keyHash.toString('hex'), key);
    const siblings = this.#ofWallet.get(owner) ?? new Map<number, ListedReadKey>();
    this.#ofWallet.set(owner, siblings.set(number, key));
  }

  /** Found by its hash, so that the time does not reveal keys that are nearly right. */
  find(key: string): ListedReadKey | undefined {
    return this.#keys.get(hashOfKey(key).toString('hex'));
  }

  /** All keys a wallet ever had, by number. */
  listOf(wallet: WalletAddress): readonly ListedReadKey[] {
    return [...(this.#ofWallet.get(wallet)?.values() ?? [])].sort((a, b) => a.number - b.number);
  }
}
