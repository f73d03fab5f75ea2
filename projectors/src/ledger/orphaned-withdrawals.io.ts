import { createHash, randomUUID } from 'node:crypto';
import { orphansPerCallMax } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import type { LogProducer } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import { repeatCheck } from '@pm/kit/rounds';
import { type Transfer, withdrawalLateMs } from '@pm/schemas/log/accounts';

export interface OrphanedWithdrawalsOptions {
  readonly ledger: Pick<Ledger, 'mark' | 'newestWithdrawal' | 'releaseWithdrawals'>;
  readonly producer: Pick<LogProducer, 'send'>;
  readonly codec: Pick<RecordCodec<Transfer>, 'encode'>;
  /** The topic `transfers` on the broker. */
  readonly topic: string;
  readonly log: Log;
  nowMs(): number;
}

/** How often it checks, milliseconds. */
const checkMs = 5_000;

/**
 * Releases money held for withdrawals whose ingress died before it wrote them. A process that was only paused may still
 * write its record, however late. So a fence is written first: by the log itself such a record is void after it, and
 * once the ledger has applied the fence no process needs the hold.
 */
export class OrphanedWithdrawals {
  readonly #options: OrphanedWithdrawalsOptions;
  /** The fence that was written: it frees the holds of withdrawals accepted before `beforeMs`. */
  #fenced: { readonly beforeMs: number; readonly offset: number } | null = null;

  constructor(options: OrphanedWithdrawalsOptions) {
    this.#options = options;
  }

  /** Checks repeatedly until it is closed. */
  start(): { close(): Promise<void> } {
    const { log } = this.#options;
    const failure = 'orphaned withdrawals could not be released';
    return repeatCheck(() => this.check(), { everyMs: checkMs, log, failure });
  }

  /** One check and one step. */
  async check(): Promise<void> {
    const { ledger, log } = this.#options;
    this.#fenced ??= await this.#fence();
    if (this.#fenced === null) return;
    const { beforeMs, offset } = this.#fenced;
    if ((await ledger.mark('transfers', 0)) <= offset) return;
    const count = await ledger.releaseWithdrawals(beforeMs);
    if (count < orphansPerCallMax) this.#fenced = null;
    if (count > 0) log.info({ count }, 'released holds of withdrawals that were never written');
  }

  /**
   * Null when no hold is old enough to need a fence. The time of a fence follows from the holds that it frees, not from
   * the clock of this process: a clock that is ahead must not make later withdrawals void.
   */
  async #fence(): Promise<{ beforeMs: number; offset: number } | null> {
    const { ledger, producer, codec, topic, nowMs } = this.#options;
    const newestMs = await ledger.newestWithdrawal(nowMs() - withdrawalLateMs);
    if (newestMs === null) return null;
    const beforeMs = newestMs + 1;
    const timeMs = beforeMs + withdrawalLateMs;
    const value = codec.encode({
      transferId: createHash('sha256').update(randomUUID()).digest(),
      wallet: Buffer.alloc(20),
      amountMicro: 0,
      generation: 0,
      timeMs,
    });
    const [place] = await producer.send([{ topic, partition: 0, key: null, value }]);
    return place === undefined ? null : { beforeMs, offset: place.offset };
  }
}
