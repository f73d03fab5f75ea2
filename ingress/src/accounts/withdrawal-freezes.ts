import { type WalletAddress, type WithdrawalFreeze, walletFromBytes } from '@pm/schemas';

/** What the log said last about the withdrawals of a wallet. */
export interface ListedFreeze {
  readonly wallet: WalletAddress;
  readonly frozen: boolean;
  /** Free money when it was frozen, micro-USDC. */
  readonly freeMicro: number;
  readonly reason: string;
  /** Unix milliseconds. */
  readonly changedAtMs: number;
}

/** Whose withdrawals are frozen, folded from the topic `withdrawal-freezes` (operator.md). */
export class WithdrawalFreezes {
  readonly #freezes = new Map<WalletAddress, ListedFreeze>();

  /** Takes the newest record of a wallet. */
  apply({ wallet: bytes, ...facts }: WithdrawalFreeze): void {
    const wallet = walletFromBytes(bytes);
    this.#freezes.set(wallet, { ...facts, wallet });
  }

  isFrozen(wallet: WalletAddress): boolean {
    return this.#freezes.get(wallet)?.frozen === true;
  }

  find(wallet: WalletAddress): ListedFreeze | undefined {
    return this.#freezes.get(wallet);
  }

  /** Frozen ones, those that were frozen last first. */
  frozen(max: number): readonly ListedFreeze[] {
    const frozen = [...this.#freezes.values()].filter((one) => one.frozen);
    return frozen.sort((a, b) => b.changedAtMs - a.changedAtMs).slice(0, max);
  }
}
