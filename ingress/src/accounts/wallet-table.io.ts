import type { Clock } from '@pm/kit/clock';
import {
  hexBytes,
  type WalletAddress,
  type WalletStatus,
  type WalletStatusKind,
  type WithdrawalFreeze,
  walletFromBytes,
} from '@pm/schemas';
import type { CompactedTable } from '../log/compacted-table.io.ts';

/** A record of a compacted topic with one row per wallet. */
type WalletEntry<Facts> = Facts & { readonly wallet: Buffer; readonly changedAtMs: number };

/** The newest record of a wallet. */
type WalletRow<Facts> = Facts & {
  readonly wallet: WalletAddress;
  /** Unix milliseconds. */
  readonly changedAtMs: number;
};

/** The newest row of each wallet, folded from its topic. */
export class WalletRows<Facts extends object> {
  readonly #rows = new Map<WalletAddress, WalletRow<Facts>>();

  apply(entry: WalletEntry<Facts>): void {
    const wallet = walletFromBytes(entry.wallet);
    this.#rows.set(wallet, { ...entry, wallet });
  }

  find(wallet: WalletAddress): WalletRow<Facts> | undefined {
    return this.#rows.get(wallet);
  }

  /** Rows that `picks` takes, those that were changed last first. */
  newest(max: number, picks: (row: WalletRow<Facts>) => boolean): readonly WalletRow<Facts>[] {
    const picked = [...this.#rows.values()].filter(picks);
    return picked.sort((a, b) => b.changedAtMs - a.changedAtMs).slice(0, max);
  }
}

interface WalletTableOptions<Facts extends object> {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly rows: WalletRows<Facts>;
  /** The topic, folded into the rows. */
  readonly table: Pick<CompactedTable<WalletEntry<Facts>>, 'write'>;
}

/** A table with one row per wallet that this process reads and writes. */
class WalletTable<Facts extends object> {
  protected readonly rows: WalletRows<Facts>;
  readonly #options: WalletTableOptions<Facts>;

  constructor(options: WalletTableOptions<Facts>) {
    this.rows = options.rows;
    this.#options = options;
  }

  find(wallet: WalletAddress): WalletRow<Facts> | undefined {
    return this.rows.find(wallet);
  }

  /** Resolves when the row is durable and counts here; in the other processes within milliseconds. Throws a `Fault`. */
  async set(wallet: WalletAddress, facts: Facts): Promise<WalletRow<Facts>> {
    const changedAtMs = this.#options.clock.nowMs();
    const value = { ...facts, wallet: hexBytes(wallet), changedAtMs };
    await this.#options.table.write([{ key: wallet, value }]);
    return { ...facts, wallet, changedAtMs };
  }
}

export type StatusFacts = Pick<WalletStatus, 'status' | 'reason'>;
export type ListedStatus = WalletRow<StatusFacts>;

/** What operators allow wallets, from the topic `wallet-status` (conventions.md 2.3). */
export class WalletStatuses extends WalletTable<StatusFacts> {
  /** `NORMAL` for a wallet without a record. */
  of(wallet: WalletAddress): WalletStatusKind {
    return this.rows.find(wallet)?.status ?? 'NORMAL';
  }

  /** Wallets that are not `NORMAL`. */
  restricted(max: number): readonly ListedStatus[] {
    return this.rows.newest(max, ({ status }) => status !== 'NORMAL');
  }
}

/** `freeMicro` is the free money when the wallet was frozen, micro-USDC. */
export type FreezeFacts = Pick<WithdrawalFreeze, 'frozen' | 'freeMicro' | 'reason'>;
export type ListedFreeze = WalletRow<FreezeFacts>;

/** Whose withdrawals are frozen, by the solvency check or by an operator: the topic `withdrawal-freezes` (operator.md). */
export class WithdrawalFreezes extends WalletTable<FreezeFacts> {
  isFrozen(wallet: WalletAddress): boolean {
    return this.rows.find(wallet)?.frozen === true;
  }

  frozen(max: number): readonly ListedFreeze[] {
    return this.rows.newest(max, ({ frozen }) => frozen);
  }
}
