import type { Clock } from '@pm/kit/clock';
import { hexBytes, type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import type { CompactedTable } from '../commands/compacted-table.io.ts';

/** A record of a compacted topic with one row per wallet. */
type WalletEntry<Facts> = Facts & { readonly wallet: Buffer; readonly changedAtMs: number };

/** The newest record of a wallet. */
export type WalletRow<Facts> = Facts & {
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

/** A topic with one row per wallet, as it is read. */
export class WalletTable<Facts extends object> {
  protected readonly rows: WalletRows<Facts>;

  constructor(rows: WalletRows<Facts>) {
    this.rows = rows;
  }

  find(wallet: WalletAddress): WalletRow<Facts> | undefined {
    return this.rows.find(wallet);
  }
}

interface WalletWriterOptions<Facts extends object> {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** The topic, folded into the rows that this process reads. */
  readonly table: Pick<CompactedTable<WalletEntry<Facts>>, 'write'>;
}

/** Writes the rows of such a topic, for the operator. */
export class WalletWriter<Facts extends object> {
  readonly #options: WalletWriterOptions<Facts>;

  constructor(options: WalletWriterOptions<Facts>) {
    this.#options = options;
  }

  /** Resolves when the row is durable and counts here; in the other processes within milliseconds. Throws a `Fault`. */
  async set(wallet: WalletAddress, facts: Facts): Promise<WalletRow<Facts>> {
    const changedAtMs = this.#options.clock.nowMs();
    const value = { ...facts, wallet: hexBytes(wallet), changedAtMs };
    await this.#options.table.write([{ key: wallet, value }]);
    return { ...facts, wallet, changedAtMs };
  }
}
