import { isCertainlyUnsent } from '@pm/domain/commands/envelope-sender.io';
import type { TopicsOf } from '@pm/domain/commands/topics.io';
import {
  type BindFailure,
  type Binding,
  boundWalletOf,
  type WalletOwners,
} from '@pm/domain/wallets/wallet-owners';
import type { Clock } from '@pm/kit/clock';
import { followTable } from '@pm/kit/compacted';
import { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import type { BindingResult } from '@pm/schemas/http/operator';
import { hexBytes, type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import type { WalletOwner } from '@pm/schemas/log/accounts';

export interface WalletBindingsOptions {
  /** The topic as a table, kept up to date by `take`. */
  readonly owners: WalletOwners;
  readonly clock: Clock;
  /** Resolves when the records are durable on `wallet-owners`. Rejects with a `Fault`. */
  append(records: readonly WalletOwner[]): Promise<void>;
  /** How long written records are waited for to be read back, milliseconds. */
  readonly waitMs?: number;
}

/** Records that this process has written and not all read back. */
interface OpenWrite {
  readonly missing: Set<WalletAddress>;
  readonly ended: Promise<BindFailure | null>;
  end(failure: BindFailure | null): void;
  reject(error: unknown): void;
}

/** Records come back within milliseconds; after this the result is `unconfirmed`. */
const bindWaitMs = 5_000;
/** Requests that wait for their records at once; beyond it the operator's listener responds 503. */
export const openWritesMax = 100;
/** Wallets bound by operators; about 300 bytes each. */
const boundWalletsMax = 1_000_000;

/**
 * Binds wallets to owners on the topic `wallet-owners`. A record is only a request: the first one of a wallet that is
 * read back from the topic decides, for every process and after every restart alike. A record that is read back is
 * durable.
 */
export class WalletBindings {
  readonly #options: WalletBindingsOptions;
  readonly #open = new Set<OpenWrite>();

  constructor(options: WalletBindingsOptions) {
    this.#options = options;
  }

  /** Takes the next record of the topic in. */
  take(record: WalletOwner): void {
    const bound = boundWalletOf(record);
    // Written by a signature, under an earlier version: it binds nothing, and it is not the record that is waited for.
    if (bound.boundBy === '') return;
    this.#options.owners.bind(bound);
    for (const write of this.#open) {
      if (write.missing.delete(bound.wallet) && write.missing.size === 0) write.end(null);
    }
  }

  /** `WalletBinder` of the operator's routes. Wallets that are the owner's already need no record. */
  async bind(
    bindings: readonly Binding[],
    boundBy: string,
  ): Promise<readonly BindingResult[] | BindFailure> {
    const { owners } = this.#options;
    const before = bindings.map((binding) => owners.judge(binding));
    const free = new Map<WalletAddress, WalletAddress>();
    for (const [index, { wallet, owner }] of bindings.entries()) {
      if (before[index] === 'free' && !free.has(wallet)) free.set(wallet, owner);
    }
    const failure = free.size === 0 ? null : await this.#write(free, boundBy);
    if (failure !== null) return failure;
    return bindings.map(({ wallet, owner }, index) => {
      const result = before[index] ?? 'free';
      if (result !== 'free') return result;
      return owners.ownerOf(wallet) === owner ? 'bound' : 'taken';
    });
  }

  async #write(
    owned: ReadonlyMap<WalletAddress, WalletAddress>,
    boundBy: string,
  ): Promise<BindFailure | null> {
    const { owners, clock, append, waitMs } = this.#options;
    if (this.#open.size >= openWritesMax) return 'overloaded';
    if (owners.boundCount + owned.size > boundWalletsMax) return 'full';
    const boundAtMs = clock.nowMs();
    const records = [...owned].map(([wallet, owner]) => ({
      wallet: hexBytes(wallet),
      owner: hexBytes(owner),
      boundAtMs,
      boundBy,
    }));
    const write = openWrite(owned.keys(), waitMs ?? bindWaitMs);
    this.#open.add(write);
    append(records).catch((error) => {
      // After an unknown outcome the topic decides: the records come back, or the time is over.
      if (isCertainlyUnsent(error)) write.end('overloaded');
      else if (!(error instanceof Fault)) write.reject(error);
    });
    return await write.ended.finally(() => this.#open.delete(write));
  }
}

function openWrite(wallets: Iterable<WalletAddress>, waitMs: number): OpenWrite {
  let end: OpenWrite['end'] = () => {};
  let reject: OpenWrite['reject'] = () => {};
  const ended = new Promise<BindFailure | null>((resolve, fail) => {
    const timer = setTimeout(() => resolve('unconfirmed'), waitMs);
    end = (failure) => {
      clearTimeout(timer);
      resolve(failure);
    };
    reject = (error) => {
      clearTimeout(timer);
      fail(error);
    };
  });
  return { missing: new Set(wallets), ended, end, reject };
}

/** Opens the owners on the log; resolves when all that were there are known. A record that cannot be read stops. */
export async function openWalletBindings(
  { client, names, codecs, records }: TopicsOf<'walletOwners'>,
  options: Pick<WalletBindingsOptions, 'owners' | 'clock'> & {
    readonly log: Log;
    onFault(fault: Fault): void;
  },
): Promise<WalletBindings> {
  const { log, onFault, owners, clock } = options;
  const topic = names.walletOwners;
  const codec = codecs.walletOwners;
  const store = new WalletBindings({
    owners,
    clock,
    async append(bound) {
      const outgoing = bound.map((record) => ({
        topic,
        partition: 0,
        value: codec.encode(record),
        key: Buffer.from(walletFromBytes(record.wallet), 'utf8'),
      }));
      await records.send(outgoing);
    },
  });
  await followTable(client, {
    topic,
    codec,
    log,
    onFault,
    unreadable: 'stop',
    take: (record) => store.take(record),
  });
  return store;
}
