import { setTimeout as wait } from 'node:timers/promises';
import { boundsOf, logBehind } from '@pm/domain/executions/execution-reader.io';
import type { LedgerTopic } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { LedgerFold } from '@pm/domain/ledger/ledger-fold';
import type { LostMark, RestoreResult } from '@pm/domain/ledger/restore-ledger.io';
import { Fault } from '@pm/kit/fault';
import type { LogClient } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { LedgerCheckpoint } from '../checkpoints/read-checkpoints.io.ts';

interface LedgerRecoveryOptions {
  readonly ledger: Pick<Ledger, 'mark'>;
  readonly restore: {
    isEmpty(): Promise<boolean>;
    isUnderWay(): Promise<boolean>;
    isBusy(): Promise<boolean>;
    run(image: LedgerCheckpoint['image'], lost: LostMark): Promise<RestoreResult>;
  };
  /** The newest one that can be used; null without a store. */
  readonly checkpoints: { ledger(): Promise<LedgerCheckpoint | null> } | null;
  readonly client: LogClient;
  /** Names on the broker. */
  readonly topics: Readonly<Record<LedgerTopic, string>>;
  readonly log: Log;
}

/** Pause while another process restores, and how often at most, before the view tries again as a whole. */
const busyMs = 250;
const busyMax = 240;

/**
 * Restores the ledger from a checkpoint when Redis has lost it, or when it is so old that the log does not have its
 * next records any more. The views fold the records after the checkpoint, and the ledger opens under a new generation.
 */
export class LedgerRecovery {
  readonly #options: LedgerRecoveryOptions;
  #running: Promise<RestoreResult | 'no checkpoint'> | null = null;

  constructor(options: LedgerRecoveryOptions) {
    this.#options = options;
  }

  /**
   * The first offset to apply in a partition, of a ledger that has all before. Rejects with `log_behind` (retry) while
   * the log ends before it, `ledger_history_removed` (retry) when neither the log nor a checkpoint has what is missing,
   * `ledger_restoring` (retry) when another process does not come to an end, and with the faults of the log and of the
   * store.
   */
  async start(topic: LedgerTopic, partition: number): Promise<number> {
    const { ledger, restore, client, topics } = this.#options;
    for (let tried = 0; tried < busyMax; tried += 1) {
      const { low, high } = await boundsOf({ client, topic: topics[topic] }, partition);
      const mark = await ledger.mark(topic, partition);
      if (mark > high) throw logBehind({ topic, partition }, { offset: mark, high });
      const isLost = mark < low || (mark === 0 && (await restore.isEmpty()));
      if (!isLost) return mark;
      const outcome = await this.#restoreOnce({ topic, partition, mark }, low);
      if (outcome === 'nothing') return mark;
      if (outcome === 'busy') await wait(busyMs);
    }
    throw new Fault('ledger_restoring', 'retry', { facts: { topic, partition } });
  }

  /** `nothing`: the log has it all. */
  async #restoreOnce(lost: LostMark, low: number): Promise<RestoreResult | 'nothing'> {
    // Views of this process that find the same loss wait for one read of the checkpoint and one restore: a checkpoint
    // takes much of the memory of a process, and there are as many views as partitions.
    this.#running ??= this.#readAndRestore(lost).finally(() => {
      this.#running = null;
    });
    const outcome = await this.#running;
    return outcome === 'no checkpoint' ? await this.#withoutCheckpoint(lost, low) : outcome;
  }

  async #readAndRestore(lost: LostMark): Promise<RestoreResult | 'no checkpoint'> {
    const { restore, checkpoints, log } = this.#options;
    if (checkpoints === null) return 'no checkpoint';
    if (await restore.isBusy()) return 'busy';
    const checkpoint = await checkpoints.ledger();
    if (checkpoint === null) return 'no checkpoint';
    const { image } = checkpoint;
    const startedMs = performance.now();
    const outcome = await restore.run(image, lost);
    if (outcome !== 'restored') return outcome;
    const tookMs = Math.round(performance.now() - startedMs);
    const facts = { wallets: image.wallets.size, transfers: image.transfers.size, tookMs };
    log.warn({ ...lost, ...facts }, 'the ledger was lost and is restored from a checkpoint');
    return outcome;
  }

  /** A restore that was left unfinished is replaced by an empty ledger, which the log fills. */
  async #withoutCheckpoint(lost: LostMark, low: number): Promise<RestoreResult | 'nothing'> {
    const { restore } = this.#options;
    if (low > 0) throw new Fault('ledger_history_removed', 'retry', { facts: { ...lost, low } });
    return (await restore.isUnderWay()) ? await restore.run(new LedgerFold(), lost) : 'nothing';
  }
}

/** The first offset that a view of the ledger reads. */
export async function startOf(
  { ledger, recovery }: { readonly ledger: Ledger; readonly recovery?: LedgerRecovery },
  topic: LedgerTopic,
  partition: number,
): Promise<number> {
  return recovery === undefined
    ? await ledger.mark(topic, partition)
    : await recovery.start(topic, partition);
}
