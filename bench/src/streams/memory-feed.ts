import { type ExecutionCodec, readExecution } from '@pm/domain/executions/each-execution.io';
import { openRecordCodec } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas/log/executions';
import { topics } from '@pm/schemas/log/topics';
import type { FeedListener, FeedPartition } from '@pm/streams/feed/feed.io';
import { PartitionFeed } from '@pm/streams/feed/partition-feed';
import type { StreamFeed } from '@pm/streams/protocol/targets.io';

/** Writes and reads executions without a registry. */
export const openExecutionCodec = () =>
  openRecordCodec(topics.executions.value, 1, async () => {
    throw new Error('no other schema is read here');
  });

type Methods = Omit<StreamFeed, 'replay'> & { replay(): null };

/** The fold of the service over the records of one partition that are handed to it, without Kafka. */
export class MemoryFeed implements Methods {
  readonly #codec: ExecutionCodec = openExecutionCodec();
  readonly #feed = new PartitionFeed(0);
  readonly #listeners = new Set<FeedListener>();
  #next = 0;

  /** Decodes, folds and delivers the next record; returns its changes. */
  take(value: Buffer): ReturnType<PartitionFeed['take']> {
    const offset = this.#next++;
    const execution = readExecution(this.#codec, { value, offset }, {}) as Execution;
    const changes = this.#feed.take(execution, offset);
    const { inOffset, timeMs } = execution;
    if (changes.length > 0) {
      const record = { partition: 0, offset: inOffset, timeMs, changes };
      for (const listener of this.#listeners) listener.record(record);
    }
    return changes;
  }

  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  partitionOf(): number {
    return 0;
  }

  *markets(): Generator<number> {
    yield* this.#feed.markets();
  }

  snapshot(...key: Parameters<PartitionFeed['snapshot']>): ReturnType<PartitionFeed['snapshot']> {
    return this.#feed.snapshot(...key);
  }

  seqOf(...[channel, market]: Parameters<StreamFeed['seqOf']>): number | null {
    return this.#feed.market(market)?.seqOf(channel) ?? null;
  }

  ownSnapshot(
    ...[wallet]: Parameters<StreamFeed['ownSnapshot']>
  ): ReturnType<PartitionFeed['ownSnapshot']> {
    return this.#feed.ownSnapshot(wallet);
  }

  ownSeqOf(...[wallet]: Parameters<StreamFeed['ownSeqOf']>): number {
    return this.#feed.ownSeqOf(wallet);
  }

  replay(): null {
    return null;
  }

  partitions(): readonly FeedPartition[] {
    const { epoch, inOffset: offset, timeMs } = this.#feed.progress;
    const state = {
      lagRecords: 0,
      isCaughtUp: true,
      fault: null,
      faultMs: 0,
      isLive: true,
      isAdded: false,
    };
    return [{ partition: 0, epoch, offset, timeMs, ...state }];
  }
}
