import { createHash, randomUUID } from 'node:crypto';
import { orphansPerCallMax } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import type { LogProducer } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import { repeatCheck } from '@pm/kit/rounds';
import { type Transfer, withdrawalLateMs } from '@pm/schemas';

export interface WithdrawalOrphansParts {
  readonly ledger: Pick<Ledger, 'mark' | 'newestWithdrawal' | 'releaseWithdrawals'>;
  readonly producer: Pick<LogProducer, 'send'>;
  readonly codec: Pick<RecordCodec<Transfer>, 'encode'>;
  /** The topic `transfers` on the broker. */
  readonly topic: string;
  readonly log: Log;
  nowMs(): number;
}

/** How often it looks, milliseconds. */
const checkMs = 5_000;

/**
 * Releases money held for withdrawals whose ingress died before it wrote them. A process that was only stopped may still write
 * its record, however late. So a fence is written first: after it the log itself says that such a record is void, and once
 * the ledger has applied the fence the hold is of no use to any process.
 */
export class WithdrawalOrphansRunner {
  readonly #parts: WithdrawalOrphansParts;
  /** The fence that was written, and the holds that it makes free. */
  #fenced: { readonly beforeMs: number; readonly offset: number } | null = null;

  constructor(parts: WithdrawalOrphansParts) {
    this.#parts = parts;
  }

  /** Looks from now on, until it is closed. */
  start(): { close(): Promise<void> } {
    const { log } = this.#parts;
    const failure = 'orphaned withdrawals could not be looked for';
    return repeatCheck(() => this.check(), { everyMs: checkMs, log, failure });
  }

  /** One look and one step. */
  async check(): Promise<void> {
    const { ledger, log } = this.#parts;
    this.#fenced ??= await this.#fence();
    if (this.#fenced === null) return;
    const { beforeMs, offset } = this.#fenced;
    if ((await ledger.mark('transfers', 0)) <= offset) return;
    const count = await ledger.releaseWithdrawals(beforeMs);
    if (count < orphansPerCallMax) this.#fenced = null;
    if (count > 0) log.info({ count }, 'released holds of withdrawals that were never written');
  }

  /**
   * Null when no hold is old enough to need a fence. Its time follows from the holds that it makes free, not from this
   * process's clock: a clock that is ahead must not make withdrawals void that are still to come.
   */
  async #fence(): Promise<{ beforeMs: number; offset: number } | null> {
    const { ledger, producer, codec, topic, nowMs } = this.#parts;
    const newestMs = await ledger.newestWithdrawal(nowMs() - withdrawalLateMs);
    if (newestMs === null) return null;
    const beforeMs = newestMs + 1;
    const timeMs = beforeMs + withdrawalLateMs;
    const transferId = createHash('sha256').update(randomUUID()).digest();
    const nothing = { wallet: Buffer.alloc(20), amountMicro: 0, generation: 0 };
    const value = codec.encode({ ...nothing, transferId, timeMs });
    const [place] = await producer.send([{ topic, partition: 0, key: null, value }]);
    return place === undefined ? null : { beforeMs, offset: place.offset };
  }
}
