import type { BindingResult } from '@pm/schemas/http/operator';
import { hexBytes, type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import type { WalletOwner } from '@pm/schemas/log/accounts';
import { derivedWalletsOf } from '../accounts/derived-wallets.ts';
import { isReservedAddress, type OwnAddresses } from '../accounts/reserved-addresses.ts';
import type { Keccak } from '../orders/eip712.ts';

/** A wallet, and the address whose API keys shall use it. */
export interface Binding {
  readonly wallet: WalletAddress;
  readonly owner: WalletAddress;
}

/** A binding as its record has it. */
export interface BoundWallet extends Binding {
  /** Unix milliseconds. */
  readonly boundAtMs: number;
  /** The operator who bound it; empty in records that a signature wrote in an earlier version. */
  readonly boundBy: string;
}

/** The binding of a record of the topic `wallet-owners`. */
export function boundWalletOf({ wallet, owner, ...facts }: WalletOwner): BoundWallet {
  return { ...facts, wallet: walletFromBytes(wallet), owner: walletFromBytes(owner) };
}

/**
 * The owner of a wallet and the basis for it: the address has an API key, a factory derives the wallet from it, or an
 * operator bound it.
 */
export type Ownership =
  | { readonly basis: 'own_key' | 'factory'; readonly owner: WalletAddress }
  | ({ readonly basis: 'operator' } & Omit<BoundWallet, 'wallet'>);

/**
 * Why a request to bind has no results. `unconfirmed`: its records may be on the log. `full`: no more wallets are kept.
 */
export type BindFailure = 'unconfirmed' | 'overloaded' | 'full';

/** Bound wallets of one owner that are looked at together. */
const boundWalletsAskedMax = 20;

/**
 * Decides which address may move the money of a wallet (conventions.md 3.3). An API key proves its own address, and
 * with it the wallets that known factories derive from that address; a proof counts whatever the log says. Another
 * contract wallet cannot be asked here, so it belongs to the address that the first record of an operator names. A
 * signature binds nothing.
 */
export class WalletOwners {
  readonly #keccak: Keccak;
  readonly #reserved: OwnAddresses;
  readonly #proven = new Map<WalletAddress, WalletAddress>();
  readonly #bound = new Map<WalletAddress, Omit<BoundWallet, 'wallet'>>();
  readonly #boundTo = new Map<WalletAddress, WalletAddress[]>();

  constructor(keccak: Keccak, reserved: OwnAddresses) {
    this.#keccak = keccak;
    this.#reserved = reserved;
  }

  /** Wallets that an operator has bound. */
  get boundCount(): number {
    return this.#bound.size;
  }

  /** Whether the address can have no key, own no wallet and have no owner. */
  isReserved(address: WalletAddress): boolean {
    return isReservedAddress(address, this.#reserved);
  }

  /** Whether money may be paid in: to a reserved address it would be lost, but for the fee wallet. */
  takesDeposits(wallet: WalletAddress): boolean {
    return wallet === this.#reserved.feeWallet || !this.isReserved(wallet);
  }

  /** Whether the holder of the owner's API keys may use the wallet. */
  isOwnedBy(wallet: WalletAddress, owner: WalletAddress): boolean {
    if (this.isReserved(wallet) || this.isReserved(owner)) return false;
    return wallet === owner || this.ownerOf(wallet) === owner;
  }

  /** Undefined while no address has proven the wallet and no operator has bound it. */
  ownerOf(wallet: WalletAddress): WalletAddress | undefined {
    return this.find(wallet)?.owner;
  }

  find(wallet: WalletAddress): Ownership | undefined {
    if (this.isReserved(wallet)) return undefined;
    const owner = this.#proven.get(wallet);
    if (owner !== undefined) return { basis: owner === wallet ? 'own_key' : 'factory', owner };
    const bound = this.#bound.get(wallet);
    return bound === undefined ? undefined : { basis: 'operator', ...bound };
  }

  /** The result that this binding would have now; `free` when a record can be written. */
  judge({ wallet, owner }: Binding): Exclude<BindingResult, 'bound'> | 'free' {
    if (this.isReserved(wallet) || this.isReserved(owner)) return 'reserved';
    if (wallet === owner) return 'own_address';
    const known = this.ownerOf(wallet);
    if (known !== undefined) return known === owner ? 'already' : 'taken';
    // A wallet that a factory derives belongs to the owner from its first key on, so no record is needed.
    return this.#derivedFrom(owner).includes(wallet) ? 'already' : 'free';
  }

  /** The address has an API key, so its holder has signed with it. */
  prove(owner: WalletAddress): void {
    if (this.#proven.get(owner) === owner || this.isReserved(owner)) return;
    this.#proven.set(owner, owner);
    for (const wallet of this.#derivedFrom(owner)) this.#proven.set(wallet, owner);
  }

  /** Takes the next record of the log: the first one of a wallet that names its operator counts. */
  bind({ wallet, ...bound }: BoundWallet): void {
    if (bound.boundBy === '' || this.#bound.has(wallet)) return;
    this.#bound.set(wallet, bound);
    const known = this.#boundTo.get(bound.owner);
    if (known === undefined) this.#boundTo.set(bound.owner, [wallet]);
    else known.push(wallet);
  }

  /** The address itself and the contract wallets that it owns; of those that an operator bound the first ones. */
  walletsOf(owner: WalletAddress): readonly WalletAddress[] {
    const bound = (this.#boundTo.get(owner) ?? []).slice(0, boundWalletsAskedMax);
    const all = new Set([owner, ...this.#derivedFrom(owner), ...bound]);
    return [...all].filter((wallet) => this.isOwnedBy(wallet, owner));
  }

  #derivedFrom(owner: WalletAddress): readonly WalletAddress[] {
    const { proxies, safes } = derivedWalletsOf(hexBytes(owner), this.#keccak);
    return [...proxies, ...safes].map(walletFromBytes);
  }
}
