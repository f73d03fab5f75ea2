import type { WalletAddress } from '@pm/schemas/ids';
import { everyWallet, type WithdrawalFreeze } from '@pm/schemas/log/accounts';
import { type WalletRow, WalletTable } from './wallet-table.io.ts';

/** `freeMicro` is the free money when the wallet was frozen, micro-USDC. */
export type FreezeFacts = Pick<WithdrawalFreeze, 'frozen' | 'unsound' | 'freeMicro' | 'reason'>;
export type ListedFreeze = WalletRow<FreezeFacts>;

/**
 * Withdrawal freezes, set by the solvency check or by an operator: the topic `withdrawal-freezes` (operator.md).
 */
export class WithdrawalFreezes extends WalletTable<FreezeFacts> {
  isFrozen(wallet: WalletAddress): boolean {
    const rows = [this.rows.find(wallet), this.rows.find(everyWallet)];
    return rows.some((row) => row?.frozen === true);
  }

  /** Whether the wallet may only sell and cancel, because its money did not add up. */
  isClosed(wallet: WalletAddress): boolean {
    const row = this.rows.find(wallet);
    return row?.frozen === true && row.unsound;
  }

  frozen(max: number): readonly ListedFreeze[] {
    return this.rows.newest(max, ({ frozen }) => frozen);
  }
}
