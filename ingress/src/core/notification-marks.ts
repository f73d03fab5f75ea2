import {
  deletedNotificationsMax,
  type NotificationMark,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas';

/** Deleted notifications by wallet, folded from the topic `notification-marks`. */
export class NotificationMarks {
  readonly #deleted = new Map<WalletAddress, readonly number[]>();

  apply({ wallet, deleted }: NotificationMark): void {
    this.#deleted.set(walletFromBytes(wallet), [...deleted]);
  }

  /** What the wallet's entry is to be when these are deleted too: each id once, the newest kept. */
  withDeleted(wallet: WalletAddress, ids: readonly number[]): readonly number[] {
    const fresh = new Set(ids);
    const before = (this.#deleted.get(wallet) ?? []).filter((id) => !fresh.has(id));
    return [...before, ...fresh].slice(-deletedNotificationsMax);
  }
}
