import type { Clock } from '@pm/kit/clock';
import { Fault, within } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import { countEvents, type MatcherMetrics } from '../metrics.ts';
import type { OpenCopies } from './copy-reading.io.ts';
import type { ExecutionWriterParts, OutputSlice } from './execution-writer.io.ts';
import {
  PartitionLifecycle,
  type PartitionStatus,
  partitionStates,
  statusOf,
  tickAgeMaxMs,
} from './lifecycle.ts';
import type { OrderTraces } from './order-traces.io.ts';
import type { InputRecord, RecordProcessor } from './record-processor.ts';
import { Replica, type ReplicaSettings, type Role } from './replica.io.ts';
import { type RestoreParts, restorePartition } from './restore.io.ts';
import { type ProcessedSlice, processInSlices, type SliceLimits } from './slices.io.ts';
import { type Replayed, type SnapshotRules, SnapshotSchedule } from './snapshot-schedule.io.ts';
import type { StateEncoder } from './state-encoder.io.ts';
import type { TickPublisher } from './tick-publisher.io.ts';

export interface OwnedPartitionParts {
  readonly partition: number;
  readonly restore: Omit<RestoreParts, 'onReplayed'>;
  readonly writer: Omit<ExecutionWriterParts, 'places' | 'onStored' | 'onFault'>;
  readonly ticks: TickPublisher;
  readonly snapshotRules: SnapshotRules;
  readonly encoder: StateEncoder;
  readonly replica: ReplicaSettings;
  readonly sliceLimits: SliceLimits;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MatcherMetrics;
  /** Null or absent while nothing is traced. */
  readonly traces?: OrderTraces | null;
  /** Reads `executions` of the partition as a standby. */
  openCopies: OpenCopies;
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

/** A released partition waits so long for its last snapshot, milliseconds. */
const lastSnapshotMs = 5_000;

/** Exists while the partition is live. */
interface Live {
  readonly processor: RecordProcessor;
  readonly replica: Replica;
  readonly snapshots: SnapshotSchedule;
}

/**
 * One partition of which this process has a replica (its states: lifecycle.ts): restores it, processes its records
 * live, as the owner or as the standby (replica.io.ts), takes snapshots of stored states, and releases it. After each
 * fault it may be restored again.
 */
export class OwnedPartition {
  readonly #parts: OwnedPartitionParts;
  readonly #lifecycle: PartitionLifecycle;
  #live: Live | null = null;
  #lastReplica: Replica | null = null;
  #snapshotOffset = 0;
  /** The restore that is under way. */
  #restoring: Promise<number> | null = null;
  #outOffset = -1;
  #highWatermark = 0;
  #commandsApplied = 0;
  #replayed = 0;
  #faultCode = '';
  /** Ends the wait for the batch that is being processed. */
  #endBatch: (error: unknown) => void = () => {};
  #lastProgressMs: number;

  constructor(parts: OwnedPartitionParts) {
    this.#parts = parts;
    this.#lastProgressMs = parts.clock.nowMs();
    const { partition, metrics } = parts;
    this.#lifecycle = new PartitionLifecycle(partition, (now) => {
      for (const state of partitionStates) {
        metrics.state.set(state === now ? 1 : 0, { partition, state });
      }
      if (now !== 'live' && now !== 'stalled') metrics.owner.set(0, { partition });
    });
  }

  get state() {
    return this.#lifecycle.state;
  }

  /**
   * Restores the state and goes live. Returns the offset of the next record; a fault is thrown after `fail`. What was
   * in flight before a fault may fail after it and ask for one restore more: it is the same one.
   */
  restore(): Promise<number> {
    this.#restoring ??= this.#restore().finally(() => {
      this.#restoring = null;
    });
    return this.#restoring;
  }

  async #restore(): Promise<number> {
    if (this.#live !== null) return this.#live.processor.nextOffset;
    // Outputs in flight from before the fault would otherwise be written twice.
    await this.#lastReplica?.stored().catch(() => {});
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
      const tookMs = this.#parts.clock.monotonicMs() - beganAtMs;
      this.#parts.metrics.restoreSeconds.observe(tookMs / 1_000);
      this.#goLive(restored.processor, restored.since);
      return restored.processor.nextOffset;
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /**
   * Resolves when the outputs are handed to the writer, which sends them in order. Throws the fault of the partition
   * when it fails meanwhile, whatever the batch waits for.
   */
  async process(batch: InputBatch): Promise<void> {
    const live = this.#live;
    const { partition, sliceLimits, clock, restore } = this.#parts;
    if (live === null) throw new Fault('not_live', 'release', { facts: { partition } });
    const readMs = this.#parts.traces ? performance.now() : 0;
    this.#highWatermark = batch.highWatermark;
    try {
      const processing = processInSlices(live.processor, batch.records, {
        schemas: restore.schemas,
        signatures: restore.signatures,
        limits: sliceLimits,
        monotonicMs: () => clock.monotonicMs(),
        onSlice: (slice) => this.#send(live, slice, readMs),
      });
      await new Promise<void>((resolve, reject) => {
        this.#endBatch = reject;
        processing.then(resolve, reject);
      });
    } catch (error) {
      if (this.#live === live) this.fail(error);
      throw error;
    }
  }

  /**
   * Called every few milliseconds: publishes a tick when one is due, which moves the clock of the partition. An owner
   * whose ticks do not come back is `stalled`.
   */
  publishDueTick(): void {
    this.#live?.replica.tick();
    if (this.#live === null) return;
    const { partition, log } = this.#parts;
    const { tickAgeMs } = this.#live.replica;
    const state = tickAgeMs >= tickAgeMaxMs ? 'stalled' : 'live';
    if (state === this.state) return;
    this.#lifecycle.change(state);
    if (state === 'live') log.info({ partition }, 'the ticks of a partition come back');
    else log.error({ partition, tickAgeMs }, 'the ticks of a partition do not come back');
  }

  /** Called every few milliseconds: claims the partition when that is due. */
  async claimIfDue(): Promise<void> {
    await this.#live?.replica.claimIfDue();
  }

  /** The replica will be stopped: a batch that waits for the outputs of an owner ends. */
  stopWaiting(): void {
    this.#live?.replica.stopWaiting();
  }

  /** Stops processing and sending until the next restore; logs and counts the fault. */
  fail(error: unknown): void {
    if (this.state === 'failed' || this.state === 'released') return;
    const { partition, log, metrics } = this.#parts;
    const code = error instanceof Fault ? error.code : 'not_foreseen';
    const facts = error instanceof Fault ? error.facts : {};
    this.#live?.replica.end();
    this.#live = null;
    this.#endBatch(error);
    this.#faultCode = code;
    this.#lifecycle.change('failed');
    metrics.faults.add(1, { partition, code });
    log.error({ ...facts, partition, code, err: error }, 'a partition failed');
  }

  /**
   * Ends the replica: outputs in flight become durable, an owner resigns, the state is saved as a snapshot if its
   * outputs are known to be stored, then dropped.
   */
  async stop(): Promise<void> {
    const live = this.#live;
    this.#live = null;
    try {
      await live?.replica.resign();
      live?.replica.end();
      if (live?.replica.isStored !== true) return;
      const saving = live.snapshots.saveLast(live.processor);
      await within(saving, lastSnapshotMs, () => new Fault('file_late', 'retry'));
    } catch (error) {
      const { partition, log } = this.#parts;
      log.warn({ partition, err: error }, 'released without a last snapshot');
    } finally {
      if (this.state !== 'released') this.#lifecycle.change('released');
    }
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
      slicesQueued: this.#live?.replica.queuedSlices ?? 0,
      unseenOutputs: this.#live?.replica.unseenOutputs ?? 0,
      role: this.#live?.replica.role ?? 'none',
      tickAgeMs: Math.round(this.#live?.replica.tickAgeMs ?? 0),
      commandsApplied: this.#commandsApplied,
    });
  }

  #goLive(processor: RecordProcessor, since: Replayed): void {
    const { partition, snapshotRules: rules, restore, encoder, metrics, clock } = this.#parts;
    const snapshots = new SnapshotSchedule(
      {
        partition,
        rules,
        directory: restore.snapshots,
        encoder,
        clock,
        onSaved: (offset, tookMs) => {
          this.#snapshotOffset = offset;
          metrics.snapshotSeconds.observe(tookMs / 1_000);
        },
      },
      since,
    );
    this.#snapshotOffset = since.snapshotOffset;
    this.#highWatermark = processor.nextOffset;
    this.#lastProgressMs = clock.nowMs();
    this.#faultCode = '';
    const replica = this.#openReplica(processor, snapshots);
    this.#lastReplica = replica;
    this.#live = { processor, replica, snapshots };
    this.#lifecycle.change('live');
  }

  #openReplica(processor: RecordProcessor, snapshots: SnapshotSchedule): Replica {
    const { partition, restore, writer, metrics, log, clock, ticks, openCopies } = this.#parts;
    const replica: Replica = new Replica({
      ...this.#parts.replica,
      partition,
      processor,
      snapshots,
      executions: restore.executions,
      writer,
      ticks,
      nextOut: this.#outOffset + 1,
      clock,
      openCopies,
      onStored: (slice, lastOffset, by, tookMs) => {
        if (by === 'owner') metrics.storeSeconds.observe(tookMs / 1_000);
        this.#stored(slice, lastOffset, by);
        if (by === 'owner') this.#parts.traces?.stored(partition, slice, tookMs);
      },
      onRole: (role) => this.#beginRole(role, processor),
      onClaim: (ownership) => {
        metrics.claims.add(1, { partition, ownership });
        log.warn({ partition, ownership, term: processor.engine.term + 1 }, 'claims a partition');
      },
      onCopies: (copies) => {
        metrics.copies.add(copies, { partition });
        log.warn({ partition, copies }, 'a former owner has written outputs once more');
      },
      onFault: (error) => this.#failInFlight(replica, error),
    });
    return replica;
  }

  #beginRole(role: Role, { engine }: RecordProcessor): void {
    const { partition, metrics, clock, log } = this.#parts;
    metrics.owner.set(role === 'owner' ? 1 : 0, { partition });
    log.info({ partition, role, term: engine.term }, 'a partition has a role');
    // A partition without a record has not stood still.
    if (role === 'standby' || engine.timeMs === 0) return;
    metrics.takeoverSeconds.observe(Math.max(0, clock.nowMs() - engine.timeMs) / 1_000);
  }

  async #send(live: Live, slice: ProcessedSlice, readMs: number): Promise<void> {
    const { partition, metrics, traces } = this.#parts;
    if (this.#live !== live) throw new Fault('not_live', 'release', { facts: { partition } });
    const { replica, processor } = live;
    traces?.applied(slice, readMs);
    metrics.applySeconds.observe(slice.tookMs / 1_000);
    metrics.batchRecords.observe(slice.outputs.length);
    metrics.batchCommands.observe(slice.commands);
    if (replica.role === 'owner') this.#countApplied(slice);
    metrics.term.set(processor.engine.term, { partition });
    await replica.take(slice);
  }

  #countApplied({ commands, rejected }: ProcessedSlice): void {
    const { partition, metrics, log } = this.#parts;
    metrics.commands.add(commands, { partition });
    for (const { record, reason } of rejected) {
      metrics.rejected.add(1, { partition, reason });
      log.warn({ partition, offset: record.offset, reason }, 'a record was rejected');
    }
    this.#commandsApplied += commands;
  }

  #stored(slice: OutputSlice, lastOffset: number, by: Role): void {
    const { partition, metrics, clock, onStored } = this.#parts;
    const nextOffset = (slice.outputs.at(-1)?.inOffset ?? -1) + 1;
    this.#lastProgressMs = clock.nowMs();
    this.#outOffset = lastOffset;
    metrics.lagRecords.set(Math.max(0, this.#highWatermark - nextOffset), { partition });
    if (by === 'standby') return;
    for (const output of slice.outputs) countEvents(metrics, partition, output);
    onStored(partition, nextOffset);
  }

  /** Only the current replica may fail the partition, not one from before a restore. */
  #failInFlight(replica: Replica, error: unknown): void {
    if (this.#live?.replica !== replica) return;
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
