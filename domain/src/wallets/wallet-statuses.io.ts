import type { WalletAddress } from '@pm/schemas/ids';
import type { WalletStatus } from '@pm/schemas/log/accounts';
import type { WalletStatusKind } from '@pm/schemas/log/types';
import { type WalletRow, type WalletRows, WalletTable } from './wallet-table.io.ts';
import type { WithdrawalFreezes } from './withdrawal-freezes.io.ts';

export type StatusFacts = Pick<WalletStatus, 'status' | 'reason'>;
export type ListedStatus = WalletRow<StatusFacts>;

/**
 * Trading status of wallets: what operators have set (the topic `wallet-status`, conventions.md 2.3), and `CLOSED_ONLY`
 * where the solvency check has closed a wallet.
 */
export class WalletStatuses extends WalletTable<StatusFacts> {
  readonly #freezes: Pick<WithdrawalFreezes, 'isClosed'>;

  constructor(rows: WalletRows<StatusFacts>, freezes: Pick<WithdrawalFreezes, 'isClosed'>) {
    super(rows);
    this.#freezes = freezes;
  }

  /** `NORMAL` for a wallet without a record. */
  of(wallet: WalletAddress): WalletStatusKind {
    const status = this.rows.find(wallet)?.status ?? 'NORMAL';
    return status === 'NORMAL' && this.#freezes.isClosed(wallet) ? 'CLOSED_ONLY' : status;
  }

  /** Wallets that are not `NORMAL`. */
  restricted(max: number): readonly ListedStatus[] {
    return this.rows.newest(max, ({ status }) => status !== 'NORMAL');
  }
}
