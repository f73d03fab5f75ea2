import type { Clock } from '@pm/kit/clock';
import { hexBytes, type WalletAddress, type WithdrawalFreeze } from '@pm/schemas';
import type { TableStore } from '../log/compacted-table.io.ts';
import type { ListedFreeze, WithdrawalFreezes } from './withdrawal-freezes.ts';

export interface WithdrawalFreezeStoreOptions {
  readonly clock: Clock;
  readonly freezes: WithdrawalFreezes;
  /** The topic `withdrawal-freezes`, folded into the freezes. */
  readonly table: Pick<TableStore<WithdrawalFreeze>, 'write'>;
}

/** Whose withdrawals are frozen: by the solvency check, whose records are read here, or by an operator. */
export class WithdrawalFreezeStore {
  readonly #options: WithdrawalFreezeStoreOptions;

  constructor(options: WithdrawalFreezeStoreOptions) {
    this.#options = options;
  }

  isFrozen(wallet: WalletAddress): boolean {
    return this.#options.freezes.isFrozen(wallet);
  }

  find(wallet: WalletAddress): ListedFreeze | undefined {
    return this.#options.freezes.find(wallet);
  }

  frozen(max: number): readonly ListedFreeze[] {
    return this.#options.freezes.frozen(max);
  }

  /** Resolves when it is durable and counts here; in the other processes within milliseconds. Throws a `Fault`. */
  async set(
    wallet: WalletAddress,
    change: { readonly frozen: boolean; readonly reason: string; readonly freeMicro: number },
  ): Promise<ListedFreeze> {
    const value = {
      ...change,
      wallet: hexBytes(wallet),
      changedAtMs: this.#options.clock.nowMs(),
    };
    await this.#options.table.write([{ key: wallet, value }]);
    return { ...value, wallet };
  }
}
