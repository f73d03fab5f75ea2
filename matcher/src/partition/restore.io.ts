import { setImmediate } from 'node:timers/promises';
import { Fault } from '@pm/kit/fault';
import type { PartitionBounds } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import {
  type EngineFactory,
  firstPosition,
  type OutputRecord,
  type Position,
  RecordRunner,
  type RecordRunnerParts,
} from './record-processor.ts';
import { ReplayCheckRunner } from './replay-check.io.ts';
import type { SnapshotStore } from './snapshot-directory.io.ts';
import type { Snapshot } from './snapshot-image.ts';
import type { ExecutionSource, LogRanges, StoredOutput } from './stored-executions.io.ts';

export interface RestoreParts {
  readonly partition: number;
  readonly ordersTopic: string;
  readonly log: Log;
  readonly engines: EngineFactory;
  /** Raw public key of the operator this process is told to trust. */
  readonly operatorKey: Buffer;
  readonly ranges: LogRanges;
  readonly executions: ExecutionSource;
  readonly snapshots: SnapshotStore;
  readonly records: RecordRunnerParts;
  /** Compare every output of the replay with the stored one, not the last alone. */
  readonly verifyReplay: boolean;
  /** Called for each replayed record; throws to end a restore that nobody wants any more. */
  onReplayed(output: OutputRecord): void;
}

interface Restored {
  readonly runner: RecordRunner;
  /** `nextOffset` of the snapshot it began with, 0 when with none. */
  readonly snapshotOffset: number;
  /** Where the tail of `executions` stands, -1 when there is none. */
  readonly outOffset: number;
}

/**
 * Brings a partition to where its stored outputs end: newest sound snapshot whose past is stored, then a silent replay
 * of `orders` that has to come to the chain hash at the tail of `executions`. Throws a `Fault` (release) with facts
 * when the log has not got what is needed or says something else; nothing is ever skipped.
 */
export async function restorePartition(parts: RestoreParts): Promise<Restored> {
  const bounds = await parts.executions.bounds();
  const tail = await parts.executions.tail(bounds);
  const orders = await parts.ranges.bounds(parts.ordersTopic, parts.partition);
  const start = await startOf(parts, orders, bounds);
  const runner = new RecordRunner(parts.records, start);
  const from = start.nextOffset;
  const to = Math.max(from, tail === null ? 0 : tail.inOffset + 1);
  assertHeld(parts, orders, { from, to });
  await replay(parts, runner, { from, to, bounds });
  if (tail !== null && tail.inOffset + 1 >= from) await assertSameChain(parts, runner, tail, from);
  assertOperator(parts, runner.engine.operatorKey());
  return { runner, snapshotOffset: from, outOffset: bounds.high - 1 };
}

/** The newest snapshot that this log is the past of, or the very beginning. */
async function startOf(
  parts: RestoreParts,
  orders: PartitionBounds,
  bounds: PartitionBounds,
): Promise<Position> {
  for await (const snapshot of parts.snapshots.newestFirst(parts.partition)) {
    const { nextOffset } = snapshot;
    const reason = await refusalOf(parts, snapshot, { orders, bounds });
    if (reason === null) {
      const engine = engineOf(parts, snapshot);
      if (engine !== null) return { engine, chain: snapshot.chain, nextOffset };
    } else await parts.snapshots.putAside(parts.partition, nextOffset, reason);
  }
  return firstPosition(parts.engines.create(parts.partition));
}

/** Why a sound snapshot may not be used: a snapshot counts only when its past is stored, and is this one. */
async function refusalOf(
  parts: RestoreParts,
  { nextOffset, chain }: Snapshot,
  { orders, bounds }: { orders: PartitionBounds; bounds: PartitionBounds },
): Promise<string | null> {
  if (nextOffset < orders.low) return 'older than the log';
  const stored = await parts.executions.find(nextOffset - 1, bounds);
  if (stored === null) return 'ahead of the stored outputs';
  return stored.chain.equals(chain) ? null : 'of another history than the log';
}

/** A state of another version of the rules is no fault of the file: the replay starts from an older one. */
function engineOf(parts: RestoreParts, { state, nextOffset }: Snapshot) {
  try {
    return parts.engines.restore(state);
  } catch (error) {
    const { partition } = parts;
    parts.log.error({ partition, nextOffset, err: error }, 'a snapshot is of another version');
    return null;
  }
}

function assertHeld(
  { partition, ordersTopic: topic }: RestoreParts,
  { low, high }: PartitionBounds,
  { from, to }: { from: number; to: number },
): void {
  if (from >= low && to <= high) return;
  const missing = from < low ? from : high;
  throw new Fault('replay_out_of_range', 'release', {
    facts: { topic, partition, from, to, low, high, missing },
  });
}

/** A snapshot brings its operator along: a process that is told of another one must not go on for it. */
function assertOperator({ partition, operatorKey }: RestoreParts, opener: Buffer | null): void {
  if (opener === null || opener.equals(operatorKey)) return;
  throw new Fault('operator_differs', 'release', { facts: { partition } });
}

async function replay(
  parts: RestoreParts,
  runner: RecordRunner,
  { from, to, bounds }: { from: number; to: number; bounds: PartitionBounds },
): Promise<void> {
  if (from >= to) return;
  const check = parts.verifyReplay ? new ReplayCheckRunner(parts, { from, to, bounds }) : null;
  const replaying = parts.ranges.read({
    topic: parts.ordersTopic,
    partition: parts.partition,
    from,
    to,
    onBatch: async ({ records }) => {
      for (const record of records) {
        const output = await runner.runPrepared(record);
        parts.onReplayed(output);
        await check?.expect(output);
      }
      // Heartbeats and the other partitions come first.
      await setImmediate();
    },
  });
  if (check === null) return replaying;
  await check.alongside(replaying);
}

async function assertSameChain(
  parts: RestoreParts,
  runner: RecordRunner,
  tail: StoredOutput,
  from: number,
): Promise<void> {
  if (runner.nextOffset === tail.inOffset + 1 && runner.chain.equals(tail.chain)) return;
  // A snapshot was the start of it: the next try begins with an older one, so that only the log itself has the last word.
  if (from > 0) await parts.snapshots.putAside(parts.partition, from, 'its replay differs');
  throw new Fault('chain_mismatch', 'release', {
    facts: {
      partition: parts.partition,
      inOffset: tail.inOffset,
      replayedFrom: from,
      stored: tail.chain.toString('hex'),
      computed: runner.chain.toString('hex'),
    },
  });
}
