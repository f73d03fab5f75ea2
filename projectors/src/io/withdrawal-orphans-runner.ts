import type { LogAdmin } from '@pm/kit/kafka';
import type { Ledger } from '@pm/kit/ledger';
import type { Log } from '@pm/kit/log';
import { runRounds } from '@pm/kit/rounds';

export interface WithdrawalOrphansParts {
  readonly ledger: Pick<Ledger, 'mark' | 'releaseWithdrawals'>;
  readonly admin: Pick<LogAdmin, 'bounds'>;
  /** The topic `transfers` on the broker. */
  readonly topic: string;
  readonly log: Log;
  nowMs(): number;
}

/** How often it looks, milliseconds. */
const checkMs = 5_000;

/**
 * A withdrawal accepted longer ago than this has been written or never will be, milliseconds: ingress writes it within five
 * seconds, a send takes at most ten, and clocks may differ.
 */
export const withdrawalOrphanMs = 30_000;

/**
 * Releases money held for withdrawals whose ingress died before it wrote them: once everything that stood on `transfers`
 * when they had become too old has been applied, they are not there.
 */
export class WithdrawalOrphansRunner {
  readonly #parts: WithdrawalOrphansParts;
  #open: { readonly beforeMs: number; readonly end: number } | null = null;

  constructor(parts: WithdrawalOrphansParts) {
    this.#parts = parts;
  }

  /** Looks from now on, until it is closed. */
  start(): { close(): Promise<void> } {
    return runRounds({
      round: async () => {
        await this.check();
        return checkMs;
      },
      onFailure: (error) => {
        this.#parts.log.warn({ err: error }, 'orphaned withdrawals could not be looked for');
        return checkMs;
      },
    });
  }

  /** One look. */
  async check(): Promise<void> {
    const { ledger, admin, topic, log, nowMs } = this.#parts;
    const beforeMs = nowMs() - withdrawalOrphanMs;
    this.#open ??= { beforeMs, end: (await admin.bounds(topic)).get(0)?.high ?? 0 };
    if ((await ledger.mark('transfers', 0)) < this.#open.end) return;
    const count = await ledger.releaseWithdrawals(this.#open.beforeMs);
    this.#open = null;
    if (count > 0) log.info({ count }, 'released holds of withdrawals that were never written');
  }
}
