import { defaultFeeWallet, type OwnAddresses } from '@pm/domain/accounts/reserved-addresses';
import { WalletOwners } from '@pm/domain/wallets/wallet-owners';
import { hexBytes, type WalletAddress } from '@pm/schemas/ids';
import type { WalletOwner } from '@pm/schemas/log/accounts';
import { testDomain } from '../../kit/test/signing-domain.ts';
import { WalletBindings } from '../../operator/src/wallet-bindings.io.ts';
import { keccak } from './wallet-fixture.ts';

/** Addresses of the installation that tests talk to. */
export const ownAddresses: OwnAddresses = {
  feeWallet: defaultFeeWallet,
  signingDomain: testDomain,
};

export const addressOf = (byte: number) =>
  `0x${byte.toString(16).padStart(2, '0').repeat(20)}` as WalletAddress;

/** A record as an operator leaves it; without a name in `boundBy`, as a signature left it in an earlier version. */
export function ownerRecord(
  wallet: string,
  owner: string,
  { boundBy = 'ann', boundAtMs = 1 }: { boundBy?: string; boundAtMs?: number } = {},
): WalletOwner {
  const bytes = (address: string) => hexBytes(address as WalletAddress);
  return { wallet: bytes(wallet), owner: bytes(owner), boundAtMs, boundBy };
}

/** The topic `wallet-owners` in memory: every record goes to all who follow, in one order, a moment later. */
export class OwnersTopic {
  readonly records: WalletOwner[] = [];
  readonly #followers: ((record: WalletOwner) => void)[] = [];
  readonly #held: (() => void)[] = [];
  /** Fee wallet in the configuration of every process. */
  feeWallet: WalletAddress = defaultFeeWallet;
  /** Records are kept and reach no process. */
  isHeldUp = false;
  /** Error that a send rejects with; null when it succeeds. */
  fault: Error | null = null;
  /** Whether the records of a send that rejects are on the topic nevertheless. */
  landsAnyway = false;

  /** One more process: what is there is known before anything is asked of it. */
  open({ nowMs = () => 1, waitMs = 200 }: { nowMs?: () => number; waitMs?: number } = {}) {
    const owners = new WalletOwners(keccak, { ...ownAddresses, feeWallet: this.feeWallet });
    const clock = { nowMs, monotonicMs: () => 0 };
    const append = (records: readonly WalletOwner[]) => this.append(records);
    const store = new WalletBindings({ owners, clock, append, waitMs });
    for (const record of this.records) store.take(record);
    this.#followers.push((record) => store.take(record));
    return { owners, store };
  }

  async append(records: readonly WalletOwner[]): Promise<void> {
    if (this.fault === null || this.landsAnyway) for (const record of records) this.#take(record);
    if (this.fault !== null) throw this.fault;
  }

  goOn(): void {
    this.isHeldUp = false;
    for (const deliver of this.#held.splice(0)) deliver();
  }

  #take(record: WalletOwner): void {
    this.records.push(record);
    const deliver = () => {
      for (const follower of this.#followers) follower(record);
    };
    if (this.isHeldUp) this.#held.push(deliver);
    else setImmediate(deliver);
  }
}
