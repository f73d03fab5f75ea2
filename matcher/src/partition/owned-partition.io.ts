import type { Clock } from '@pm/kit/clock';
import { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import { countEvents, type MatcherMetrics } from '../metrics.ts';
import {
  ExecutionWriter,
  type ExecutionWriterParts,
  type OutputSlice,
} from './execution-writer.io.ts';
import {
  PartitionLifecycle,
  type PartitionStatus,
  partitionStates,
  statusOf,
} from './lifecycle.ts';
import { OutputPlaces } from './output-places.io.ts';
import type { InputRecord, RecordProcessor } from './record-processor.ts';
import { type RestoreParts, restorePartition } from './restore.io.ts';
import { type ProcessedSlice, processInSlices, type SliceLimits } from './slices.io.ts';
import { type SnapshotRules, SnapshotSchedule } from './snapshot-schedule.io.ts';
import type { StateEncoder } from './state-encoder.io.ts';
import type { TickPublisher } from './tick-publisher.io.ts';

export interface OwnedPartitionParts {
  readonly partition: number;
  readonly restore: Omit<RestoreParts, 'onReplayed'>;
  readonly writer: Omit<ExecutionWriterParts, 'places' | 'onStored' | 'onFault'>;
  readonly ticks: TickPublisher;
  readonly snapshotRules: SnapshotRules;
  readonly encoder: StateEncoder;
  readonly sliceLimits: SliceLimits;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MatcherMetrics;
  /** Whether a restore is still wanted: false when the partition went to another owner, or the process ends. */
  isWanted(partition: number): boolean;
  /** Outputs up to this input are durable. */
  onStored(partition: number, nextOffset: number): void;
  /** The partition failed outside of `process` and `restore`, which throw. */
  onFault(partition: number, error: unknown): void;
}

/** Records of the partition in offset order. */
export interface InputBatch {
  readonly records: readonly InputRecord[];
  /** End offset of the partition when they were read. */
  readonly highWatermark: number;
}

/** Replayed records between two checks whether the restore is still wanted. */
const countEvery = 256;

/** Exists while the partition is live. */
interface Live {
  readonly processor: RecordProcessor;
  readonly writer: ExecutionWriter;
  readonly snapshots: SnapshotSchedule;
}

/**
 * One partition that this process owns (its states: liveness.ts): restores it, processes its records live, writes the
 * outputs in order, takes snapshots of stored states, and releases it. After each fault it may be restored again.
 */
export class OwnedPartition {
  readonly #parts: OwnedPartitionParts;
  readonly #lifecycle: PartitionLifecycle;
  #live: Live | null = null;
  #lastWriter: ExecutionWriter | null = null;
  #snapshotOffset = 0;
  #outOffset = -1;
  #highWatermark = 0;
  #commandsApplied = 0;
  #replayed = 0;
  #faultCode = '';
  #lastProgressMs: number;

  constructor(parts: OwnedPartitionParts) {
    this.#parts = parts;
    this.#lastProgressMs = parts.clock.nowMs();
    const { partition, metrics } = parts;
    this.#lifecycle = new PartitionLifecycle(partition, (now) => {
      for (const state of partitionStates) {
        metrics.state.set(state === now ? 1 : 0, { partition, state });
      }
    });
  }

  get state() {
    return this.#lifecycle.state;
  }

  /** Restores the state and goes live. Returns the offset of the next record; a fault is thrown after `fail`. */
  async restore(): Promise<number> {
    // Outputs in flight from before the fault would otherwise be written twice.
    await this.#lastWriter?.stored().catch(() => {});
    this.#lifecycle.change('restoring');
    this.#replayed = 0;
    const beganAtMs = this.#parts.clock.monotonicMs();
    try {
      const restored = await restorePartition({
        ...this.#parts.restore,
        onReplayed: () => this.#countReplayed(),
      });
      this.#parts.metrics.replayedRecords.add(this.#replayed % countEvery, {
        partition: this.#parts.partition,
      });
      this.#outOffset = restored.outOffset;
      this.#goLive(restored.processor, restored.snapshotOffset);
      this.#countTakeover(restored.processor, beganAtMs);
      return restored.processor.nextOffset;
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** Resolves when the outputs are handed to the writer, which sends them in order. */
  async process(batch: InputBatch): Promise<void> {
    const live = this.#live;
    const { partition, sliceLimits, clock } = this.#parts;
    if (live === null) throw new Fault('not_live', 'release', { facts: { partition } });
    this.#highWatermark = batch.highWatermark;
    try {
      await processInSlices(live.processor, batch.records, {
        schemas: this.#parts.restore.schemas,
        limits: sliceLimits,
        monotonicMs: () => clock.monotonicMs(),
        onSlice: (slice) => this.#send(live, slice),
      });
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** Called every few milliseconds: publishes a tick when one is due, which moves the clock of the partition. */
  publishDueTick(nowMs: number): void {
    if (this.#live !== null) void this.#parts.ticks.publishDue(nowMs, this.#live.processor.engine);
  }

  /** Stops processing and sending until the next restore; logs and counts the fault. */
  fail(error: unknown): void {
    if (this.state === 'failed' || this.state === 'released') return;
    const { partition, log, metrics } = this.#parts;
    const code = error instanceof Fault ? error.code : 'not_foreseen';
    const facts = error instanceof Fault ? error.facts : {};
    this.#live = null;
    this.#faultCode = code;
    this.#lifecycle.change('failed');
    metrics.faults.add(1, { partition, code });
    log.error({ ...facts, partition, code, err: error }, 'a partition failed');
  }

  /** Ends the ownership: outputs in flight become durable, the state is saved as a snapshot, then dropped. */
  async stop(): Promise<void> {
    const live = this.#live;
    this.#live = null;
    try {
      await live?.writer.stored();
      await live?.snapshots.saveLast(live.processor);
    } catch (error) {
      const { partition, log } = this.#parts;
      log.warn({ partition, err: error }, 'released without a last snapshot');
    }
    if (this.state !== 'released') this.#lifecycle.change('released');
  }

  status(): PartitionStatus {
    return statusOf({
      partition: this.#parts.partition,
      state: this.state,
      fault: this.#faultCode,
      position: this.#live?.processor ?? null,
      outOffset: this.#outOffset,
      highWatermark: this.#highWatermark,
      lastProgressMs: this.#lastProgressMs,
      snapshotOffset: this.#snapshotOffset,
      slicesQueued: this.#live?.writer.queuedSlices ?? 0,
      commandsApplied: this.#commandsApplied,
    });
  }

  #goLive(processor: RecordProcessor, snapshotOffset: number): void {
    const { partition, restore, snapshotRules, encoder, clock, metrics } = this.#parts;
    const snapshots = new SnapshotSchedule({
      partition,
      rules: snapshotRules,
      directory: restore.snapshots,
      encoder,
      clock,
      onSaved: (offset, tookMs) => {
        this.#snapshotOffset = offset;
        metrics.snapshotSeconds.observe(tookMs / 1_000);
      },
    });
    const writer = new ExecutionWriter({
      ...this.#parts.writer,
      places: this.#outputPlaces(),
      onStored: (slice, lastOffset, tookMs) => {
        metrics.storeSeconds.observe(tookMs / 1_000);
        this.#stored(slice, lastOffset);
        if (slice.snapshot !== null) snapshots.save(slice.snapshot);
      },
      onFault: (error) => this.#failInFlight(writer, error),
    });
    this.#lastWriter = writer;
    this.#live = { processor, writer, snapshots };
    this.#snapshotOffset = snapshotOffset;
    this.#highWatermark = processor.nextOffset;
    this.#lastProgressMs = clock.nowMs();
    this.#faultCode = '';
    this.#lifecycle.change('live');
  }

  /** A partition without a record has not stood still. */
  #countTakeover({ engine }: RecordProcessor, beganAtMs: number): void {
    const { metrics, clock } = this.#parts;
    metrics.restoreSeconds.observe((clock.monotonicMs() - beganAtMs) / 1_000);
    if (engine.timeMs === 0) return;
    metrics.takeoverSeconds.observe(Math.max(0, clock.nowMs() - engine.timeMs) / 1_000);
  }

  #outputPlaces(): OutputPlaces {
    const { partition, restore, writer, log, metrics } = this.#parts;
    return new OutputPlaces({
      topic: writer.topic,
      partition,
      executions: restore.executions,
      next: this.#outOffset + 1,
      onCopies: (copies) => {
        metrics.copies.add(copies, { partition });
        log.warn({ partition, copies }, 'a replaced owner has written outputs once more');
      },
    });
  }

  async #send({ processor, writer, snapshots }: Live, slice: ProcessedSlice): Promise<void> {
    const { partition, metrics } = this.#parts;
    metrics.applySeconds.observe(slice.tookMs / 1_000);
    metrics.batchRecords.observe(slice.outputs.length);
    metrics.batchCommands.observe(slice.commands);
    metrics.commands.add(slice.commands, { partition });
    for (const { record, reason } of slice.rejected) {
      metrics.rejected.add(1, { partition, reason });
      this.#parts.log.warn({ partition, offset: record.offset, reason }, 'a record was rejected');
    }
    this.#commandsApplied += slice.commands;
    const { outputs, rejected } = slice;
    const snapshot = snapshots.afterSlice(processor, slice);
    await writer.push({ outputs, rejected, snapshot });
  }

  #stored(slice: OutputSlice, lastOffset: number): void {
    const { partition, metrics, clock, onStored } = this.#parts;
    for (const output of slice.outputs) countEvents(metrics, partition, output);
    this.#lastProgressMs = clock.nowMs();
    this.#outOffset = lastOffset;
    const nextOffset = (slice.outputs.at(-1)?.inOffset ?? -1) + 1;
    metrics.lagRecords.set(Math.max(0, this.#highWatermark - nextOffset), { partition });
    onStored(partition, nextOffset);
  }

  /** Only the current writer may fail the partition, not one from before a restore. */
  #failInFlight(writer: ExecutionWriter, error: unknown): void {
    if (this.#live?.writer !== writer) return;
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
