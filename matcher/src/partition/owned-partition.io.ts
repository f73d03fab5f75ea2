import type { Clock } from '@pm/kit/clock';
import { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import { countEvents, type MatcherMetrics } from '../metrics.ts';
import { ExecutionSink, type ExecutionSinkParts, type Slice } from './execution-writer.io.ts';
import { PartitionStateStore, partitionStates } from './liveness.ts';
import { type PartitionStatus, statusOf } from './partition-status.ts';
import type { InputRecord, RecordRunner } from './record-processor.ts';
import { type RestoreParts, restorePartition } from './restore.io.ts';
import { type RunSlice, runInSlices, type SliceLimits } from './slices.io.ts';
import { type SnapshotRules, SnapshotRunner } from './snapshot-schedule.io.ts';
import type { TickSink } from './tick-publisher.io.ts';

export interface PartitionRunnerParts {
  readonly partition: number;
  readonly restore: Omit<RestoreParts, 'onReplayed'>;
  readonly sink: Omit<ExecutionSinkParts, 'onStored' | 'onFault'>;
  readonly ticks: TickSink;
  readonly snapshotRules: SnapshotRules;
  readonly sliceLimits: SliceLimits;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MatcherMetrics;
  /** Whether a restore is still wanted: false when the partition went to another owner, or the process ends. */
  isWanted(partition: number): boolean;
  /** Outputs up to this input are durable. */
  onStored(partition: number, nextOffset: number): void;
  /** The partition failed outside of `take` and `restore`, which throw. */
  onFault(partition: number, error: unknown): void;
}

/** Records of the partition in offset order. */
export interface InputBatch {
  readonly records: readonly InputRecord[];
  /** End offset of the partition when they were read. */
  readonly highWatermark: number;
}

/** Replayed records between two looks at whether the restore is still wanted. */
const countEvery = 256;

/** What there is while the partition is live. */
interface Live {
  readonly records: RecordRunner;
  readonly sink: ExecutionSink;
  readonly snapshots: SnapshotRunner;
}

/**
 * The container of one partition (states: `partition-state-store.ts`): restores it, runs its records live, writes the
 * outputs in order, takes snapshots of what is stored, and lets go of it. Between faults it may be restored any number
 * of times.
 */
export class PartitionRunner {
  readonly #parts: PartitionRunnerParts;
  readonly #states: PartitionStateStore;
  #live: Live | null = null;
  #lastSink: ExecutionSink | null = null;
  #snapshotOffset = 0;
  #outOffset = -1;
  #highWatermark = 0;
  #commandsApplied = 0;
  #replayed = 0;
  #faultCode = '';
  #lastProgressMs: number;

  constructor(parts: PartitionRunnerParts) {
    this.#parts = parts;
    this.#lastProgressMs = parts.clock.nowMs();
    const { partition, metrics } = parts;
    this.#states = new PartitionStateStore(partition, (now) => {
      for (const state of partitionStates) {
        metrics.state.set(state === now ? 1 : 0, { partition, state });
      }
    });
  }

  get state() {
    return this.#states.state;
  }

  /** Where the next record is; the partition is live then. Throws what stands in the way, and it is failed. */
  async restore(): Promise<number> {
    // What is still in flight of an earlier life would only be written twice.
    await this.#lastSink?.stored().catch(() => {});
    this.#states.change('restoring');
    this.#replayed = 0;
    try {
      const restored = await restorePartition({
        ...this.#parts.restore,
        onReplayed: () => this.#countReplayed(),
      });
      this.#parts.metrics.replayedRecords.add(this.#replayed % countEvery, {
        partition: this.#parts.partition,
      });
      this.#goLive(restored.runner, restored.snapshotOffset);
      this.#outOffset = restored.outOffset;
      return restored.runner.nextOffset;
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** Resolves when the outputs are on their way, which is after those of the batch before are durable. */
  async take(batch: InputBatch): Promise<void> {
    const live = this.#live;
    const { partition, sliceLimits, clock } = this.#parts;
    if (live === null) throw new Fault('not_live', 'release', { facts: { partition } });
    this.#highWatermark = batch.highWatermark;
    try {
      await runInSlices(live.records, batch.records, {
        limits: sliceLimits,
        monotonicMs: () => clock.monotonicMs(),
        onSlice: (slice) => this.#send(live, slice),
      });
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** Called every few milliseconds: moves the clock of the partition when it is time. */
  beat(nowMs: number): void {
    if (this.#live !== null) void this.#parts.ticks.beat(nowMs, this.#live.records.engine);
  }

  /** Nothing is taken or sent any more until it is restored; says so loudly. */
  fail(error: unknown): void {
    if (this.state === 'failed' || this.state === 'released') return;
    const { partition, log, metrics } = this.#parts;
    const code = error instanceof Fault ? error.code : 'not_foreseen';
    const facts = error instanceof Fault ? error.facts : {};
    this.#live = null;
    this.#faultCode = code;
    this.#states.change('failed');
    metrics.faults.add(1, { partition, code });
    log.error({ ...facts, partition, code, err: error }, 'a partition has stopped');
  }

  /** Ends the ownership: what is in flight becomes durable, the state is kept as a snapshot, then dropped. */
  async stop(): Promise<void> {
    const live = this.#live;
    this.#live = null;
    try {
      await live?.sink.stored();
      await live?.snapshots.saveLast(live.records);
    } catch (error) {
      const { partition, log } = this.#parts;
      log.warn({ partition, err: error }, 'released without a last snapshot');
    }
    if (this.state !== 'released') this.#states.change('released');
  }

  status(): PartitionStatus {
    return statusOf({
      partition: this.#parts.partition,
      state: this.state,
      fault: this.#faultCode,
      position: this.#live?.records ?? null,
      outOffset: this.#outOffset,
      highWatermark: this.#highWatermark,
      lastProgressMs: this.#lastProgressMs,
      snapshotOffset: this.#snapshotOffset,
      commandsApplied: this.#commandsApplied,
    });
  }

  #goLive(records: RecordRunner, snapshotOffset: number): void {
    const { partition, restore, snapshotRules, clock, metrics, sink: sinkParts } = this.#parts;
    const snapshots = new SnapshotRunner({
      partition,
      rules: snapshotRules,
      store: restore.snapshots,
      clock,
      onSaved: (offset, tookMs) => {
        this.#snapshotOffset = offset;
        metrics.snapshotSeconds.observe(tookMs / 1_000);
      },
    });
    const sink = new ExecutionSink({
      ...sinkParts,
      onStored: (slice, lastOffset) => {
        this.#stored(slice, lastOffset);
        if (slice.snapshot !== null) snapshots.save(slice.snapshot);
      },
      onFault: (error) => this.#failInFlight(sink, error),
    });
    this.#lastSink = sink;
    this.#live = { records, sink, snapshots };
    this.#snapshotOffset = snapshotOffset;
    this.#highWatermark = records.nextOffset;
    this.#lastProgressMs = clock.nowMs();
    this.#faultCode = '';
    this.#states.change('live');
  }

  async #send({ records, sink, snapshots }: Live, run: RunSlice): Promise<void> {
    const { partition, metrics } = this.#parts;
    metrics.applySeconds.observe(run.tookMs / 1_000);
    metrics.batchRecords.observe(run.outputs.length);
    metrics.batchCommands.observe(run.commands);
    metrics.commands.add(run.commands, { partition });
    for (const { record, reason } of run.rejected) {
      metrics.rejected.add(1, { partition, reason });
      this.#parts.log.warn({ partition, offset: record.offset, reason }, 'a record was rejected');
    }
    this.#commandsApplied += run.commands;
    const snapshot = snapshots.afterSlice(records, run);
    await sink.push({ outputs: run.outputs, rejected: run.rejected, snapshot });
  }

  #stored(slice: Slice, lastOffset: number): void {
    const { partition, metrics, clock, onStored } = this.#parts;
    for (const output of slice.outputs) countEvents(metrics, partition, output);
    this.#lastProgressMs = clock.nowMs();
    this.#outOffset = lastOffset;
    const nextOffset = (slice.outputs.at(-1)?.inOffset ?? -1) + 1;
    metrics.lagRecords.set(Math.max(0, this.#highWatermark - nextOffset), { partition });
    onStored(partition, nextOffset);
  }

  /** Only the sink of today may fail the partition. */
  #failInFlight(sink: ExecutionSink, error: unknown): void {
    if (this.#live?.sink !== sink) return;
    this.fail(error);
    this.#parts.onFault(this.#parts.partition, error);
  }

  #countReplayed(): void {
    this.#replayed += 1;
    if (this.#replayed % countEvery !== 0) return;
    const { partition, metrics, clock } = this.#parts;
    metrics.replayedRecords.add(countEvery, { partition });
    this.#lastProgressMs = clock.nowMs();
    if (this.#parts.isWanted(partition)) return;
    throw new Fault('restore_ended', 'release', { facts: { partition } });
  }
}
