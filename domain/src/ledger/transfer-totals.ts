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

/**
 * Ids of transfers that are kept at most, some 80 bytes each. A repetition follows within minutes: ingress answers
 * later ones from the ledger and writes no record. Past the limit the older half is forgotten.
 */
const transferIdsMax = 1_000_000;

const noTransfers: WalletTransfers = { offset: -1, timeMs: 0, totalMicro: 0 };

/**
 * The transfers of each wallet, folded from the topic `transfers` as a rebuilt ledger applies them: each id once, and
 * no withdrawal that an earlier fence makes void. The open ledger pays a withdrawal up to its reservation only; every
 * record of ingress has one of the whole amount.
 */
export class TransferTotals {
  readonly #totals = new Map<WalletAddress, WalletTransfers>();
  readonly #idsMax: number;
  #newIds = new Set<string>();
  #oldIds = new Set<string>();
  #generation = 0;
  #fenceMs = 0;

  constructor(idsMax: number = transferIdsMax) {
    this.#idsMax = idsMax;
  }

  /** Ids that are kept. */
  get ids(): number {
    return this.#newIds.size + this.#oldIds.size;
  }

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
    if (this.#newIds.has(id) || this.#oldIds.has(id)) return null;
    this.#keep(id);
    const wallet = walletFromBytes(transfer.wallet);
    const totalMicro = this.of(wallet).totalMicro + amountMicro;
    this.#totals.set(wallet, { offset, timeMs, totalMicro });
    return wallet;
  }

  #keep(id: string): void {
    if (this.#newIds.size >= this.#idsMax / 2) {
      this.#oldIds = this.#newIds;
      this.#newIds = new Set();
    }
    this.#newIds.add(id);
  }

  #isVoid({ generation, timeMs }: Transfer): boolean {
    return generation < this.#generation || timeMs < this.#fenceMs - withdrawalLateMs;
  }
}
