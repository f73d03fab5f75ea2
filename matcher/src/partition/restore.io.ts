import { setImmediate } from 'node:timers/promises';
import { Fault } from '@pm/kit/fault';
import type { PartitionBounds } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { Engine } from '../core/index.ts';
import type { LogRanges } from './log-ranges.io.ts';
import {
  firstPosition,
  type LogPosition,
  type OutputRecord,
  RecordProcessor,
  type RecordProcessorParts,
} from './record-processor.ts';
import { ReplayCheck } from './replay-check.io.ts';
import { SealsAhead } from './seals-ahead.io.ts';
import type { SignaturePool } from './signature-pool.io.ts';
import { processPrepared, type SchemaFetcher } from './slices.io.ts';
import type { SnapshotDirectory } from './snapshot-directory.io.ts';
import type { Snapshot } from './snapshot-image.ts';
import type { Replayed } from './snapshot-schedule.io.ts';
import { knownHash } from './state-hash.ts';
import type { StoredExecutions, StoredOutput } from './stored-executions.io.ts';

/** Makes the engine of a partition, new or from a snapshot. */
export interface EngineFactory {
  create(partition: number): Engine;
  /** Throws for bytes that are not a state of this version. */
  restore(state: Buffer): Engine;
}

export interface RestoreParts {
  readonly partition: number;
  readonly ordersTopic: string;
  readonly log: Log;
  readonly engines: EngineFactory;
  /** Raw opening key that this process is configured to trust. */
  readonly operatorKey: Buffer;
  readonly ranges: LogRanges;
  readonly executions: StoredExecutions;
  readonly snapshots: SnapshotDirectory;
  readonly processing: RecordProcessorParts;
  readonly schemas: SchemaFetcher;
  readonly signatures: Pick<SignaturePool, 'check'>;
  /** Compare every output of the replay with the stored one, not only the last. */
  readonly verifyReplay: boolean;
  /** Called for each replayed record; throws to end a restore that is no longer wanted. */
  onReplayed(output: OutputRecord): void;
}

interface Restored {
  readonly processor: RecordProcessor;
  readonly since: Replayed;
  /** Offset of the last output of `executions`, -1 when there is none. */
  readonly outOffset: number;
}

/**
 * Restores a partition to the end of its stored outputs: the newest sound snapshot whose outputs are stored, then a
 * replay of `orders` without outputs, which must end with the chain hash at the tail of `executions`. Throws a `Fault`
 * (release) with facts when records are missing in the log or the chains differ; no record is ever skipped.
 */
export async function restorePartition(parts: RestoreParts): Promise<Restored> {
  // Before the look at the outputs: another replica may store more of them and take a snapshot meanwhile.
  const snapshots = await parts.snapshots.newestFirst(parts.partition);
  const bounds = await parts.executions.bounds();
  const tail = await parts.executions.tail(bounds);
  if (tail !== null) await assertNoGap(parts, tail, bounds);
  const orders = await parts.ranges.bounds(parts.ordersTopic, parts.partition);
  const start = await startOf(parts, snapshots, { orders, bounds });
  const from = start.nextOffset;
  const fromTimeMs = start.engine.timeMs;
  const processor = new RecordProcessor(parts.processing, start);
  const to = Math.max(from, tail === null ? 0 : tail.inOffset + 1);
  assertAvailable(parts, orders, { from, to });
  await replay(parts, processor, { from, to, bounds });
  if (tail !== null && tail.inOffset + 1 >= from) assertSameChain(parts, processor, tail, from);
  assertOperator(parts, processor.engine.operatorKey());
  const replayedMs = processor.engine.timeMs - fromTimeMs;
  const since = { snapshotOffset: from, replayed: processor.nextOffset - from, replayedMs };
  return { processor, since, outOffset: bounds.high - 1 };
}

/**
 * Copies only move outputs to larger offsets, so an offset grows at least as much as its input. Where it has grown less
 * outputs are missing: an earlier owner has written past a truncated end. Readers stop there, so nothing may follow
 * until `npm run repair` has written them (docs/operating/kafka.md).
 */
async function assertNoGap(
  { partition, executions }: RestoreParts,
  tail: StoredOutput,
  bounds: PartitionBounds,
): Promise<void> {
  const first = await executions.first(bounds);
  const missing = tail.inOffset - first.inOffset - (bounds.high - 1 - bounds.low);
  if (missing <= 0) return;
  const facts = { partition, missing, inOffset: tail.inOffset, low: bounds.low, high: bounds.high };
  throw new Fault('execution_gap', 'release', { facts });
}

/** The newest snapshot whose history is this log, or the position before the first record. */
async function startOf(
  parts: RestoreParts,
  snapshots: AsyncIterable<Snapshot>,
  ends: { readonly orders: PartitionBounds; readonly bounds: PartitionBounds },
): Promise<LogPosition> {
  for await (const snapshot of snapshots) {
    const { nextOffset } = snapshot;
    const reason = await whyUnusable(parts, snapshot, ends);
    if (reason === null) {
      const engine = engineOf(parts, snapshot);
      const checkpoint = snapshot.checkpoint === null ? null : knownHash(snapshot.checkpoint);
      if (engine !== null) return { engine, chain: snapshot.chain, nextOffset, checkpoint };
    } else parts.snapshots.passOver(parts.partition, nextOffset, reason);
  }
  return firstPosition(parts.engines.create(parts.partition));
}

/** Why a sound snapshot may not be used: it counts only when the outputs before it are stored, with the same chain. */
async function whyUnusable(
  parts: RestoreParts,
  { nextOffset, chain }: Snapshot,
  { orders, bounds }: { orders: PartitionBounds; bounds: PartitionBounds },
): Promise<string | null> {
  if (nextOffset < orders.low) return 'older than the log';
  const stored = await parts.executions.find(nextOffset - 1, bounds);
  if (stored === null) return 'ahead of the stored outputs';
  return stored.chain.equals(chain) ? null : 'of another history than the log';
}

/** A state of another version of the rules is no damage of the file: the replay starts from an older one. */
function engineOf(parts: RestoreParts, { state, nextOffset }: Snapshot) {
  try {
    return parts.engines.restore(state);
  } catch (error) {
    const { partition } = parts;
    parts.log.error({ partition, nextOffset, err: error }, 'a snapshot is of another version');
    return null;
  }
}

function assertAvailable(
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

/** The state of a snapshot contains its opening key: a process that trusts another one must not continue from it. */
function assertOperator({ partition, operatorKey }: RestoreParts, opener: Buffer | null): void {
  if (opener === null || opener.equals(operatorKey)) return;
  throw new Fault('operator_differs', 'release', { facts: { partition } });
}

async function replay(
  parts: RestoreParts,
  processor: RecordProcessor,
  { from, to, bounds }: { from: number; to: number; bounds: PartitionBounds },
): Promise<void> {
  if (from >= to) return;
  const check = parts.verifyReplay ? new ReplayCheck(parts, { from, to, bounds }) : null;
  const replaying = parts.ranges.read({
    topic: parts.ordersTopic,
    partition: parts.partition,
    from,
    to,
    onBatch: async ({ records }) => {
      const seals = new SealsAhead(processor, records, parts.signatures);
      for (const [at, record] of records.entries()) {
        const checked = await seals.of(at);
        const output =
          processor.process(record, { checked }) ??
          (await processPrepared(processor, record, parts.schemas));
        parts.onReplayed(output);
        await check?.expect(output);
      }
      // Heartbeats and the other partitions run between two batches.
      await setImmediate();
    },
  });
  if (check === null) return replaying;
  await check.alongside(replaying);
}

function assertSameChain(
  parts: RestoreParts,
  processor: RecordProcessor,
  tail: StoredOutput,
  from: number,
): void {
  if (processor.nextOffset === tail.inOffset + 1 && processor.chain.equals(tail.chain)) return;
  // The replay began with a snapshot: the next attempt begins with an older one, and in the end with none.
  if (from > 0) parts.snapshots.passOver(parts.partition, from, 'its replay differs');
  throw new Fault('chain_mismatch', 'release', {
    facts: {
      partition: parts.partition,
      inOffset: tail.inOffset,
      replayedFrom: from,
      stored: tail.chain.toString('hex'),
      computed: processor.chain.toString('hex'),
    },
  });
}
