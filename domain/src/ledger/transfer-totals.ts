import { type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import { type Transfer, withdrawalLateMs } from '@pm/schemas/log/accounts';

/** Totals of the transfers of a wallet after one of them. */
export interface WalletTransfers {
  /** Offset in the topic `transfers`; -1 before the first. */
  readonly offset: number;
  /** When it was accepted, Unix milliseconds; 0 before the first. */
  readonly timeMs: number;
  /** Deposits less withdrawals, micro-USDC. */
  readonly totalMicro: number;
}

/** A transfer that moved money, at its offset. */
export interface StoredTransfer extends Pick<Transfer, 'amountMicro' | 'timeMs'> {
  readonly offset: number;
  /** Hexadecimal. */
  readonly id: string;
}

/** Has every transfer that moved money: too many for memory. */
export interface TransferStore {
  /** Whether the id is one of the newest. A repetition follows within minutes: ingress writes no later one. */
  hasNewId(transferId: Buffer): boolean;
  append(offset: number, transfer: Transfer): void;
  /** Transfers of a wallet in the order of the log. */
  transfersOf(wallet: WalletAddress): readonly StoredTransfer[];
}

/** Withdrawals before them are void. */
export interface TransferFences {
  readonly generation: number;
  /** Unix milliseconds; 0 for none. */
  readonly fenceMs: number;
}

const noTransfers: WalletTransfers = { offset: -1, timeMs: 0, totalMicro: 0 };
export const noFences: TransferFences = { generation: 0, fenceMs: 0 };

/**
 * The transfers of each wallet, folded from the topic `transfers` as a rebuilt ledger applies them: each id once, and
 * no withdrawal that an earlier fence makes void. The open ledger pays a withdrawal up to its reservation only; every
 * record of ingress has one of the whole amount. In memory are the totals of wallets that are asked for, until they
 * are forgotten.
 */
export class TransferTotals {
  readonly #store: TransferStore;
  readonly #kept = new Map<WalletAddress, WalletTransfers>();
  #fences: TransferFences;

  constructor(store: TransferStore, fences: TransferFences = noFences) {
    this.#store = store;
    this.#fences = fences;
  }

  /** After the newest record. */
  get fences(): TransferFences {
    return this.#fences;
  }

  /** Wallets in memory. */
  get kept(): number {
    return this.#kept.size;
  }

  /** Keeps the total of the wallet from now on. */
  of(wallet: WalletAddress): WalletTransfers {
    const kept = this.#kept.get(wallet) ?? sumOf(this.#store.transfersOf(wallet));
    this.#kept.set(wallet, kept);
    return kept;
  }

  forget(wallet: WalletAddress): void {
    this.#kept.delete(wallet);
  }

  /** Takes the next record; returns the wallet whose total in memory it changed, or null. */
  apply(offset: number, transfer: Transfer): WalletAddress | null {
    const { amountMicro, transferId } = transfer;
    if (amountMicro === 0) {
      this.#takeFence(transfer);
      return null;
    }
    if (amountMicro < 0 && this.#isVoid(transfer)) return null;
    if (this.#store.hasNewId(transferId)) return null;
    this.#store.append(offset, transfer);
    const wallet = walletFromBytes(transfer.wallet);
    if (!this.#kept.has(wallet)) return null;
    // An id may be older than the newest ids: only all transfers of the wallet show that it is repeated.
    const sum = sumOf(this.#store.transfersOf(wallet));
    this.#kept.set(wallet, sum);
    return sum.offset === offset ? wallet : null;
  }

  #takeFence({ generation, timeMs }: Transfer): void {
    const before = this.#fences;
    this.#fences =
      generation > 0
        ? { ...before, generation: Math.max(before.generation, generation) }
        : { ...before, fenceMs: Math.max(before.fenceMs, timeMs) };
  }

  #isVoid({ generation, timeMs }: Transfer): boolean {
    const { generation: newest, fenceMs } = this.#fences;
    return generation < newest || timeMs < fenceMs - withdrawalLateMs;
  }
}

/** Each id once. */
function sumOf(transfers: readonly StoredTransfer[]): WalletTransfers {
  const ids = new Set<string>();
  let sum = noTransfers;
  for (const { offset, timeMs, amountMicro, id } of transfers) {
    if (ids.has(id)) continue;
    ids.add(id);
    sum = { offset, timeMs, totalMicro: sum.totalMicro + amountMicro };
  }
  return sum;
}
