import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionLog } from '@pm/domain/executions/execution-reader.io';
import type { OpenedPartitions } from '@pm/domain/signoff/first-envelope.io';
import type { TracedReader } from '@pm/domain/traces/traced-reader.io';
import type { Clock } from '@pm/kit/clock';
import type { LogAdmin } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { WalletAddress } from '@pm/schemas/ids';
import type { FeedChange } from './changes.ts';
import {
  type FeedRecord,
  PartitionFollower,
  type PartitionStatus,
  type SaveRules,
} from './follower.io.ts';
import type { FeedCounts } from './partition-feed.ts';
import { inPages, Replays, replayLimits } from './replay.io.ts';
import { type FeedReplay, planReplay, type ReplayRequest } from './replay-plan.ts';
import type { MarketChannel, MarketSnapshot, OwnSnapshot } from './snapshots.ts';
import { StateFiles } from './state-files.io.ts';

export type { FeedRecord, PartitionStatus } from './follower.io.ts';

/** How often the broker is asked for new partitions, milliseconds. */
const partitionsEveryMs = 5_000;
/** How often the broker is asked for partitions before it has answered once, milliseconds. */
const firstPartitionsEveryMs = 500;

export interface FeedParts extends TracedReader {
  /** How `executions` is read; its codec reuses no memory. */
  readonly executions: Omit<ExecutionLog, 'checksChain'>;
  /** Partitions that it follows; all without it. */
  readonly opened?: OpenedPartitions;
  /** Folder of the states, of this process alone. */
  readonly directory: string;
  readonly saves: SaveRules;
  readonly clock: Clock;
  readonly log: Log;
}

/** A partition as readers see it. */
export interface FeedPartition extends PartitionStatus {
  /** It appeared while others were followed, and listeners do not know yet that it is caught up. */
  readonly isAdded: boolean;
}

/** Methods are called synchronously between two records of a partition and must not throw. */
export interface FeedListener {
  /** Called for records that come after the partition was caught up for the first time. */
  record(record: FeedRecord): void;
  /**
   * The partition is folded from its first record again, because its log was replaced or cannot be continued: numbers
   * may differ, `epoch` too; it has no snapshots until it is caught up. Subscriptions of its markets start over.
   */
  reset(partition: number): void;
  /**
   * A partition that appeared while others were followed is caught up for the first time; called before its records.
   * Readers of all partitions do not have it yet.
   */
  added(partition: number): void;
}

/**
 * All partitions of `executions` as changes of channels, with the state that snapshots are taken of. Snapshots and the
 * start of a replay are synchronous: in one tick of the event loop they fit each other and the live changes.
 */
export class Feed {
  readonly #parts: FeedParts;
  readonly #files: StateFiles;
  readonly #replays: Replays;
  readonly #followers = new Map<number, PartitionFollower>();
  /** Partition by market, as far as it was asked for. */
  readonly #partitions = new Map<number, number>();
  /** Partitions that appeared after the first ones, until listeners know of them. */
  readonly #added = new Set<number>();
  readonly #listeners = new Set<FeedListener>();
  readonly #closing = new AbortController();
  #admin: LogAdmin | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: FeedParts) {
    this.#parts = parts;
    this.#files = new StateFiles(parts.directory, parts.log);
    this.#replays = new Replays(parts.executions);
  }

  /** Restores and follows every partition in the background; new partitions are followed as they appear. */
  start(): void {
    this.#running = this.#run();
  }

  /** Stops following and writes the states of the partitions. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await Promise.all([...this.#followers.values()].map((follower) => follower.close()));
    await this.#admin?.close();
  }

  /** Returns the function that ends it. */
  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** The partition of a market; null when no partition that is caught up lists it. */
  partitionOf(market: number): number | null {
    const known = this.#partitions.get(market);
    if (known !== undefined && this.#followers.get(known)?.feed?.market(market)) return known;
    for (const [partition, { feed }] of this.#followers) {
      if (!feed?.market(market)) continue;
      this.#partitions.set(market, partition);
      return partition;
    }
    return null;
  }

  /** Numbers of all markets that were listed in partitions that are caught up. */
  *markets(): Generator<number> {
    for (const { feed } of this.#followers.values()) if (feed !== null) yield* feed.markets();
  }

  /** Null for a market that was not listed, or whose partition is not caught up. */
  snapshot(channel: MarketChannel, market: number): MarketSnapshot | null {
    return this.#followerOf(market)?.feed?.snapshot(channel, market) ?? null;
  }

  /** Number of the newest change of a channel; null where there is no snapshot. */
  seqOf(channel: MarketChannel, market: number): number | null {
    return this.#followerOf(market)?.feed?.market(market)?.seqOf(channel) ?? null;
  }

  /** Null when the partition is not caught up; also for wallets without changes there (seq 0). */
  ownSnapshot(wallet: WalletAddress, partition: number): OwnSnapshot | null {
    return this.#followers.get(partition)?.feed?.ownSnapshot(wallet) ?? null;
  }

  /** Number of the newest change of a wallet; null when the partition is not caught up. */
  ownSeqOf(wallet: WalletAddress, partition: number): number | null {
    return this.#followers.get(partition)?.feed?.ownSeqOf(wallet) ?? null;
  }

  /**
   * Null when the start is not known: further back than `replayMessagesMax` or `replayAgeMaxMs` (never for `own`),
   * later than the newest change, or in a partition that is not caught up. Then a snapshot is due.
   */
  replay(request: ReplayRequest): FeedReplay | null {
    const follower =
      request.channel === 'own'
        ? this.#followers.get(request.partition)
        : this.#followerOf(request.market);
    const feed = follower?.feed ?? null;
    const plan = feed === null ? null : planReplay(feed, request);
    if (feed === null || plan === null || follower === undefined) return null;
    const { toSeq } = plan;
    if (plan.kind === 'empty') return { toSeq, pages: pagesOf([]) };
    if (plan.kind === 'state') return { toSeq, pages: pagesOf([plan.change]) };
    const recent = follower.recent.find(plan);
    if (recent !== null) return { toSeq, pages: pagesOf(recent) };
    return { toSeq, pages: this.#replays.pages(plan, feed.progress.nextOffset) };
  }

  /** By partition. One that was added is not live before listeners know of it. */
  partitions(): readonly FeedPartition[] {
    const statuses = [...this.#followers.values()].map((follower) => {
      const status = follower.status();
      const isAdded = this.#added.has(status.partition);
      return { ...status, isAdded, isLive: status.isLive && !isAdded };
    });
    return statuses.sort((one, other) => one.partition - other.partition);
  }

  /** Sizes of the state of all partitions. */
  counts(): FeedCounts {
    const sum = { markets: 0, orders: 0, wallets: 0, positions: 0 };
    for (const { counts } of this.#followers.values()) {
      sum.markets += counts?.markets ?? 0;
      sum.orders += counts?.orders ?? 0;
      sum.wallets += counts?.wallets ?? 0;
      sum.positions += counts?.positions ?? 0;
    }
    return sum;
  }

  #followerOf(market: number): PartitionFollower | undefined {
    const partition = this.partitionOf(market);
    return partition === null ? undefined : this.#followers.get(partition);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#followNew();
      this.#noteAdded();
      const pauseMs = this.#followers.size === 0 ? firstPartitionsEveryMs : partitionsEveryMs;
      await wait(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  async #followNew(): Promise<void> {
    const { executions, opened, log } = this.#parts;
    try {
      this.#admin ??= await executions.client.admin();
      const bounds = await this.#admin.bounds(executions.topic);
      const followed = opened?.openedPartitions ?? [...bounds.keys()];
      const isFirst = this.#followers.size === 0;
      for (const partition of followed) {
        if (!bounds.has(partition) || this.#closing.signal.aborted) continue;
        if (!isFirst && !this.#followers.has(partition)) this.#added.add(partition);
        this.#follow(partition, bounds.size);
      }
    } catch (error) {
      log.warn({ err: error }, 'the partitions of the log are not known');
    }
  }

  #noteAdded(): void {
    for (const partition of this.#added) {
      if ((this.#followers.get(partition)?.feed ?? null) === null) continue;
      this.#added.delete(partition);
      this.#parts.log.info({ partition }, 'a partition was added: readers of all are to have it');
      for (const listener of this.#listeners) listener.added(partition);
    }
  }

  #follow(partition: number, partitions: number): void {
    if (this.#followers.has(partition)) return;
    const { executions, saves, clock, log, tracesOf } = this.#parts;
    const follower = new PartitionFollower({
      executions: { ...executions, checksChain: true },
      ...(tracesOf === undefined ? {} : { tracesOf }),
      partition,
      partitions,
      files: this.#files,
      saves,
      clock,
      log,
      onRecord: (record) => {
        this.#noteAdded();
        for (const listener of this.#listeners) listener.record(record);
      },
      onReset: () => {
        for (const listener of this.#listeners) listener.reset(partition);
      },
    });
    this.#followers.set(partition, follower);
    follower.start();
  }
}

async function* pagesOf(changes: readonly FeedChange[]): AsyncGenerator<readonly FeedChange[]> {
  yield* inPages(changes, replayLimits.pageMessages);
}
