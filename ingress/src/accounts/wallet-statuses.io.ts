import type { WalletAddress, WalletStatus, WalletStatusKind } from '@pm/schemas';
import { type WalletRow, WalletTable } from './wallet-table.io.ts';

export type StatusFacts = Pick<WalletStatus, 'status' | 'reason'>;
export type ListedStatus = WalletRow<StatusFacts>;

/** Trading status of wallets, set by operators: the topic `wallet-status` (conventions.md 2.3). */
export class WalletStatuses extends WalletTable<StatusFacts> {
  /** `NORMAL` for a wallet without a record. */
  of(wallet: WalletAddress): WalletStatusKind {
    return this.rows.find(wallet)?.status ?? 'NORMAL';
  }

  /** Wallets that are not `NORMAL`. */
  restricted(max: number): readonly ListedStatus[] {
    return this.rows.newest(max, ({ status }) => status !== 'NORMAL');
  }
}
