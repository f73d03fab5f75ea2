import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import {
  boundsOf,
  type ExecutionLog,
  ExecutionReader,
} from '@pm/domain/executions/execution-reader.io';
import type { ReaderTraces, TracedReader } from '@pm/domain/traces/traced-reader.io';
import type { Clock } from '@pm/kit/clock';
import { Fault } from '@pm/kit/fault';
import { isStall, type LogReader, type RecordBatch, readerSilenceMaxMs } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { Execution } from '@pm/schemas/log/executions';
import { streamOwnerSilenceMs } from '@pm/schemas/streams/limits';
import type { FeedChange } from './changes.ts';
import { type FeedCounts, PartitionFeed } from './partition-feed.ts';
import { RecentChanges } from './recent-changes.ts';
import type { StateFiles } from './state-files.io.ts';

/** From a fault until the partition is followed again, milliseconds; doubles with each fault before it is caught up. */
const reopenAfterMs = 500;
const reopenAfterMaxMs = 30_000;
/** Records taken before other work has its chance. */
const recordsPerSlice = 128;
/** A record ends the wait of a fetch at once. */
const maxWaitMs = 500;
/**
 * A partition is not live when no fetch that began within this time reached the end of the log, milliseconds. A fetch
 * itself may wait `maxWaitMs`.
 */
const behindMaxMs = streamOwnerSilenceMs + maxWaitMs;
/** Pause after records, milliseconds: a fetch for all partitions costs as much as one for one of them. */
const restMs = 10;

/** The changes that one record of `executions` made; never empty. */
export interface FeedRecord {
  readonly partition: number;
  /** Input offset of the record. */
  readonly offset: number;
  /** Clock of the partition after it, Unix milliseconds. */
  readonly timeMs: number;
  /** In order; of one channel and market, and of one wallet, with consecutive `seq`. */
  readonly changes: readonly FeedChange[];
}

/** Progress of one partition, for `welcome`, the heartbeat and /status. */
export interface PartitionStatus {
  readonly partition: number;
  /** First 16 hex digits of the chain of the first record; null before it was read. */
  readonly epoch: string | null;
  /** Input offset of the newest record taken; -1 before the first. */
  readonly offset: number;
  /** Clock of the partition after that record, Unix milliseconds; 0 before the first. */
  readonly timeMs: number;
  /** Records of `executions` that are there and not taken yet, as far as is known. */
  readonly lagRecords: number;
  /** Whether it was caught up since the start or the last reset: only then it has snapshots and calls listeners. */
  readonly isCaughtUp: boolean;
  /** Code of the fault that keeps it from following the log now; null while it follows. */
  readonly fault: string | null;
  /** Milliseconds for which it could not follow the log; 0 while it follows. */
  readonly faultMs: number;
  /** Whether it follows, reached the end within `behindMaxMs`, and heard its owner within `streamOwnerSilenceMs`. */
  readonly isLive: boolean;
}

/**
 * A state is written after so many records, and of a partition that is caught up after so many milliseconds by its
 * clock. So a start counts what it has folded: of processes that end early one after the other, none folds again what
 * the one before it had to.
 */
export interface SaveRules {
  readonly everyRecords: number;
  readonly everyMs: number;
}

export interface FollowerParts extends TracedReader {
  /** With `checksChain`. */
  readonly executions: ExecutionLog;
  readonly partition: number;
  /** Number of partitions that are followed. */
  readonly partitions: number;
  readonly files: StateFiles;
  readonly saves: SaveRules;
  readonly clock: Clock;
  readonly log: Log;
  /** Called for each record with changes once the partition is caught up. */
  onRecord(record: FeedRecord): void;
  /** The state was discarded: the fold starts over. */
  onReset(partition: number): void;
}

/**
 * Follows one partition from its newest sound state, or from the first record. After a fault it is opened again, where
 * it was; a state that the log does not continue is discarded, and the fold starts over.
 */
export class PartitionFollower {
  readonly #parts: FollowerParts;
  readonly #traces: ReaderTraces | null;
  readonly #closing = new AbortController();
  #feed: PartitionFeed | null = null;
  #recent: RecentChanges;
  #reader: LogReader | null = null;
  #openedMs = 0;
  /**
   * When a record was last read at the end of the log. Any record shows a working owner; one of a backlog shows only
   * its past.
   */
  #heardMs = Number.NEGATIVE_INFINITY;
  #order: ExecutionReader | null = null;
  #isCaughtUp = false;
  /** End of the log when the partition was opened. */
  #high = 0;
  #fault: { readonly code: string; readonly sinceMs: number } | null = null;
  #running: Promise<void> = Promise.resolve();
  /** Ends the reader that follows. */
  #stop: () => void = () => {};
  /** Faults since the partition was caught up last. */
  #failures = 0;
  /** Work on the files, one after the other; null when there is none. */
  #saving: Promise<void> | null = null;
  #savedInOffset = -1;
  /** Clock of the partition there, Unix milliseconds. */
  #savedTimeMs = 0;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#recent = new RecentChanges(0, parts.partitions);
    this.#traces = parts.tracesOf?.(parts.partition) ?? null;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Stops following and writes the state. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#stop();
    await this.#running;
    await this.#saving;
    const feed = this.#feed;
    if (feed !== null && feed.progress.inOffset > this.#savedInOffset)
      await this.#parts.files.save(feed);
  }

  /** Null while the partition is not caught up. */
  get feed(): PartitionFeed | null {
    return this.#isCaughtUp ? this.#feed : null;
  }

  /** The newest changes of `feed`. */
  get recent(): RecentChanges {
    return this.#recent;
  }

  get counts(): FeedCounts | undefined {
    return this.#feed?.counts;
  }

  status(): PartitionStatus {
    const { partition, clock } = this.#parts;
    const progress = this.#feed?.progress;
    const fault = this.#fault ?? this.#silence();
    return {
      partition,
      epoch: progress?.epoch ?? null,
      offset: progress?.inOffset ?? -1,
      timeMs: progress?.timeMs ?? 0,
      lagRecords:
        this.#reader?.lagRecords(partition) ??
        Math.max(0, this.#high - (progress?.nextOffset ?? 0)),
      isCaughtUp: this.#isCaughtUp,
      fault: fault?.code ?? null,
      faultMs: fault === null ? 0 : clock.monotonicMs() - fault.sinceMs,
      isLive:
        this.#isCaughtUp &&
        fault === null &&
        this.#isAtEnd() &&
        clock.monotonicMs() - this.#heardMs <= streamOwnerSilenceMs,
    };
  }

  #isAtEnd(): boolean {
    const { partition, clock } = this.#parts;
    const atEndMs = this.#reader?.atEndMs(partition) ?? Number.NEGATIVE_INFINITY;
    return clock.monotonicMs() - atEndMs <= behindMaxMs;
  }

  /** No fetch was answered for long, whatever the reader says. */
  #silence(): { readonly code: string; readonly sinceMs: number } | null {
    const { partition, clock } = this.#parts;
    const reader = this.#reader;
    if (reader === null) return null;
    const sinceMs = Math.max(this.#openedMs, reader.answeredMs(partition));
    const isSilent = clock.monotonicMs() - sinceMs > readerSilenceMaxMs;
    return isSilent ? { code: 'reader_silent', sinceMs } : null;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.#follow();
      } catch (error) {
        this.#failed(error);
      }
      const pauseMs = Math.min(reopenAfterMs * 2 ** this.#failures, reopenAfterMaxMs);
      if (!signal.aborted) await wait(pauseMs, undefined, { signal }).catch(() => {});
      this.#failures += 1;
    }
  }

  /** Follows until the service closes or a fault ends it, which it throws. */
  async #follow(): Promise<void> {
    const { executions, partition } = this.#parts;
    this.#high = (await boundsOf(executions, partition)).high;
    const feed = await this.#open();
    let end: (fault: Fault | null) => void = () => {};
    const ended = new Promise<Fault | null>((resolve) => {
      end = resolve;
    });
    this.#stop = () => end(null);
    if (this.#closing.signal.aborted) return;
    const from = feed.progress.nextOffset;
    const reader = await executions.client.reader({
      topic: executions.topic,
      positions: new Map([[partition, from]]),
      dense: true,
      maxWaitMs,
      restMs,
      catchesUp: true,
      onBatch: (batch) => this.#take(batch, feed),
      onFault: (fault) => (isStall(fault) ? this.#stalled(fault) : end(fault)),
    });
    this.#reader = reader;
    this.#openedMs = this.#parts.clock.monotonicMs();
    this.#fault = null;
    this.#failures = this.#isCaughtUp ? 0 : this.#failures;
    this.#noteCaughtUp(from);
    if (this.#isCaughtUp) await reader.share();
    const fault = await ended;
    this.#reader = null;
    await reader.close();
    if (fault !== null) throw fault;
  }

  /** The fold and the order of its records: where it was, else of the newest state that the log continues. */
  async #open(): Promise<PartitionFeed> {
    await this.#saving;
    const { files, partition, log } = this.#parts;
    const known = this.#feed;
    if (known !== null) {
      if (await this.#continues(known)) return known;
      log.error(
        { partition },
        'the log does not continue the feed: it is folded from the first record',
      );
      this.#discard();
    }
    for await (const feed of files.newestFirst(partition)) {
      if (await this.#continues(feed)) return this.#adopt(feed);
      const nextInOffset = feed.progress.inOffset + 1;
      log.error({ partition, nextInOffset }, 'the log does not continue a state: it is not used');
    }
    return this.#adopt(await this.#fromFirst());
  }

  #adopt(feed: PartitionFeed): PartitionFeed {
    this.#feed = feed;
    this.#savedInOffset = feed.progress.inOffset;
    this.#savedTimeMs = feed.progress.timeMs;
    this.#recent = new RecentChanges(feed.progress.inOffset + 1, this.#parts.partitions);
    return feed;
  }

  async #fromFirst(): Promise<PartitionFeed> {
    const { executions, partition } = this.#parts;
    const { low } = await boundsOf(executions, partition);
    // Numbers and sums would be wrong without the first records.
    if (low > 0) throw new Fault('log_beginning_missing', 'stop', { facts: { partition, low } });
    this.#order = await ExecutionReader.open(executions, partition, 0);
    return new PartitionFeed(partition);
  }

  /** Whether the log has the record that a fold ended with. Rejects when the log is away. */
  async #continues({ progress }: PartitionFeed): Promise<boolean> {
    const { executions, partition } = this.#parts;
    const { inOffset, nextOffset, chain } = progress;
    if (nextOffset > this.#high) return false;
    const order = await ExecutionReader.open(executions, partition, nextOffset);
    this.#order = order;
    if (nextOffset === 0) return true;
    return (
      order.nextInOffset === inOffset + 1 && chain !== null && order.chain?.equals(chain) === true
    );
  }

  async #take(batch: RecordBatch, feed: PartitionFeed): Promise<void> {
    const order = this.#order;
    const { signal } = this.#closing;
    if (order === null) return;
    // The batch was written after the end was reached.
    if (this.#isAtEnd()) this.#heardMs = this.#parts.clock.monotonicMs();
    let taken = 0;
    for (const record of batch.records) {
      if (signal.aborted) return;
      const read = order.next(record);
      const execution = read instanceof Promise ? await read : read;
      if (execution !== null) this.#fold(feed, { execution, offset: record.offset });
      taken += 1;
      if (taken % recordsPerSlice === 0) await setImmediate();
    }
    this.#fault = null;
    this.#noteCaughtUp((batch.records.at(-1)?.offset ?? -1) + 1);
    this.#saveIfDue(feed);
  }

  #fold(
    feed: PartitionFeed,
    { execution, offset }: { readonly execution: Execution; readonly offset: number },
  ): void {
    if (this.#isCaughtUp) this.#traces?.take(offset, execution);
    const changes = this.#taken(() => feed.take(execution, offset));
    this.#report(feed, changes);
    this.#traces?.stored(offset + 1);
  }

  #report(feed: PartitionFeed, changes: readonly FeedChange[]): void {
    const { partition, onRecord } = this.#parts;
    const { inOffset: offset, timeMs } = feed.progress;
    if (changes.length === 0) return;
    this.#recent.add(offset, changes);
    if (this.#isCaughtUp) onRecord({ partition, offset, timeMs, changes });
  }

  #taken(take: () => readonly FeedChange[]): readonly FeedChange[] {
    try {
      return take();
    } catch (error) {
      // Half a record is in the state: neither it nor its files can be trusted.
      this.#discard();
      this.#onFiles((files) => files.drop(this.#parts.partition));
      throw error;
    }
  }

  #discard(): void {
    this.#feed = null;
    this.#isCaughtUp = false;
    this.#savedInOffset = -1;
    this.#savedTimeMs = 0;
    this.#parts.onReset(this.#parts.partition);
  }

  #noteCaughtUp(position: number): void {
    if (this.#isCaughtUp || this.#feed === null || position < this.#high) return;
    this.#isCaughtUp = true;
    this.#failures = 0;
    void this.#reader?.share();
    const { partition, log } = this.#parts;
    log.info({ partition, ...this.#feed.counts }, 'a feed is caught up');
  }

  #saveIfDue(feed: PartitionFeed): void {
    const { saves } = this.#parts;
    if (this.#saving !== null) return;
    const { inOffset, timeMs } = feed.progress;
    const records = inOffset - this.#savedInOffset;
    const isLate = this.#isCaughtUp && timeMs - this.#savedTimeMs >= saves.everyMs;
    if (records < (isLate ? 1 : saves.everyRecords)) return;
    // A failed write is logged there, and tried again when the next one is due.
    [this.#savedInOffset, this.#savedTimeMs] = [inOffset, timeMs];
    this.#onFiles((files) => files.save(feed));
  }

  #onFiles(work: (files: StateFiles) => Promise<unknown>): void {
    const before = this.#saving ?? Promise.resolve();
    const saving = before
      .then(() => work(this.#parts.files))
      .then(() => {
        if (this.#saving === saving) this.#saving = null;
      });
    this.#saving = saving;
  }

  #stalled(fault: Fault): void {
    this.#note(fault.code);
    this.#parts.log.warn({ err: fault }, 'a feed is delayed');
  }

  #failed(error: unknown): void {
    this.#note(error instanceof Fault ? error.code : 'feed_failed');
    const { partition, log } = this.#parts;
    log.error({ partition, err: error }, 'a feed cannot follow the log: it is opened again');
  }

  #note(code: string): void {
    this.#fault = { code, sinceMs: this.#fault?.sinceMs ?? this.#parts.clock.monotonicMs() };
  }
}
