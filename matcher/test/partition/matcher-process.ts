import { setImmediate } from 'node:timers/promises';
import { type Log, silentLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import { ownerIdBytes } from '@pm/schemas/log/orders';
import { Engine } from '../../src/core/index.ts';
import { openMatcherMetrics } from '../../src/metrics.ts';
import { DeadLetters } from '../../src/partition/dead-letters.io.ts';
import { EnvelopeReader } from '../../src/partition/envelope-reader.ts';
import { defaultWriterLimits, type WriterLimits } from '../../src/partition/execution-writer.io.ts';
import type { OrderTraces } from '../../src/partition/order-traces.io.ts';
import {
  type InputBatch,
  OwnedPartition,
  type OwnedPartitionParts,
} from '../../src/partition/owned-partition.io.ts';
import type { EngineFactory } from '../../src/partition/restore.io.ts';
import { SignaturePool } from '../../src/partition/signature-pool.io.ts';
import { defaultSliceLimits } from '../../src/partition/slices.io.ts';
import type { SnapshotCopies } from '../../src/partition/snapshot-copies.io.ts';
import { SnapshotDirectory } from '../../src/partition/snapshot-directory.io.ts';
import { encoderHere, type StateEncoder } from '../../src/partition/state-encoder.io.ts';
import { StoredExecutions } from '../../src/partition/stored-executions.io.ts';
import { TickPublisher } from '../../src/partition/tick-publisher.io.ts';
import type { UnseenLimits } from '../../src/partition/unseen-outputs.ts';
import { startMs } from '../core/commands.ts';
import { MemoryCopies } from './memory-copies.ts';
import { MemoryFiles } from './memory-files.ts';
import type { MemoryLog } from './memory-log.ts';
import { rememberedVerify } from './remembered-verify.ts';
import { codecs, keys, partition } from './sealed-records.ts';

export const topicNames = {
  orders: 'orders',
  executions: 'executions',
  deadLetters: 'dead-letters',
};
export const snapshotFolder = `/snapshots/p${partition}`;

export const engines: EngineFactory = {
  create: (number) => new Engine(number),
  restore: (state) => Engine.restore(state),
};

const retry = { triesMax: 3, firstWaitMs: 1, waitMaxMs: 1, pause: async () => {} };

const metrics = openMatcherMetrics(openMetrics('matcher-test'));

export interface ProcessOptions {
  readonly files?: MemoryFiles;
  readonly copies?: SnapshotCopies;
  readonly operatorKey?: Buffer;
  readonly log?: Log;
  readonly snapshotEveryRecords?: number;
  readonly verifyReplay?: boolean;
  readonly recordsPerSlice?: number;
  readonly engines?: EngineFactory;
  readonly writerLimits?: Partial<WriterLimits>;
  /** Turns of the event loop after the last record, for its send. */
  readonly restTurns?: number;
  readonly encoder?: StateEncoder;
  /** Id of the process as an owner; one of its own unless given. */
  readonly ownerId?: Buffer;
  readonly unseen?: UnseenLimits;
  readonly tickMs?: number;
  readonly traces?: OrderTraces;
}

const signatures = new SignaturePool({ onLate: () => {}, verify: rememberedVerify });

let processes = 0;

/** A matcher process that owns one partition of a log in memory; a second one on the same log is the next owner. */
export class MatcherProcess {
  readonly files: MemoryFiles;
  readonly owned: OwnedPartition;
  readonly faults: unknown[] = [];
  readonly badSnapshots: number[] = [];
  readonly writeFailures: number[] = [];
  readonly #log: MemoryLog;
  readonly #restTurns: number;
  readonly ownerId: Buffer;
  readonly copies: MemoryCopies;
  #next = 0;
  wanted = true;
  isPreferred = true;
  nowMs = startMs;
  /** By how much its wall clock is ahead. */
  wallAheadMs = 0;
  /** The check of a signature, where it is not the one of the thread pool. */
  check: (() => Promise<boolean | null>) | null = null;
  /** When the newest fetch began, if all of it is processed. */
  askedMs = Number.NEGATIVE_INFINITY;

  constructor(log: MemoryLog, options: ProcessOptions = {}) {
    this.#log = log;
    this.files = options.files ?? new MemoryFiles();
    this.#restTurns = options.restTurns ?? 10;
    processes += 1;
    this.ownerId = options.ownerId ?? Buffer.alloc(ownerIdBytes, processes);
    this.copies = new MemoryCopies(log);
    this.owned = new OwnedPartition(this.#parts(options));
  }

  /** Restores and processes all records of the log. */
  async run(): Promise<void> {
    await this.restore();
    await this.catchUp();
  }

  async restore(): Promise<void> {
    this.faults.length = 0;
    this.#next = await this.owned.restore();
  }

  async catchUp(): Promise<void> {
    const records = this.#log.records(topicNames.orders);
    const size = this.#log.batchRecords;
    while (this.#next < records.length) {
      const batch = records.slice(this.#next, this.#next + size);
      await this.#take({ records: batch, highWatermark: records.length });
      this.#next += batch.length;
    }
    // Some more rounds of the event loop, so that the last send is acknowledged.
    for (let turn = 0; turn < this.#restTurns; turn += 1) await setImmediate();
    if (this.faults.length > 0) throw this.faults[0];
  }

  /** A fault between two batches was reported first, as the group would see it. */
  async #take(batch: InputBatch): Promise<void> {
    try {
      await this.owned.process(batch);
    } catch (error) {
      throw this.faults[0] ?? error;
    }
  }

  #parts(options: ProcessOptions): OwnedPartitionParts {
    const log = options.log ?? silentLog;
    const reader = new EnvelopeReader({
      partition,
      operatorKey: options.operatorKey ?? keys.operator.publicKey,
      codec: codecs.orders,
    });
    const memory = this.#log;
    const clock = { nowMs: () => this.nowMs + this.wallAheadMs, monotonicMs: () => this.nowMs };
    return {
      partition,
      restore: {
        partition,
        ordersTopic: topicNames.orders,
        log,
        engines: options.engines ?? engines,
        operatorKey: options.operatorKey ?? keys.operator.publicKey,
        ranges: memory,
        executions: new StoredExecutions({
          log: memory,
          codec: codecs.executions,
          topic: topicNames.executions,
          partition,
        }),
        snapshots: new SnapshotDirectory({
          directory: '/snapshots',
          files: this.files,
          ...(options.copies === undefined ? {} : { copies: options.copies }),
          log,
          onBad: (one) => this.badSnapshots.push(one),
          onWriteFailure: (one) => this.writeFailures.push(one),
        }),
        processing: {
          partition,
          reader,
          executions: codecs.executions,
          hashState: (engine) => (options.encoder ?? encoderHere).hash(engine),
          ...(options.traces && { tracedOrders: options.traces.ordersOf }),
        },
        schemas: codecs.orders,
        signatures: { check: (one) => this.check?.() ?? signatures.check(one) },
        verifyReplay: options.verifyReplay ?? false,
      },
      writer: {
        producer: memory,
        deadLetters: new DeadLetters({
          producer: memory,
          codec: codecs.deadLetters,
          topic: topicNames.deadLetters,
          ordersTopic: topicNames.orders,
          retry,
        }),
        seals: { seal: (record) => record },
        topic: topicNames.executions,
        partition,
        retry,
        limits: { ...defaultWriterLimits, ...options.writerLimits },
      },
      ticks: new TickPublisher({
        producer: memory,
        codec: codecs.orders,
        key: keys.owner,
        topic: topicNames.orders,
        partition,
        everyMs: options.tickMs ?? 500,
        clock,
        log,
      }),
      replica: {
        ownerId: this.ownerId,
        claims: { silenceMs: 300, settleMs: 10_000, blockedMs: 1_000 },
        ...(options.unseen && { unseen: options.unseen }),
        isPreferred: () => this.isPreferred,
        readThroughMs: () => this.askedMs,
      },
      openCopies: this.copies.open,
      encoder: options.encoder ?? encoderHere,
      snapshotRules: { everyRecords: options.snapshotEveryRecords ?? 20, everyMs: 60_000 },
      sliceLimits: { ...defaultSliceLimits, recordsMax: options.recordsPerSlice ?? 3 },
      clock,
      log,
      metrics,
      traces: options.traces ?? null,
      isWanted: () => this.wanted,
      onStored: () => {},
      onFault: (_, error) => this.faults.push(error),
    };
  }
}
