import {
  type WalletAddress,
  type WalletStatus,
  type WalletStatusKind,
  walletFromBytes,
} from '@pm/schemas';

/** What an operator said about a wallet last. */
export interface ListedStatus {
  readonly wallet: WalletAddress;
  readonly status: WalletStatusKind;
  readonly reason: string;
  readonly changedAtMs: number;
}

/** What wallets may do, folded from the topic `wallet-status` (conventions.md 2.3). */
export class WalletStatuses {
  readonly #statuses = new Map<WalletAddress, ListedStatus>();

  /** Takes the newest record of a wallet. */
  apply({ wallet: bytes, status, reason, changedAtMs }: WalletStatus): void {
    const wallet = walletFromBytes(bytes);
    this.#statuses.set(wallet, { wallet, status, reason, changedAtMs });
  }

  /** Wallets that nobody said anything about may do everything. */
  of(wallet: WalletAddress): WalletStatusKind {
    return this.#statuses.get(wallet)?.status ?? 'NORMAL';
  }

  find(wallet: WalletAddress): ListedStatus | undefined {
    return this.#statuses.get(wallet);
  }

  /** Wallets that may not do everything, those that were changed last first. */
  restricted(max: number): readonly ListedStatus[] {
    const restricted = [...this.#statuses.values()].filter(({ status }) => status !== 'NORMAL');
    return restricted.sort((a, b) => b.changedAtMs - a.changedAtMs).slice(0, max);
  }
}
