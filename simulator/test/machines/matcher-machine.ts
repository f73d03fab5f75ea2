import type { LogClient, LogProducer } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { ownerIdBytes } from '@pm/schemas/log/orders';
import { Engine } from '../../../matcher/src/core/index.ts';
import type { OpenCopies } from '../../../matcher/src/partition/copy-reading.io.ts';
import { DeadLetters } from '../../../matcher/src/partition/dead-letters.io.ts';
import { EnvelopeReader } from '../../../matcher/src/partition/envelope-reader.ts';
import { defaultWriterLimits } from '../../../matcher/src/partition/execution-writer.io.ts';
import { openLogRanges } from '../../../matcher/src/partition/log-ranges.io.ts';
import { OutputSeals } from '../../../matcher/src/partition/output-seals.ts';
import { OwnedPartition } from '../../../matcher/src/partition/owned-partition.io.ts';
import { PartitionOwnership } from '../../../matcher/src/partition/ownership.io.ts';
import type { EngineFactory } from '../../../matcher/src/partition/restore.io.ts';
import { SignaturePool } from '../../../matcher/src/partition/signature-pool.io.ts';
import { defaultSliceLimits } from '../../../matcher/src/partition/slices.io.ts';
import { SnapshotDirectory } from '../../../matcher/src/partition/snapshot-directory.io.ts';
import { encoderHere } from '../../../matcher/src/partition/state-encoder.io.ts';
import { StoredExecutions } from '../../../matcher/src/partition/stored-executions.io.ts';
import { TickPublisher } from '../../../matcher/src/partition/tick-publisher.io.ts';
import type { MemoryFiles } from '../../../matcher/test/partition/memory-files.ts';
import type { DefectParts } from '../defect-parts.ts';
import { codecs, keys, noMetrics, topicNames } from '../exchange-facts.ts';
import { diskOf } from '../stores/disk.ts';
import type { Machine } from '../time/machine.ts';

export interface MatcherParts {
  readonly machine: Machine;
  readonly client: LogClient;
  readonly files: MemoryFiles;
  /** Share of the steps of a disk that fail. */
  diskFailures(): number;
  /** A fault that stops the process. */
  onStop(error: unknown): void;
  onFault(partition: number, error: unknown): void;
  readonly parts: DefectParts;
}

/** Checks no sign-off in the thread pool, whose order no seed decides: each is checked when its record is read. */
export class SequentialReader extends EnvelopeReader {
  override sealAhead(): null {
    return null;
  }
}

const engines: EngineFactory = {
  create: (partition) => new Engine(partition),
  restore: (state) => Engine.restore(state),
};

const waits = { firstMs: 200, maxMs: 5_000, awayMaxMs: 1_000, calmMs: 60_000 };
const tickMs = 500;

/** A matcher: its real ownership and partitions, on a disk, a log and clocks that are models. */
export async function startMatcher(parts: MatcherParts): Promise<PartitionOwnership> {
  const { machine, client, onStop } = parts;
  const [outputs, ticks] = [await client.producer(), await client.producer()];
  const ranges = openLogRanges(client, await client.admin());
  const ownerId = Buffer.alloc(ownerIdBytes);
  ownerId.writeUInt32LE(machine.scheduler.random.below(2 ** 31) + 1);
  const ownership: PartitionOwnership = new PartitionOwnership({
    log: silentLog,
    waits,
    instance: machine.name,
    monotonicMs: () => machine.clock.monotonicMs(),
    openPartition: (partition) =>
      open({ ...parts, outputs, ticks, ranges, ownership, ownerId }, partition),
    isOpened: () => true,
    onStop,
  });
  await ownership.start((hooks) =>
    client.group({
      ...hooks,
      groupId: 'matcher',
      topic: topicNames.orders,
      standbyTopic: topicNames.executions,
      maxWaitMs: 100,
      dense: true,
    }),
  );
  return ownership;
}

interface Opened extends MatcherParts {
  readonly outputs: LogProducer;
  readonly ticks: LogProducer;
  readonly ranges: ReturnType<typeof openLogRanges>;
  readonly ownership: PartitionOwnership;
  readonly ownerId: Buffer;
}

function open(parts: Opened, partition: number): OwnedPartition {
  const { machine, ticks, ownership } = parts;
  return new OwnedPartition({
    partition,
    restore: restoreOf(parts, partition),
    writer: writerOf(parts, partition),
    ticks: new TickPublisher({
      producer: ticks,
      codec: codecs.orders,
      key: keys.owner,
      topic: topicNames.orders,
      partition,
      everyMs: tickMs,
      clock: machine.clock,
      log: silentLog,
    }),
    replica: {
      ownerId: parts.ownerId,
      claims: { silenceMs: tickMs + 200, settleMs: 10_000, blockedMs: 1_000 },
      isPreferred: (placed) => ownership.isPreferred(placed),
      readThroughMs: (read) => ownership.readThroughMs(read),
    },
    openCopies: copiesOf(parts, partition),
    encoder: encoderHere,
    snapshotRules: { everyRecords: 150, everyMs: 15_000 },
    sliceLimits: { ...defaultSliceLimits, recordsMax: 1 + machine.scheduler.random.below(40) },
    clock: machine.clock,
    log: silentLog,
    metrics: noMetrics,
    isWanted: (wanted) => ownership.isWanted(wanted),
    onStored: (stored, nextOffset) => ownership.onStored(stored, nextOffset),
    onFault: (failed, error) => {
      parts.onFault(failed, error);
      ownership.onFault(error, failed);
    },
  });
}

function copiesOf({ client }: Opened, partition: number): OpenCopies {
  return ({ from, onRecords, onFault }) =>
    client.reader({
      topic: topicNames.executions,
      positions: new Map([[partition, from]]),
      dense: true,
      onBatch: ({ records }) => onRecords(records),
      onFault,
    });
}

function restoreOf({ machine, files, ranges, parts, diskFailures }: Opened, partition: number) {
  const operatorKey = keys.opening.publicKey;
  const reader = new SequentialReader({ partition, operatorKey, codec: codecs.orders });
  const executions = new StoredExecutions({
    log: ranges,
    codec: codecs.executions,
    topic: topicNames.executions,
    partition,
  });
  const snapshots = new SnapshotDirectory({
    directory: '/snapshots',
    files: diskOf(machine, files, diskFailures),
    log: silentLog,
    onBad: () => {},
    onWriteFailure: () => {},
  });
  return {
    partition,
    ordersTopic: topicNames.orders,
    log: silentLog,
    engines,
    operatorKey,
    ranges,
    executions,
    snapshots,
    processing: {
      partition,
      reader: parts.reader(reader, machine),
      executions: parts.outputs(codecs.executions, machine),
      hashState: (engine: Engine) => encoderHere.hash(engine),
    },
    schemas: codecs.orders,
    signatures: new SignaturePool({ onLate: () => {} }),
    verifyReplay: false,
  };
}

function writerOf({ machine, outputs }: Opened, partition: number) {
  const retry = {
    triesMax: 20,
    firstWaitMs: 20,
    waitMaxMs: 1_000,
    pause: (ms: number) => machine.sleep(ms),
  };
  const deadLetters = new DeadLetters({
    producer: outputs,
    codec: codecs.deadLetters,
    topic: topicNames.deadLetters,
    ordersTopic: topicNames.orders,
    retry,
  });
  const seals = new OutputSeals({
    key: keys.owner,
    writer: Buffer.alloc(8, machine.scheduler.random.below(256)),
    monotonicMs: () => machine.clock.monotonicMs(),
  });
  const { executions: topic } = topicNames;
  return {
    producer: outputs,
    deadLetters,
    topic,
    partition,
    retry,
    seals,
    limits: defaultWriterLimits,
  };
}
