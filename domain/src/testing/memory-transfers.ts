import { type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import type { Transfer } from '@pm/schemas/log/accounts';
import type { StoredTransfer, TransferStore } from '../ledger/transfer-totals.ts';

/** All transfers in a list. */
export class MemoryTransfers implements TransferStore {
  readonly #all: { readonly wallet: WalletAddress; readonly stored: StoredTransfer }[] = [];

  hasNewId(transferId: Buffer): boolean {
    const id = transferId.toString('hex');
    return this.#all.some(({ stored }) => stored.id === id);
  }

  append(offset: number, { transferId, wallet, amountMicro, timeMs }: Transfer): void {
    const stored = { offset, amountMicro, timeMs, id: transferId.toString('hex') };
    this.#all.push({ wallet: walletFromBytes(wallet), stored });
  }

  transfersOf(wallet: WalletAddress): readonly StoredTransfer[] {
    return this.#all.filter((one) => one.wallet === wallet).map(({ stored }) => stored);
  }
}
