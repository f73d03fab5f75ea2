import { walletFromBytes } from '@pm/schemas/ids';
import { type Transfer, withdrawalLateMs } from '@pm/schemas/log/accounts';
import { add } from './fill-totals.ts';

/**
 * Sums of `transfers` by wallet, micro-USDC: each transfer id once, without withdrawals that a fence before them makes
 * void. The rule of the ledger's fold, implemented a second time: the audit shares no code with what it judges.
 */
export class TransferSums {
  readonly byWallet = new Map<string, number>();
  readonly #seen = new Set<string>();
  #generation = 0;
  #fenceMs = 0;

  /** Takes the next record of the topic. */
  take(transfer: Transfer): void {
    const { amountMicro } = transfer;
    if (amountMicro === 0) this.#raise(transfer);
    if (amountMicro < 0 && this.#isVoid(transfer)) return;
    const id = transfer.transferId.toString('hex');
    if (!this.#seen.has(id)) add(this.byWallet, walletFromBytes(transfer.wallet), amountMicro);
    this.#seen.add(id);
  }

  /** A fence begins a generation or, without one, sets a time. */
  #raise({ generation, timeMs }: Transfer): void {
    if (generation > 0) this.#generation = Math.max(this.#generation, generation);
    else this.#fenceMs = Math.max(this.#fenceMs, timeMs);
  }

  #isVoid({ generation, timeMs }: Transfer): boolean {
    return generation < this.#generation || timeMs < this.#fenceMs - withdrawalLateMs;
  }
}
