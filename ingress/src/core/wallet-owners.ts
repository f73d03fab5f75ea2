import { hexBytes, safesOf, type WalletAddress, walletFromBytes } from '@pm/schemas';
import type { Keccak } from './order-hash.ts';

/**
 * Who may move the money of a wallet. Whoever has API keys has proven his own address, and with it the Safes that known
 * factories make for him; that counts whatever the log says. Another contract wallet cannot be asked here, so it belongs
 * to whom the first record of it on the topic `wallet-owners` names (docs/conventions.md 3.3).
 */
export class WalletOwners {
  readonly #keccak: Keccak;
  readonly #proven = new Map<WalletAddress, WalletAddress>();
  readonly #bound = new Map<WalletAddress, WalletAddress>();
  readonly #claimsOf = new Map<WalletAddress, number>();

  constructor(keccak: Keccak) {
    this.#keccak = keccak;
  }

  /** Wallets that have an owner by the log alone. */
  get boundCount(): number {
    return this.#bound.size;
  }

  /** Wallets that are the owner's by the log, whatever was proven of them since. */
  claimedBy(owner: WalletAddress): number {
    return this.#claimsOf.get(owner) ?? 0;
  }

  /** Undefined while nobody has proven or bound the wallet. */
  ownerOf(wallet: WalletAddress): WalletAddress | undefined {
    return this.#proven.get(wallet) ?? this.#bound.get(wallet);
  }

  /** The address is that of somebody who has proven to hold its key. */
  prove(owner: WalletAddress): void {
    if (this.#proven.get(owner) === owner) return;
    this.#proven.set(owner, owner);
    for (const safe of safesOf(hexBytes(owner), this.#keccak)) {
      this.#proven.set(walletFromBytes(safe), owner);
    }
  }

  /** Takes the next record of the log: the first one of a wallet counts, later ones change nothing. */
  bind(wallet: WalletAddress, owner: WalletAddress): void {
    if (this.#bound.has(wallet)) return;
    this.#bound.set(wallet, owner);
    this.#claimsOf.set(owner, this.claimedBy(owner) + 1);
  }
}
