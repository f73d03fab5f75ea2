import type { CompactedTable } from '@pm/domain/commands/compacted-table.io';
import { KeyedMutex } from '@pm/domain/commands/keyed-mutex.io';
import type { Clock } from '@pm/kit/clock';
import { deletedNotificationsMax } from '@pm/schemas/http/notifications';
import { hexBytes, type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import type { NotificationMark } from '@pm/schemas/log/notifications';
import { freeEntries } from '@pm/schemas/redis/held-entries';
import type { EntryQuota } from './entry-quota.io.ts';

export interface NotificationMarksOptions {
  readonly clock: Clock;
  readonly marks: DeletedNotifications;
  /** The topic `notification-marks`, folded into the marks. */
  readonly table: Pick<CompactedTable<NotificationMark>, 'write'>;
  readonly entryQuota: Pick<EntryQuota, 'admits'>;
}

/**
 * Remembers the notifications that a wallet has deleted. Two processes that delete for one wallet in the same moment
 * may undo one of the two: the notification comes back and can be deleted again.
 */
export class NotificationMarks {
  readonly #options: NotificationMarksOptions;
  readonly #mutex = new KeyedMutex();

  constructor(options: NotificationMarksOptions) {
    this.#options = options;
  }

  /** Resolves when it is durable; with false when there is no room for a wallet without money. Throws a `Fault`. */
  async delete(wallet: WalletAddress, ids: readonly number[]): Promise<boolean> {
    return await this.#mutex.run(wallet, async () => {
      const { marks, entryQuota } = this.#options;
      const held = { entries: marks.size, free: freeEntries.notificationMarks };
      if (!marks.has(wallet) && !(await entryQuota.admits(held, wallet))) return false;
      const deleted = marks.withDeleted(wallet, ids);
      const changedAtMs = this.#options.clock.nowMs();
      const value = { wallet: hexBytes(wallet), deleted, changedAtMs };
      await this.#options.table.write([{ key: wallet, value }]);
      return true;
    });
  }
}

/** Deleted notifications by wallet, folded from the topic `notification-marks`. */
export class DeletedNotifications {
  readonly #deleted = new Map<WalletAddress, readonly number[]>();

  /** Wallets with deleted notifications. */
  get size(): number {
    return this.#deleted.size;
  }

  has(wallet: WalletAddress): boolean {
    return this.#deleted.has(wallet);
  }

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
