import type { Clock } from '@pm/kit/clock';
import { followTable } from '@pm/kit/compacted';
import { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import { hexBytes, type WalletAddress, type WalletOwner, walletFromBytes } from '@pm/schemas';
import { claimedWalletsMax } from '../core/key-limits.ts';
import type { WalletOwners } from '../core/wallet-owners.ts';
import type { LogOf } from './log-store.ts';
import { isCertainlyUnsent } from './order-sink.ts';

export interface WalletOwnerStoreOptions {
  /** What the topic says, kept up to date by `take`. */
  readonly owners: WalletOwners;
  readonly clock: Clock;
  /** Resolves when the record is durable on `wallet-owners`. Rejects with a `Fault`. */
  append(record: WalletOwner): Promise<void>;
  /** How long a written record is waited for to be read back, milliseconds. */
  readonly waitMs?: number;
}

/** Why nobody can say now whose a wallet is; the same order may be sent again. */
type ClaimFailure = 'overloaded' | 'internal_error';

/** A wallet of which this process has written a record that it has not read back yet. */
interface OpenClaim {
  readonly owner: WalletAddress;
  readonly ended: Promise<ClaimFailure | null>;
  end(failure: ClaimFailure | null): void;
}

/** A record comes back within milliseconds; the client waits for the result of his order besides. */
const claimWaitMs = 2_000;
/** Wallets that are being bound at once; beyond it the door says 503. */
export const openClaimsMax = 1_000;
/** Wallets bound by the log; about 200 bytes each. */
const boundWalletsMax = 1_000_000;

/**
 * Binds wallets to owners on the topic `wallet-owners`. A record is only a request: the first one of a wallet that is read
 * back from the topic decides, for every ingress and after every restart alike. What is read back is durable.
 */
export class WalletOwnerStore {
  readonly #options: WalletOwnerStoreOptions;
  /** By wallet, so that many orders of a new wallet write one record. */
  readonly #claims = new Map<WalletAddress, OpenClaim>();

  constructor(options: WalletOwnerStoreOptions) {
    this.#options = options;
  }

  /** Takes the next record of the topic in. */
  take(record: WalletOwner): void {
    const wallet = walletFromBytes(record.wallet);
    this.#options.owners.bind(wallet, walletFromBytes(record.owner));
    this.#claims.get(wallet)?.end(null);
  }

  /** `WalletBindings` of the routes. Own addresses and proven Safes need no record. */
  async claim(
    wallet: WalletAddress,
    owner: WalletAddress,
  ): Promise<ClaimFailure | 'signer_mismatch' | 'too_many_wallets' | null> {
    if (wallet === owner) return null;
    const { owners } = this.#options;
    if (owners.ownerOf(wallet) === undefined) {
      const claim = this.#claims.get(wallet);
      if (claim === undefined && this.#isFull(owner)) return 'too_many_wallets';
      const failure = await (claim?.ended ?? this.#open(wallet, owner));
      if (failure !== null) return failure;
    }
    return owners.ownerOf(wallet) === owner ? null : 'signer_mismatch';
  }

  /** `WalletBindings` of the routes. */
  ownerOf(wallet: WalletAddress): WalletAddress | undefined {
    return this.#options.owners.ownerOf(wallet);
  }

  isOwnedBy(wallet: WalletAddress, owner: WalletAddress): boolean {
    return wallet === owner || this.#options.owners.ownerOf(wallet) === owner;
  }

  /** With those on their way: nobody may be first to ever more wallets that are not his. */
  #isFull(owner: WalletAddress): boolean {
    let count = this.#options.owners.claimedBy(owner);
    for (const claim of this.#claims.values()) if (claim.owner === owner) count += 1;
    return count >= claimedWalletsMax;
  }

  async #open(wallet: WalletAddress, owner: WalletAddress): Promise<ClaimFailure | null> {
    const { owners, clock, append, waitMs } = this.#options;
    const isFull = this.#claims.size >= openClaimsMax || owners.boundCount >= boundWalletsMax;
    if (isFull) return 'overloaded';
    const claim = openClaim(owner, waitMs ?? claimWaitMs);
    this.#claims.set(wallet, claim);
    const boundAtMs = clock.nowMs();
    append({ wallet: hexBytes(wallet), owner: hexBytes(owner), boundAtMs }).catch((error) => {
      // Of an unknown outcome the topic tells: the record comes back, or the time is over.
      if (isCertainlyUnsent(error)) claim.end('overloaded');
      else if (!(error instanceof Fault)) claim.end('internal_error');
    });
    return await claim.ended.finally(() => this.#claims.delete(wallet));
  }
}

function openClaim(owner: WalletAddress, waitMs: number): OpenClaim {
  let end: OpenClaim['end'] = () => {};
  const ended = new Promise<ClaimFailure | null>((resolve) => {
    const timer = setTimeout(() => resolve('overloaded'), waitMs);
    end = (failure) => {
      clearTimeout(timer);
      resolve(failure);
    };
  });
  return { owner, ended, end };
}

/** Opens the owners on the log; resolves when all that were there are known. A record that cannot be read stops. */
export async function openWalletOwners(
  { client, names, codecs, records }: LogOf<'walletOwners'>,
  options: Pick<WalletOwnerStoreOptions, 'owners' | 'clock'> & {
    readonly log: Log;
    onFault(fault: Fault): void;
  },
): Promise<WalletOwnerStore> {
  const { log, onFault, owners, clock } = options;
  const topic = names.walletOwners;
  const codec = codecs.walletOwners;
  const store = new WalletOwnerStore({
    ...{ owners, clock },
    async append(record) {
      const key = Buffer.from(walletFromBytes(record.wallet), 'utf8');
      await records.send([{ topic, partition: 0, key, value: codec.encode(record) }]);
    },
  });
  await followTable(client, {
    ...{ topic, codec, log, onFault, unreadable: 'stop' },
    take: (record) => store.take(record),
  });
  return store;
}
