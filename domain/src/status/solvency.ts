import { type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import { everyWallet, type WithdrawalFreeze } from '@pm/schemas/log/accounts';

/** The part of GET /status that says whether all money adds up; folds the topic `withdrawal-freezes`. */
export class SolvencyFacts {
  readonly #frozen = new Set<WalletAddress>();
  readonly #unsound = new Set<WalletAddress>();

  /** Takes the newest record of a wallet. */
  take({ wallet, frozen, unsound }: WithdrawalFreeze): void {
    const address = walletFromBytes(wallet);
    mark(this.#frozen, address, frozen);
    mark(this.#unsound, address, frozen && unsound);
  }

  wire() {
    const isFrozen = this.#frozen.has(everyWallet);
    return {
      sound: this.#unsound.size === 0,
      withdrawals: isFrozen ? 'frozen' : 'open',
      frozenWallets: this.#frozen.size - (isFrozen ? 1 : 0),
    } as const;
  }
}

function mark(set: Set<WalletAddress>, wallet: WalletAddress, isIn: boolean): void {
  if (isIn) set.add(wallet);
  else set.delete(wallet);
}
