import { Fault } from '../fault/index.ts';
import type { LogClient } from './log-client.io.ts';
import { isStall, type LogReader } from './reader.io.ts';
import type { IncomingRecord, RecordBatch } from './records.ts';

/** A piece of one partition: offsets [from, to). */
export interface RangeOptions {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
  /** False for a compacted topic; default true. */
  readonly dense?: boolean;
  /** One call at a time; holds no record at or after `to`. */
  onBatch(batch: RecordBatch): Promise<void>;
}

/**
 * Reads [from, to) of one partition for restores and tails; resolves when all were handled. Rejects with
 * `offset_out_of_range` (stop) when the broker does not have the whole range, `offset_gap` (stop), `reader_stalled`
 * (retry), or what `onBatch` threw.
 */
export async function readRange(client: LogClient, options: RangeOptions): Promise<void> {
  const { topic, partition, from, to } = options;
  if (from >= to) return assertHasRange(client, options);
  const end = new Deferred<void>();
  const reader = await client.reader({
    topic,
    positions: new Map([[partition, from]]),
    ends: new Map([[partition, to]]),
    dense: options.dense ?? true,
    catchesUp: true,
    onBatch: async (batch) => {
      const records = batch.records.filter((record) => record.offset < to);
      if (records.length > 0) await options.onBatch({ ...batch, records });
      if ((batch.records.at(-1)?.offset ?? -1) >= to - 1) {
        end.resolve();
        // Later records are beyond the range: no further batch may follow.
        await end.never;
      }
    },
    onFault: (fault) => end.reject(fault),
  });
  const watch = setInterval(
    () => reader.position(partition) >= to && end.resolve(),
    positionCheckMs,
  );
  try {
    await end.promise;
  } finally {
    clearInterval(watch);
    end.release();
    await reader.close();
  }
}

/** Positions also pass offsets that compaction removed, which no batch contains. */
const positionCheckMs = 50;

/** A range without records has no reader. */
async function assertHasRange(client: LogClient, options: RangeOptions): Promise<void> {
  const { topic, partition, from, to } = options;
  const admin = await client.admin();
  const bounds = (await admin.bounds(topic).finally(() => admin.close())).get(partition);
  if (bounds === undefined)
    throw new Fault('partition_unknown', 'stop', { facts: { topic, partition } });
  if (from < bounds.low || to > bounds.high)
    throw new Fault('offset_out_of_range', 'stop', {
      facts: { topic, partition, from, to, ...bounds },
    });
}

/** Such topics are quiet most of the time, and each process follows many: a record ends the wait at once. */
const quietWaitMs = 500;

export interface FollowOptions {
  readonly topic: string;
  /** Where to begin in each partition that has records before; default with the first that is there. */
  readonly from?: number;
  /** One call at a time per partition; `value` is null when the key was deleted. */
  onRecord(record: IncomingRecord, partition: number): void | Promise<void>;
  /** As for readers; no further call after a `stop`. */
  onFault(fault: Fault): void;
}

/**
 * Reads a compacted topic from its start, or any topic from an offset, and goes on live, then together with the other
 * topics that this process follows. Resolves when all records that existed at the call are handled; rejects when a
 * fault stops the reader before.
 */
export async function followCompacted(
  client: LogClient,
  options: FollowOptions,
): Promise<LogReader> {
  const { topic, from = 0 } = options;
  const admin = await client.admin();
  const bounds = await admin.bounds(topic).finally(() => admin.close());
  const caughtUp = new Deferred<void>();
  const first = new Map(
    [...bounds].map(([partition, { low }]) => [partition, Math.max(low, from)]),
  );
  const pending = new Map(
    [...bounds].filter(([partition, { high }]) => (first.get(partition) ?? 0) < high),
  );
  const reached = (partition: number, position: number) => {
    if (position >= (pending.get(partition)?.high ?? 0)) pending.delete(partition);
    if (pending.size === 0) caughtUp.resolve();
  };
  const reader = await client.reader({
    topic,
    positions: first,
    dense: false,
    maxWaitMs: quietWaitMs,
    catchesUp: true,
    onBatch: async ({ partition, records }) => {
      for (const record of records) await options.onRecord(record, partition);
      reached(partition, (records.at(-1)?.offset ?? -1) + 1);
    },
    onFault: (fault) => {
      if (!isStall(fault)) caughtUp.reject(fault);
      options.onFault(fault);
    },
  });
  if (pending.size === 0) caughtUp.resolve();
  const watch = setInterval(() => {
    for (const partition of [...pending.keys()]) reached(partition, reader.position(partition));
  }, positionCheckMs);
  try {
    await caughtUp.promise;
  } catch (error) {
    await reader.close();
    throw error;
  } finally {
    clearInterval(watch);
  }
  // Not awaited: a shared connection answers when its fetch ends, for each topic in turn; records come meanwhile too.
  void reader.share();
  return reader;
}

/** A promise that is settled from outside. */
class Deferred<T> {
  readonly promise: Promise<T>;
  /** Resolves at `release()`. */
  readonly never: Promise<void>;
  resolve: (value: T) => void = () => {};
  reject: (error: unknown) => void = () => {};
  release: () => void = () => {};

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.promise.catch(() => {});
    this.never = new Promise((resolve) => {
      this.release = resolve;
    });
  }
}
