import {
  hexBytes,
  type SignatureType,
  safesOf,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas';

/** The wallets a caller trades from. */
export interface WalletSet {
  readonly own: WalletAddress;
  /** What the known factories make for him, whether he uses them or not. */
  readonly safes: readonly WalletAddress[];
  /** Contract wallets that the log binds to him. */
  readonly bound: readonly WalletAddress[];
}

/** Owners whose Safes are kept; making them costs three hashes. */
const safesKeptMax = 10_000;

/**
 * Whose a contract wallet is, by the topic `wallet-owners`: the first record of a wallet counts (docs/conventions.md 3.3). Safes
 * follow from their owner and have no record.
 */
export class CallerWallets {
  readonly #owners = new Map<WalletAddress, WalletAddress>();
  readonly #bound = new Map<WalletAddress, WalletAddress[]>();
  readonly #safes = new Map<WalletAddress, readonly WalletAddress[]>();

  bind(wallet: WalletAddress, owner: WalletAddress): void {
    if (this.#owners.has(wallet)) return;
    this.#owners.set(wallet, owner);
    const known = this.#bound.get(owner);
    if (known === undefined) this.#bound.set(owner, [wallet]);
    else known.push(wallet);
  }

  of(own: WalletAddress): WalletSet {
    return { own, safes: this.#safesOf(own), bound: this.#bound.get(own) ?? [] };
  }

  #safesOf(own: WalletAddress): readonly WalletAddress[] {
    const known = this.#safes.get(own);
    if (known !== undefined) return known;
    if (this.#safes.size >= safesKeptMax) this.#safes.clear();
    const safes = safesOf(hexBytes(own)).map(walletFromBytes);
    this.#safes.set(own, safes);
    return safes;
  }
}

/** All of them, his own address first. */
export function allWallets({ own, safes, bound }: WalletSet): readonly WalletAddress[] {
  return [...new Set([own, ...safes, ...bound])];
}

/**
 * Wallets that a signature type may stand for (docs/conventions.md 1.7). Type 3 may also be signed with the caller's own address
 * as the wallet, so that is what it stands for while he has no contract wallet.
 */
export function walletsOfType(
  { own, safes, bound }: WalletSet,
  type: SignatureType,
): readonly WalletAddress[] {
  if (type === 0) return [own];
  if (type === 2) return [...new Set([...safes, ...bound])];
  return type === 3 && bound.length === 0 ? [own] : bound;
}
