import type { Clock } from '@pm/kit/clock';
import {
  deletedNotificationsMax,
  hexBytes,
  type NotificationMark,
  type WalletAddress,
  walletFromBytes,
} from '@pm/schemas';
import type { CompactedTable } from '../log/compacted-table.io.ts';
import { KeyedMutex } from '../log/keyed-mutex.io.ts';

export interface NotificationMarksOptions {
  readonly clock: Clock;
  readonly marks: DeletedNotifications;
  /** The topic `notification-marks`, folded into the marks. */
  readonly table: Pick<CompactedTable<NotificationMark>, 'write'>;
}

/**
 * Remembers the notifications that a wallet has deleted. Two processes that delete for one wallet in the same moment may undo one of the two: the
 * notification comes back and can be deleted again.
 */
export class NotificationMarks {
  readonly #options: NotificationMarksOptions;
  readonly #mutex = new KeyedMutex();

  constructor(options: NotificationMarksOptions) {
    this.#options = options;
  }

  /** Resolves when it is durable. Throws a `Fault`. */
  async delete(wallet: WalletAddress, ids: readonly number[]): Promise<void> {
    await this.#mutex.run(wallet, async () => {
      const deleted = this.#options.marks.withDeleted(wallet, ids);
      const changedAtMs = this.#options.clock.nowMs();
      const value = { wallet: hexBytes(wallet), deleted, changedAtMs };
      await this.#options.table.write([{ key: wallet, value }]);
    });
  }
}

/** Deleted notifications by wallet, folded from the topic `notification-marks`. */
export class DeletedNotifications {
  readonly #deleted = new Map<WalletAddress, readonly number[]>();

  apply({ wallet, deleted }: NotificationMark): void {
    this.#deleted.set(walletFromBytes(wallet), [...deleted]);
  }

  /** The next entry of the wallet, with these deleted too: each id once, the newest kept. */
  withDeleted(wallet: WalletAddress, ids: readonly number[]): readonly number[] {
    const fresh = new Set(ids);
    const before = (this.#deleted.get(wallet) ?? []).filter((id) => !fresh.has(id));
    return [...before, ...fresh].slice(-deletedNotificationsMax);
  }
}
