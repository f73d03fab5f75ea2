import { type NotificationMark, type WalletAddress, walletFromBytes } from '@pm/schemas';

/** What wallets have deleted, by the topic `notification-marks`. */
export class DeletedNotifications {
  readonly #ids = new Map<WalletAddress, ReadonlySet<number>>();

  apply({ wallet, deleted }: NotificationMark): void {
    this.#ids.set(walletFromBytes(wallet), new Set(deleted));
  }

  of(wallet: WalletAddress): ReadonlySet<number> {
    return this.#ids.get(wallet) ?? none;
  }
}

const none: ReadonlySet<number> = new Set();
