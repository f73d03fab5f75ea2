import { Fault, reactionTo } from '@pm/kit/fault';
import type { Readiness } from '@pm/kit/health';
import type { GroupOptions, PartitionGroup, RecordBatch } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { PartitionRunner } from './owned-partition.io.ts';
import type { PartitionStatus } from './partition-status.ts';

/** Waits before a failed partition is restored again, milliseconds: doubled from `firstMs` up to `maxMs`. */
interface RestoreWaits {
  readonly firstMs: number;
  readonly maxMs: number;
  /** A partition that held out for so long starts again with the first wait. */
  readonly calmMs: number;
}

interface OwnershipRunnerParts {
  readonly log: Log;
  readonly waits: RestoreWaits;
  nowMs(): number;
  openPartition(partition: number): PartitionRunner;
  /** The process cannot go on. */
  onStop(error: unknown): void;
}

/**
 * How often the clocks of the partitions are looked at, and the position for lag displays is committed, milliseconds.
 */
const beatMs = 25;
const commitEveryMs = 1_000;

/** Faults of the log client that stop one reader: what is not in the log may come back, the other partitions go on. */
const partitionCodes = ['offset_gap', 'offset_out_of_range', 'partition_unknown', 'reader_stalled'];

interface Owned {
  readonly runner: PartitionRunner;
  waitMs: number;
  failedAtMs: number;
  timer: NodeJS.Timeout | undefined;
  committedAtMs: number;
}

type GroupHooks = Pick<GroupOptions, 'onAssigned' | 'onRevoked' | 'onBatch' | 'onFault'>;

/**
 * The partitions this process owns: opens a runner for each, feeds it, and restores it after a fault while the others
 * go on. Which ones it owns is the group's word.
 */
export class OwnershipRunner implements GroupHooks {
  readonly #parts: OwnershipRunnerParts;
  readonly #owned = new Map<number, Owned>();
  readonly #released = new Map<number, PartitionStatus>();
  #group: PartitionGroup | null = null;
  #ending = false;
  #beat: NodeJS.Timeout | undefined;

  constructor(parts: OwnershipRunnerParts) {
    this.#parts = parts;
  }

  /** False when a partition that is being restored went to another owner meanwhile, or the process ends. */
  isWanted(partition: number): boolean {
    if (this.#ending) return false;
    return this.#group === null || this.#group.owned().includes(partition);
  }

  /** Joins the group that `open` opens with these hooks. */
  async start(open: (hooks: GroupHooks) => Promise<PartitionGroup>): Promise<void> {
    this.#beat = setInterval(() => this.#beatAll(), beatMs);
    this.#group = await open({
      onAssigned: (partition) => this.onAssigned(partition),
      onRevoked: (partition) => this.onRevoked(partition),
      onBatch: (batch) => this.onBatch(batch),
      onFault: (fault, partition) => this.onFault(fault, partition),
    });
  }

  /** Lets go of all partitions with a last snapshot each, and leaves the group. */
  async close(): Promise<void> {
    this.#ending = true;
    clearInterval(this.#beat);
    await this.#group?.close();
    this.#group = null;
  }

  async onAssigned(partition: number): Promise<number> {
    const { waits } = this.#parts;
    const known = this.#owned.get(partition);
    const owned: Owned = known ?? {
      runner: this.#parts.openPartition(partition),
      waitMs: waits.firstMs,
      failedAtMs: Number.NEGATIVE_INFINITY,
      timer: undefined,
      committedAtMs: 0,
    };
    this.#owned.set(partition, owned);
    this.#released.delete(partition);
    const from = await owned.runner.restore();
    this.#parts.log.info({ partition, from }, 'a partition is live');
    return from;
  }

  async onRevoked(partition: number): Promise<void> {
    const owned = this.#owned.get(partition);
    if (owned === undefined) return;
    clearTimeout(owned.timer);
    this.#owned.delete(partition);
    await owned.runner.stop();
    this.#released.set(partition, owned.runner.status());
    this.#parts.log.info({ partition }, 'a partition is released');
  }

  async onBatch({ partition, records, highWatermark }: RecordBatch): Promise<void> {
    const owned = this.#owned.get(partition);
    if (owned === undefined) throw new Fault('not_owned', 'release', { facts: { partition } });
    await owned.runner.take({ records, highWatermark });
  }

  /** A fault of the group or of one partition; also told by runners about what failed between two batches. */
  onFault(error: unknown, partition: number | null): void {
    if (this.#ending) return;
    const ownFault = error instanceof Fault && partitionCodes.includes(error.code);
    if (!ownFault && reactionTo(error) === 'stop') {
      this.#parts.onStop(error);
      return;
    }
    const owned = partition === null ? undefined : this.#owned.get(partition);
    if (partition === null || owned === undefined) {
      this.#parts.log.warn({ err: error }, 'the group has trouble');
      return;
    }
    owned.runner.fail(error);
    this.#group?.release(partition);
    this.#restoreLater(partition, owned);
  }

  /** For lag displays only: a restart never looks at it. */
  onStored(partition: number, nextOffset: number): void {
    const owned = this.#owned.get(partition);
    const nowMs = this.#parts.nowMs();
    if (owned === undefined || nowMs - owned.committedAtMs < commitEveryMs) return;
    owned.committedAtMs = nowMs;
    this.#group?.commit(partition, nextOffset, '').catch((error: unknown) => {
      this.#parts.log.debug({ partition, err: error }, 'a position was not committed');
    });
  }

  status(): readonly PartitionStatus[] {
    const owned = [...this.#owned.values()].map(({ runner }) => runner.status());
    return [...owned, ...this.#released.values()].sort((a, b) => a.partition - b.partition);
  }

  /**
   * Ready when in the group and every owned partition is live; an instance without partitions is a spare, and ready.
   */
  readiness(): Readiness {
    const reasons = this.#group === null ? ['group'] : [];
    for (const [partition, { runner }] of this.#owned) {
      if (runner.state !== 'live') reasons.push(`${runner.state}:${partition}`);
    }
    return { ready: reasons.length === 0, reasons };
  }

  #restoreLater(partition: number, owned: Owned): void {
    if (owned.timer !== undefined) return;
    const { waits, log } = this.#parts;
    const nowMs = this.#parts.nowMs();
    const calm = nowMs - owned.failedAtMs > waits.calmMs + owned.waitMs;
    owned.waitMs = calm ? waits.firstMs : Math.min(owned.waitMs * 2, waits.maxMs);
    owned.failedAtMs = nowMs;
    log.warn({ partition, waitMs: owned.waitMs }, 'a partition will be restored');
    owned.timer = setTimeout(() => {
      owned.timer = undefined;
      if (this.#owned.get(partition) !== owned || this.#ending) return;
      if (this.#group === null) this.#restoreLater(partition, owned);
      else void this.#group.restore(partition);
    }, owned.waitMs);
  }

  #beatAll(): void {
    const nowMs = this.#parts.nowMs();
    for (const { runner } of this.#owned.values()) runner.beat(nowMs);
  }
}
