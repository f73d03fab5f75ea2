import { Fault, reactionTo } from '@pm/kit/fault';
import type { Readiness, Serving } from '@pm/kit/health';
import type { GroupOptions, PartitionGroup, RecordBatch } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { PartitionStatus } from './lifecycle.ts';
import type { OwnedPartition } from './owned-partition.io.ts';

/** Waits before a failed partition is restored again, milliseconds: doubled from `firstMs` up to `maxMs`. */
interface RestoreWaits {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Longest wait while the log is away: a restore that finds it away costs nothing, and it may be back any moment. */
  readonly awayMaxMs: number;
  /** A partition that ran this long without a fault starts again with the first wait. */
  readonly calmMs: number;
}

interface PartitionOwnershipParts {
  readonly log: Log;
  readonly waits: RestoreWaits;
  monotonicMs(): number;
  openPartition(partition: number): OwnedPartition;
  /** Whether set-up has opened the partition; nothing is read or written before. */
  isOpened(partition: number): boolean;
  /** Name of this process, by which displays know the owner of a partition. */
  readonly instance: string;
  /** A fault that stops the process. */
  onStop(error: unknown): void;
}

/** How often due ticks and claims are published, milliseconds. */
const tickCheckMs = 25;
/** How often a position is committed, milliseconds: displays of lag read it, and the name of the owner with it. */
const commitEveryMs = 5_000;

/** Faults of the log client that stop one partition: its records may come back, the other partitions go on. */
const partitionCodes = ['offset_gap', 'offset_out_of_range', 'partition_unknown', 'reader_stalled'];

/** Faults of one partition while brokers are away, beside those whose reaction is `retry`. */
const awayCodes = ['assign_failed', 'send_outcome_unknown', 'send_given_up'];

function isLogAway(error: unknown): boolean {
  if (reactionTo(error) === 'retry') return true;
  return error instanceof Fault && awayCodes.includes(error.code);
}

interface Entry {
  readonly owned: OwnedPartition;
  waitMs: number;
  failedAtMs: number;
  timer: NodeJS.Timeout | undefined;
  committedAtMs: number;
}

type GroupHooks = Pick<GroupOptions, 'onAssigned' | 'onRevoked' | 'onBatch' | 'onFault'>;

/**
 * The partitions of which the consumer group places a replica in this process: opens each, passes its records on, and
 * restores it after a fault while the others go on.
 */
export class PartitionOwnership implements GroupHooks {
  readonly #parts: PartitionOwnershipParts;
  readonly #entries = new Map<number, Entry>();
  readonly #released = new Map<number, PartitionStatus>();
  readonly #unopened = new Set<number>();
  #group: PartitionGroup | null = null;
  #ending = false;
  #tickCheck: NodeJS.Timeout | undefined;

  constructor(parts: PartitionOwnershipParts) {
    this.#parts = parts;
  }

  /** False when a partition that is being restored went to another owner meanwhile, or the process ends. */
  isWanted(partition: number): boolean {
    if (this.#ending) return false;
    return this.#group === null || this.#group.owned().includes(partition);
  }

  /** Whether a partition is placed here first, not as a standby. */
  isPreferred(partition: number): boolean {
    return this.#group?.isPreferred(partition) ?? false;
  }

  /** As of the group. */
  readThroughMs(partition: number): number {
    return this.#group?.readThroughMs(partition) ?? Number.NEGATIVE_INFINITY;
  }

  /** Joins the group that `open` opens with the hooks of this object. */
  async start(open: (hooks: GroupHooks) => Promise<PartitionGroup>): Promise<void> {
    this.#tickCheck = setInterval(() => this.#publishWhatIsDue(), tickCheckMs);
    this.#group = await open({
      onAssigned: (partition) => this.onAssigned(partition),
      onRevoked: (partition) => this.onRevoked(partition),
      onBatch: (batch) => this.onBatch(batch),
      onFault: (fault, partition) => this.onFault(fault, partition),
    });
  }

  /** Releases all partitions with a last snapshot each, and leaves the group. */
  async close(): Promise<void> {
    this.#ending = true;
    clearInterval(this.#tickCheck);
    for (const { owned } of this.#entries.values()) owned.stopWaiting();
    await this.#group?.close();
    this.#group = null;
  }

  /** Rejects with `partition_not_opened` (release) while it is not opened; it is restored when it is. */
  async onAssigned(partition: number): Promise<number> {
    const { waits } = this.#parts;
    if (!this.#parts.isOpened(partition)) throw this.#notOpened(partition);
    const entry: Entry = this.#entries.get(partition) ?? {
      owned: this.#parts.openPartition(partition),
      waitMs: waits.firstMs,
      failedAtMs: Number.NEGATIVE_INFINITY,
      timer: undefined,
      committedAtMs: Number.NEGATIVE_INFINITY,
    };
    this.#entries.set(partition, entry);
    this.#released.delete(partition);
    const from = await entry.owned.restore();
    this.#parts.log.info({ partition, from }, 'a partition is live');
    return from;
  }

  async onRevoked(partition: number): Promise<void> {
    this.#unopened.delete(partition);
    const entry = this.#entries.get(partition);
    if (entry === undefined) return;
    clearTimeout(entry.timer);
    this.#entries.delete(partition);
    await entry.owned.stop();
    this.#released.set(partition, entry.owned.status());
    this.#parts.log.info({ partition }, 'a partition is released');
  }

  async onBatch({ partition, records, highWatermark }: RecordBatch): Promise<void> {
    const entry = this.#entries.get(partition);
    if (entry === undefined) throw new Fault('not_owned', 'release', { facts: { partition } });
    await entry.owned.process({ records, highWatermark });
  }

  /** A fault of the group or of one partition; partitions report here also what failed between two batches. */
  onFault(error: unknown, partition: number | null): void {
    if (this.#ending || (partition !== null && this.#unopened.has(partition))) return;
    const ownFault = error instanceof Fault && partitionCodes.includes(error.code);
    if (!ownFault && reactionTo(error) === 'stop') {
      this.#parts.onStop(error);
      return;
    }
    const entry = partition === null ? undefined : this.#entries.get(partition);
    if (partition === null || entry === undefined) {
      this.#parts.log.warn({ err: error }, 'a fault of the group');
      return;
    }
    entry.owned.fail(error);
    this.#group?.release(partition);
    const { maxMs, awayMaxMs } = this.#parts.waits;
    this.#restoreLater(partition, entry, isLogAway(error) ? awayMaxMs : maxMs);
  }

  /** Commits the position of an owner with its name, for displays only: a restart never reads it. */
  onStored(partition: number, nextOffset: number): void {
    const entry = this.#entries.get(partition);
    const nowMs = this.#parts.monotonicMs();
    if (entry === undefined || nowMs - entry.committedAtMs < commitEveryMs) return;
    entry.committedAtMs = nowMs;
    this.#group?.commit(partition, nextOffset, this.#parts.instance).catch((error: unknown) => {
      this.#parts.log.debug({ partition, err: error }, 'a position was not committed');
    });
  }

  status(): readonly PartitionStatus[] {
    const current = [...this.#entries.values()].map(({ owned }) => owned.status());
    return [...current, ...this.#released.values()].sort((a, b) => a.partition - b.partition);
  }

  /** Partitions that are placed here and not opened, in order: topics have more than set-up has opened. */
  get unopened(): readonly number[] {
    return [...this.#unopened].sort((one, other) => one - other);
  }

  /**
   * Ready in the group when every replica is live and there are no `others` reasons; a process without partitions is a
   * spare one, and ready. Partitions that are not opened are named, and keep nothing from being ready.
   */
  readiness(others: readonly string[] = []): Readiness {
    const reasons = [...(this.#group === null ? ['group'] : []), ...others];
    for (const [partition, { owned }] of this.#entries) {
      if (owned.state !== 'live') reasons.push(`${owned.state}:${partition}`);
    }
    const unopened = this.unopened.map((partition) => `unopened:${partition}`);
    return { ready: reasons.length === 0, reasons: [...reasons, ...unopened] };
  }

  /** Serves while it is in the group with a live partition, or with none at all: others have them. */
  serving(others: readonly string[] = []): Serving {
    const entries = [...this.#entries.values()];
    const isUsed = entries.length === 0 || entries.some(({ owned }) => owned.state === 'live');
    return { serving: this.#group !== null && isUsed, reasons: this.readiness(others).reasons };
  }

  #restoreLater(partition: number, entry: Entry, maxMs: number): void {
    if (entry.timer !== undefined) return;
    const { waits, log } = this.#parts;
    const nowMs = this.#parts.monotonicMs();
    const calm = nowMs - entry.failedAtMs > waits.calmMs + entry.waitMs;
    entry.waitMs = calm ? waits.firstMs : Math.min(entry.waitMs * 2, maxMs);
    entry.failedAtMs = nowMs;
    log.warn({ partition, waitMs: entry.waitMs }, 'a partition will be restored');
    entry.timer = setTimeout(() => {
      entry.timer = undefined;
      if (this.#entries.get(partition) !== entry || this.#ending) return;
      if (this.#group === null) this.#restoreLater(partition, entry, maxMs);
      else void this.#group.restore(partition);
    }, entry.waitMs);
  }

  #notOpened(partition: number): Fault {
    const isKnown = this.#unopened.has(partition);
    this.#unopened.add(partition);
    const text = 'a partition is not opened and takes no market: run set-up, which opens it';
    if (!isKnown) this.#parts.log.warn({ partition }, text);
    return new Fault('partition_not_opened', 'release', { facts: { partition } });
  }

  #startOpened(): void {
    for (const partition of this.#unopened) {
      if (this.#group === null || !this.#parts.isOpened(partition)) continue;
      this.#unopened.delete(partition);
      this.#parts.log.info({ partition }, 'a partition was opened');
      void this.#group.restore(partition);
    }
  }

  #publishWhatIsDue(): void {
    this.#startOpened();
    for (const [partition, { owned }] of this.#entries) {
      owned.publishDueTick();
      void owned.claimIfDue();
      if (!this.isWanted(partition)) owned.stopWaiting();
    }
  }
}
