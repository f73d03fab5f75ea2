import { type Transfer, type WalletAddress, walletFromBytes, withdrawalLateMs } from '@pm/schemas';

/** What the transfers of a wallet add up to after one of them. */
export interface WalletTransfers {
  /** Offset in the topic `transfers`; -1 before the first. */
  readonly offset: number;
  /** When it was accepted, Unix milliseconds; 0 before the first. */
  readonly timeMs: number;
  /** Deposits less withdrawals, micro-USDC. */
  readonly totalMicro: number;
}

const noTransfers: WalletTransfers = { offset: -1, timeMs: 0, totalMicro: 0 };

/**
 * The transfers of each wallet, folded from the topic `transfers` as a rebuilt ledger applies them: each id once, and
 * no withdrawal that an earlier fence makes void. The open ledger pays a withdrawal up to its reservation only; every
 * record of ingress has one of the whole amount.
 */
export class TransferTotals {
  readonly #totals = new Map<WalletAddress, WalletTransfers>();
  readonly #applied = new Set<string>();
  #generation = 0;
  #fenceMs = 0;

  of(wallet: WalletAddress): WalletTransfers {
    return this.#totals.get(wallet) ?? noTransfers;
  }

  /** Takes the next record; returns the wallet whose total it changed, or null. */
  apply(offset: number, transfer: Transfer): WalletAddress | null {
    const { amountMicro, timeMs, generation } = transfer;
    if (amountMicro === 0) {
      if (generation > 0) this.#generation = Math.max(this.#generation, generation);
      else this.#fenceMs = Math.max(this.#fenceMs, timeMs);
      return null;
    }
    if (amountMicro < 0 && this.#isVoid(transfer)) return null;
    const id = transfer.transferId.toString('latin1');
    if (this.#applied.has(id)) return null;
    this.#applied.add(id);
    const wallet = walletFromBytes(transfer.wallet);
    const totalMicro = this.of(wallet).totalMicro + amountMicro;
    this.#totals.set(wallet, { offset, timeMs, totalMicro });
    return wallet;
  }

  #isVoid({ generation, timeMs }: Transfer): boolean {
    return generation < this.#generation || timeMs < this.#fenceMs - withdrawalLateMs;
  }
}
