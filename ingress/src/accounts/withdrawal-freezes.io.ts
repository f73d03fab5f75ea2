import type { WalletAddress, WithdrawalFreeze } from '@pm/schemas';
import { type WalletRow, WalletTable } from './wallet-table.io.ts';

/** `freeMicro` is the free money when the wallet was frozen, micro-USDC. */
export type FreezeFacts = Pick<WithdrawalFreeze, 'frozen' | 'freeMicro' | 'reason'>;
export type ListedFreeze = WalletRow<FreezeFacts>;

/**
 * Withdrawal freezes, set by the solvency check or by an operator: the topic `withdrawal-freezes` (operator.md).
 */
export class WithdrawalFreezes extends WalletTable<FreezeFacts> {
  isFrozen(wallet: WalletAddress): boolean {
    return this.rows.find(wallet)?.frozen === true;
  }

  frozen(max: number): readonly ListedFreeze[] {
    return this.rows.newest(max, ({ frozen }) => frozen);
  }
}
