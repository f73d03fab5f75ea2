import { hexBytes, type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import type { WalletOwner } from '@pm/schemas/log/accounts';
import type { SignatureType } from '@pm/schemas/signing';
import { derivedWalletsOf } from '../accounts/derived-wallets.ts';

/** Wallets that the known factories derive from an address, whether they are used or not. */
interface Derived {
  /** Signature type 1. */
  readonly proxies: readonly WalletAddress[];
  /** Signature type 2. */
  readonly safes: readonly WalletAddress[];
}

/** The wallets a caller trades from. */
export interface WalletSet extends Derived {
  readonly own: WalletAddress;
  /** Contract wallets that an operator has bound to the caller. */
  readonly bound: readonly WalletAddress[];
}

/** Owners whose derived wallets are kept; to derive them costs five hashes. */
const derivedKeptMax = 10_000;

/**
 * Contract wallets that an operator has bound to an address, by the topic `wallet-owners`: the first record of a
 * wallet that names its operator counts (conventions.md 3.3). Wallets of known factories follow from their owner
 * and have no record.
 */
export class CallerWallets {
  readonly #owned = new Set<WalletAddress>();
  /** Addresses that have an API key: a proof outranks a record, so no other address owns them. */
  readonly #keyed = new Set<WalletAddress>();
  readonly #bound = new Map<WalletAddress, WalletAddress[]>();
  readonly #derived = new Map<WalletAddress, Derived>();

  /** Takes the next record of the topic in. Records of earlier versions, which a signature wrote, name no operator. */
  take(record: WalletOwner): void {
    const wallet = walletFromBytes(record.wallet);
    if (record.boundBy === '' || this.#owned.has(wallet)) return;
    this.#owned.add(wallet);
    const owner = walletFromBytes(record.owner);
    const known = this.#bound.get(owner);
    if (known === undefined) this.#bound.set(owner, [wallet]);
    else known.push(wallet);
  }

  /** The address has an API key, so its holder has signed with it. */
  prove(address: WalletAddress): void {
    this.#keyed.add(address);
  }

  of(own: WalletAddress): WalletSet {
    const bound = (this.#bound.get(own) ?? []).filter((wallet) => !this.#keyed.has(wallet));
    return { own, ...this.#derivedFrom(own), bound };
  }

  #derivedFrom(own: WalletAddress): Derived {
    const known = this.#derived.get(own);
    if (known !== undefined) return known;
    if (this.#derived.size >= derivedKeptMax) this.#derived.clear();
    const { proxies, safes } = derivedWalletsOf(hexBytes(own));
    const derived = { proxies: proxies.map(walletFromBytes), safes: safes.map(walletFromBytes) };
    this.#derived.set(own, derived);
    return derived;
  }
}

/** All of them, the caller's own address first. */
export function allWallets({ own, proxies, safes, bound }: WalletSet): readonly WalletAddress[] {
  return [...new Set([own, ...proxies, ...safes, ...bound])];
}

/**
 * Wallets that a signature type may stand for (conventions.md 4.1). Type 3 may also be signed with the caller's own
 * address as the wallet, so it stands for that address while no contract wallet is bound.
 */
export function walletsOfType(
  { own, proxies, safes, bound }: WalletSet,
  type: SignatureType,
): readonly WalletAddress[] {
  if (type === 0) return [own];
  if (type === 1) return [...new Set([...proxies, ...bound])];
  if (type === 2) return [...new Set([...safes, ...bound])];
  return bound.length === 0 ? [own] : bound;
}
