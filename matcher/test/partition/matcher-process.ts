import { type Log, silentLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import { Engine, roleAllows } from '../../src/core/index.ts';
import { openMatcherMetrics } from '../../src/metrics.ts';
import { DeadLetterSink } from '../../src/partition/dead-letters.io.ts';
import { EnvelopeSource } from '../../src/partition/envelope-reader.ts';
import {
  type InputBatch,
  PartitionRunner,
  type PartitionRunnerParts,
} from '../../src/partition/owned-partition.io.ts';
import type { EngineFactory } from '../../src/partition/record-processor.ts';
import { defaultSliceLimits } from '../../src/partition/slices.io.ts';
import { SnapshotStore } from '../../src/partition/snapshot-directory.io.ts';
import { ExecutionSource } from '../../src/partition/stored-executions.io.ts';
import { TickSink } from '../../src/partition/tick-publisher.io.ts';
import { startMs } from '../core/commands.ts';
import { MemoryFiles } from './memory-files.ts';
import type { MemoryLog } from './memory-log.ts';
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
  roleAllows,
};

const retry = { triesMax: 3, firstWaitMs: 1, waitMaxMs: 1, pause: async () => {} };

const metrics = openMatcherMetrics(openMetrics('matcher-test'));

export interface ProcessOptions {
  readonly files?: MemoryFiles;
  readonly operatorKey?: Buffer;
  readonly log?: Log;
  readonly snapshotEveryRecords?: number;
  readonly verifyReplay?: boolean;
  readonly recordsPerSlice?: number;
  readonly engines?: EngineFactory;
}

/**
 * One matcher process that owns one partition of a log in memory; a second one on the same log is a zombie or a heir.
 */
export class MatcherProcess {
  readonly files: MemoryFiles;
  readonly runner: PartitionRunner;
  readonly faults: unknown[] = [];
  readonly badSnapshots: number[] = [];
  readonly writeFailures: number[] = [];
  readonly #log: MemoryLog;
  #next = 0;
  wanted = true;
  nowMs = startMs;

  constructor(log: MemoryLog, options: ProcessOptions = {}) {
    this.#log = log;
    this.files = options.files ?? new MemoryFiles();
    this.runner = new PartitionRunner(this.#parts(options));
  }

  /** Restores and takes everything that is there. */
  async run(): Promise<void> {
    await this.restore();
    await this.catchUp();
  }

  async restore(): Promise<void> {
    this.faults.length = 0;
    this.#next = await this.runner.restore();
  }

  async catchUp(): Promise<void> {
    const records = this.#log.records(topicNames.orders);
    const size = this.#log.batchRecords;
    while (this.#next < records.length) {
      const batch = records.slice(this.#next, this.#next + size);
      await this.#take({ records: batch, highWatermark: records.length });
      this.#next += batch.length;
    }
    // One more turn, so that the last send is answered.
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    if (this.faults.length > 0) throw this.faults[0];
  }

  /** What failed between two batches was told first, as the group would hear it. */
  async #take(batch: InputBatch): Promise<void> {
    try {
      await this.runner.take(batch);
    } catch (error) {
      throw this.faults[0] ?? error;
    }
  }

  #parts(options: ProcessOptions): PartitionRunnerParts {
    const log = options.log ?? silentLog;
    const source = new EnvelopeSource({
      partition,
      operatorKey: options.operatorKey ?? keys.operator.publicKey,
      codec: codecs.orders,
      roleAllows,
    });
    const memory = this.#log;
    return {
      partition,
      restore: {
        partition,
        ordersTopic: topicNames.orders,
        log,
        engines: options.engines ?? engines,
        operatorKey: options.operatorKey ?? keys.operator.publicKey,
        ranges: memory,
        executions: new ExecutionSource({
          log: memory,
          codec: codecs.executions,
          topic: topicNames.executions,
          partition,
        }),
        snapshots: new SnapshotStore({
          directory: '/snapshots',
          files: this.files,
          log,
          onBad: (one) => this.badSnapshots.push(one),
          onWriteFailure: (one) => this.writeFailures.push(one),
        }),
        records: { partition, source, executions: codecs.executions },
        verifyReplay: options.verifyReplay ?? false,
      },
      sink: {
        producer: memory,
        deadLetters: new DeadLetterSink({
          producer: memory,
          codec: codecs.deadLetters,
          topic: topicNames.deadLetters,
          ordersTopic: topicNames.orders,
          retry,
        }),
        topic: topicNames.executions,
        partition,
        retry,
      },
      ticks: new TickSink({
        producer: memory,
        codec: codecs.orders,
        key: keys.owner,
        topic: topicNames.orders,
        partition,
        everyMs: 500,
        log,
      }),
      snapshotRules: { everyRecords: options.snapshotEveryRecords ?? 20, everyMs: 60_000 },
      sliceLimits: { ...defaultSliceLimits, recordsMax: options.recordsPerSlice ?? 3 },
      clock: { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs },
      log,
      metrics,
      isWanted: () => this.wanted,
      onStored: () => {},
      onFault: (_, error) => this.faults.push(error),
    };
  }
}
