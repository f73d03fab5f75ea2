import { setTimeout as wait } from 'node:timers/promises';
import { type ExecutionCodec, eachExecution } from '@pm/domain/executions/each-execution.io';
import { LogEnds } from '@pm/domain/executions/log-ends.io';
import { newestInputs } from '@pm/domain/executions/newest-inputs.io';
import type { Clock } from '@pm/kit/clock';
import { Fault } from '@pm/kit/fault';
import type { LogPlaces } from '@pm/kit/http';
import {
  isStall,
  type LogAdmin,
  type LogClient,
  type LogReader,
  type RecordBatch,
  readerSilenceMaxMs,
} from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { Execution } from '@pm/schemas/log/executions';
import type { RecentLog, RecentProgress } from './recent-log.ts';

export interface RecentFollowerOptions {
  readonly client: LogClient;
  readonly recent: RecentLog;
  readonly codec: ExecutionCodec;
  /** Name of `executions` on the broker. */
  readonly topic: string;
  readonly log: Log;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Called with every record, repeated ones too. `isNew`: it was not there when reading began. */
  readonly onExecution?: (partition: number, execution: Execution, isNew: boolean) => void;
  /**
   * Offset of `executions` per partition that the tables hold everything below of; partitions without any are absent.
   */
  storedPositions(): Promise<ReadonlyMap<number, number>>;
}

/** Where the newest records stand, for /status. `following` is false while the tables answer alone. */
export interface RecentStatus {
  readonly following: boolean;
  readonly fault: string | null;
  readonly rows: number;
  readonly partitions: readonly (RecentProgress & { readonly lagRecords: number })[];
}

/** How often the positions of the tables are read; a record is kept so much longer than needed, milliseconds. */
const storedEveryMs = 250;
/**
 * How often the positions of the tables are read while few rows are kept, milliseconds: keeping rows longer costs less
 * than reading positions.
 */
const storedSeldomMs = 1_000;
const fewRows = 20_000;
/** From a fault until the newest records are read again from scratch, milliseconds. */
const restartAfterMs = 2_000;
/** A read waits so long for the records that were there when it came; then it answers with what there is. */
const settleMaxMs = 1_000;
const settlePollMs = 2;
/**
 * How long records stay in memory that the tables have, milliseconds: kept halves of public pages begin where it ends.
 */
export const keepRecentMs = 10_000;
/** Pause after a fetch with records, milliseconds; a request that waits for records ends it. */
const restMs = 25;
/** With more lag than this no request waits. */
const settleLagMax = 20_000;
/**
 * Records before the end at which reading starts at most: a longer way is left to the tables until they are there.
 */
const startupRecordsMax = 50_000;

/**
 * Follows `executions` from where the tables end. After any fault here, reads continue from the tables alone, and
 * /status says so.
 */
export class RecentFollower {
  readonly #parts: RecentFollowerOptions;
  #admin: LogAdmin | null = null;
  #reader: LogReader | null = null;
  #fault: string | null = null;
  #openedMs = 0;
  /** Ends of the partitions when they were opened. */
  #openedAt: ReadonlyMap<number, number> = new Map();
  /** Partitions that are followed; there may be more by now. */
  #partitions = 0;
  /** Another one has records. */
  #hasMore = false;
  readonly #closing = new AbortController();
  #running: Promise<void> = Promise.resolve();
  readonly #ends: LogEnds;

  constructor(parts: RecentFollowerOptions) {
    this.#parts = parts;
    this.#ends = new LogEnds({ bounds: () => this.#bounds() }, parts.topic);
  }

  /** Resolves when the newest records are followed, or when that has failed for now. */
  async start(): Promise<void> {
    await this.#open();
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await this.#stop();
    await this.#admin?.close();
  }

  status(): RecentStatus {
    const { recent } = this.#parts;
    const reader = this.#reader;
    return {
      following: reader !== null && this.#fault === null && !this.#isSilent(reader),
      fault: this.#fault,
      rows: recent.rowCount,
      partitions: recent.progress().map((progress) => ({
        ...progress,
        lagRecords: reader?.lagRecords(progress.partition) ?? 0,
      })),
    };
  }

  /**
   * Waits until everything that was in the log at the call has been read, but not for long. False when that is not so,
   * or when the tables do not reach up to what is here: then something may be missing between. Never rejects.
   */
  async settle(): Promise<boolean> {
    const reader = this.#reader;
    if (reader === null || this.#fault !== null || this.#isSilent(reader)) return false;
    const giveUp = new AbortController();
    const late = wait(settleMaxMs, false, { signal: giveUp.signal }).catch(() => false);
    try {
      const settled = await Promise.race([this.#settled(reader, giveUp.signal), late]);
      return settled && this.#parts.recent.progress().every(({ hasGap }) => !hasGap);
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'the ends of the log are not known');
      return false;
    } finally {
      giveUp.abort();
    }
  }

  /** How far these partitions have been read; reads on at once. Throws a `Fault` (retry) while nothing is followed. */
  positions(partitions: readonly number[]): LogPlaces {
    const reader = this.#reader;
    if (reader === null || this.#fault !== null) throw new Fault('newest_records_behind', 'retry');
    reader.hurry();
    return new Map(partitions.map((partition) => [partition, reader.position(partition)]));
  }

  /** No fetch of a partition was answered for long: what it has read may be far behind. */
  #isSilent(reader: LogReader): boolean {
    const nowMs = this.#parts.clock.monotonicMs();
    const isLate = (partition: number) => {
      const sinceMs = Math.max(this.#openedMs, reader.answeredMs(partition));
      return nowMs - sinceMs > readerSilenceMaxMs;
    };
    return [...Array(this.#partitions).keys()].some(isLate);
  }

  async #settled(reader: LogReader, signal: AbortSignal): Promise<boolean> {
    // Not older than the call: the caller may know of the newest records.
    const ends = await this.#ends.read();
    for (const [partition, end] of ends) {
      if (partition >= this.#partitions) {
        if (end === 0) continue;
        this.#hasMore = true;
        return false;
      }
      if (reader.lagRecords(partition) > settleLagMax) return false;
      while (reader.position(partition) < end) {
        reader.hurry();
        if (signal.aborted || reader !== this.#reader) return false;
        await wait(settlePollMs);
      }
    }
    return true;
  }

  async #bounds() {
    this.#admin ??= await this.#parts.client.admin();
    return await this.#admin.bounds(this.#parts.topic);
  }

  async #open(): Promise<void> {
    const { client, recent, topic, log, codec } = this.#parts;
    try {
      const [bounds, stored] = await Promise.all([this.#bounds(), this.#parts.storedPositions()]);
      const positions = new Map(
        [...bounds].map(([partition, { low, high }]) => {
          const from = Math.max(low, stored.get(partition) ?? 0, high - startupRecordsMax);
          return [partition, Math.min(from, high)];
        }),
      );
      recent.restart(positions, await newestInputs({ client, codec, topic }, positions));
      this.#partitions = positions.size;
      this.#hasMore = false;
      this.#openedAt = new Map([...bounds].map(([partition, { high }]) => [partition, high]));
      this.#known(stored);
      const reader = await client.reader({
        topic,
        positions,
        dense: true,
        restMs,
        onBatch: (batch) => this.#take(batch),
        onFault: (fault) => this.#onFault(fault),
      });
      this.#reader = reader;
      this.#openedMs = this.#parts.clock.monotonicMs();
      this.#fault = null;
    } catch (error) {
      recent.stop();
      this.#fault = error instanceof Fault ? error.code : 'recent_failed';
      log.warn({ err: error }, 'the newest records cannot be read: the tables answer alone');
    }
  }

  async #take(batch: RecordBatch): Promise<void> {
    const { recent, codec, onExecution } = this.#parts;
    const { partition } = batch;
    await eachExecution(batch, codec, (execution, offset) => {
      onExecution?.(partition, execution, offset >= (this.#openedAt.get(partition) ?? 0));
      if (recent.take(partition, execution, offset)) return;
      throw new Fault('execution_gap', 'stop', { facts: { partition, offset } });
    });
  }

  #onFault(fault: Fault): void {
    const { log, recent } = this.#parts;
    if (isStall(fault)) {
      log.warn({ code: fault.code }, 'the newest records are delayed');
      return;
    }
    log.error({ err: fault }, 'the newest records cannot be followed: the tables answer alone');
    this.#fault = fault.code;
    recent.stop();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await wait(this.#pauseMs(), undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      await (this.#isBroken() ? this.#restart() : this.#poll());
    }
  }

  #isBroken(): boolean {
    return this.#reader === null || this.#fault !== null;
  }

  #pauseMs(): number {
    if (this.#isBroken()) return restartAfterMs;
    const { recent } = this.#parts;
    const isAtRest = recent.rowCount < fewRows && recent.progress().every(({ hasGap }) => !hasGap);
    return isAtRest ? storedSeldomMs : storedEveryMs;
  }

  async #poll(): Promise<void> {
    const { log, storedPositions } = this.#parts;
    try {
      const stored = await storedPositions();
      this.#known(stored);
      const isStored = [...stored.keys()].some((partition) => partition >= this.#partitions);
      if (!isStored && !this.#hasMore) return;
      // The log may not show yet what the tables have.
      const { size } = await this.#bounds();
      if (size > this.#partitions) await this.#restart();
    } catch (error) {
      log.warn({ err: error }, 'the position of the tables is not known');
    }
  }

  #known(stored: ReadonlyMap<number, number>): void {
    const nowMs = this.#parts.clock.monotonicMs();
    for (const [partition, offset] of stored) this.#parts.recent.stored(partition, offset, nowMs);
  }

  async #restart(): Promise<void> {
    await this.#stop();
    await this.#open();
  }

  async #stop(): Promise<void> {
    const reader = this.#reader;
    this.#reader = null;
    this.#parts.recent.stop();
    await reader?.close();
  }
}
