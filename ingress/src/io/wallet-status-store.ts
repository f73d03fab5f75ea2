import type { Clock } from '@pm/kit/clock';
import {
  hexBytes,
  type WalletAddress,
  type WalletStatus,
  type WalletStatusKind,
} from '@pm/schemas';
import type { ListedStatus, WalletStatuses } from '../core/wallet-statuses.ts';
import type { TableStore } from './table-store.ts';

export interface WalletStatusStoreOptions {
  readonly clock: Clock;
  readonly statuses: WalletStatuses;
  /** The topic `wallet-status`, folded into the statuses. */
  readonly table: Pick<TableStore<WalletStatus>, 'write'>;
}

/** What wallets may do, changed by operators. */
export class WalletStatusStore {
  readonly #options: WalletStatusStoreOptions;

  constructor(options: WalletStatusStoreOptions) {
    this.#options = options;
  }

  of(wallet: WalletAddress): WalletStatusKind {
    return this.#options.statuses.of(wallet);
  }

  find(wallet: WalletAddress): ListedStatus | undefined {
    return this.#options.statuses.find(wallet);
  }

  restricted(max: number): readonly ListedStatus[] {
    return this.#options.statuses.restricted(max);
  }

  /** Resolves when the status is durable and counts here; in the other processes within milliseconds. Throws a `Fault`. */
  async set(
    wallet: WalletAddress,
    { status, reason }: { readonly status: WalletStatusKind; readonly reason: string },
  ): Promise<ListedStatus> {
    const changedAtMs = this.#options.clock.nowMs();
    const value = { wallet: hexBytes(wallet), status, reason, changedAtMs };
    await this.#options.table.write([{ key: wallet, value }]);
    return { ...value, wallet };
  }
}
