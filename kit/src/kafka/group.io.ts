import type { Admin, Kafka } from 'kafkajs';
import { Fault } from '../fault/index.ts';
import { type DeadMembers, openDeadMembers } from './dead-members.io.ts';
import { type CommittedPosition, GroupCommits } from './group-commits.io.ts';
import { Membership, type MembershipParts } from './membership.io.ts';
import type { Placement } from './membership-session.ts';
import { OwnedPartition } from './owned-partition.io.ts';
import type { RecordBatch } from './records.ts';
import type { Shared } from './shared.io.ts';
import type { SharedFetchers } from './shared-fetchers.io.ts';
import { defaultMaxWaitMs, TopicReader } from './topic-reader.io.ts';
import { Turns } from './waiting.io.ts';

/** Ownership of partitions that are distributed among the members of a group. */
export interface GroupOptions {
  readonly groupId: string;
  readonly topic: string;
  /**
   * The group only places replicas: each partition at one member, and a second replica at another one that names this
   * topic too. It has as many partitions, by which assignments name second replicas; nothing of it is read. Partitions
   * that were placed go on until the next placement, also out of the group: who may write is decided elsewhere.
   */
  readonly standbyTopic?: string | undefined;
  /**
   * A partition has become ours: the first offset to read, or `committed` for the group's last commit (the start of
   * the partition when there is none). Called before any batch of it, may take long: heartbeats and the other
   * partitions go on. A rejection is a fault of this partition.
   */
  onAssigned(partition: number): Promise<number | 'committed'>;
  /**
   * The partition is no longer ours; no batch of it is delivered after the call. A rejection is logged. Called once
   * per ended ownership.
   */
  onRevoked(partition: number): Promise<void>;
  /** As for readers. Must not wait for `close()` of its own group. */
  onBatch(batch: RecordBatch): Promise<void>;
  readonly dense: boolean;
  /**
   * With `facts.partition`: that partition has stopped (`offset_gap`, `offset_out_of_range`, `handler_failed`,
   * `assign_failed`, or the handler's own fault), the others go on; `restore` starts it again. `reader_stalled`
   * (retry): nothing of that partition is read at the moment, and the group goes on trying. `assign_failed` is
   * `release` while the log is away, and `stop` for what was not foreseen. `group_crashed` (stop): no more restarts.
   */
  onFault(fault: Fault, partition: number | null): void;
  /**
   * Silence after which the broker gives our partitions to others, 1,000 to 10,000 milliseconds; default 3,000. Where
   * the broker allows no session as short (`group.min.session.timeout.ms`), it is 6,000.
   */
  readonly sessionTimeoutMs?: number;
  /** Member name seen by the others. */
  readonly instance?: string;
  /** As for readers, from 50 milliseconds. */
  readonly maxWaitMs?: number;
  /** As for readers. */
  readonly restMs?: number;
  /** Reads together with the other groups of this process that do and have the same `restMs`. */
  readonly shares?: boolean;
}

export interface PartitionGroup {
  /** `null` while out of the group. */
  readonly memberId: string | null;
  /** Ours now, also those that are being restored, and second replicas. */
  owned(): readonly number[];
  /** Whether the partition is placed here, and not as a second replica; never out of the group. */
  isPreferred(partition: number): boolean;
  /**
   * When the newest fetch of a partition of ours began, `performance.now()`, if it left nothing that is not handled by
   * now; -Infinity otherwise.
   */
  readThroughMs(partition: number): number;
  /** As of readers, of a partition of ours; -Infinity while it is not read. */
  answeredMs(partition: number): number;
  /**
   * Generation-checked: rejects with `ownership_lost` (release) when the partition is not, or no longer, ours; the
   * position of a later owner never moves. `commit_outcome_unknown` (release) after `commitTimeoutMs`.
   */
  commit(partition: number, offset: number, metadata: string): Promise<void>;
  /** The newest commit of any member. */
  committed(partition: number): Promise<CommittedPosition | null>;
  /** Stops the delivery of one partition after a release fault; may be called from its handler. It stays ours. */
  release(partition: number): void;
  /**
   * Starts a released or faulty partition again from the offset that `onAssigned` returns; must not be awaited in its
   * handler.
   */
  restore(partition: number): Promise<void>;
  /** Revokes all, leaves the group so that others take over at once, closes. */
  close(): Promise<void>;
}

const defaultSessionMs = 3_000;

/** Parts of the client that its groups need. */
export interface GroupParts extends MembershipParts {
  readonly kafka: Kafka;
  readonly shared: SharedFetchers;
  readonly admin: Shared<Admin>;
}

/** Resolves after the first join; `onAssigned` calls may still be running. Rejects with `group_unreachable` (retry). */
export async function openGroup(parts: GroupParts, options: GroupOptions): Promise<PartitionGroup> {
  const { kafka, limits, log, shared, admin } = parts;
  const { maxWaitMs = defaultMaxWaitMs, restMs = 0 } = options;
  const waits = { maxWaitMs, restMs };
  const reader = new TopicReader(kafka, limits, {
    topic: options.topic,
    ...waits,
    log,
    onStall: (fault, partition) => options.onFault(fault, partition),
  });
  const { groupId, topic } = options;
  const { members: dead, close: closeDead } = openDeadMembers(parts, groupId);
  const commitsBy = (connection: Admin) => (membership: Membership) =>
    new GroupCommits(membership, connection, { groupId, topic, limits });
  const begin = [
    admin.join(),
    reader.connect(options.shares === true ? shared.of(waits) : undefined),
    dead.find(),
  ] as const;
  let opened: Pick<PartitionGroup, 'close'> = reader;
  try {
    const [connection] = await Promise.all(begin);
    const uses = { reader, dead, commitsBy: commitsBy(connection) };
    const group = new StickyGroup(parts, options, uses);
    const close = group.close.bind(group);
    group.close = () => close().finally(() => admin.leave());
    opened = group;
    await group.start();
    return group;
  } catch (error) {
    await Promise.allSettled(begin);
    await opened.close();
    if (opened === reader) await admin.leave();
    throw error;
  } finally {
    closeDead();
  }
}

async function removeFormer(parts: GroupParts, groupId: string, memberId: string): Promise<void> {
  const { members, close } = openDeadMembers(parts, groupId);
  members.take(memberId);
  await members.evict();
  close();
}

/** Dependencies of a group for reading and committing. */
interface StickyParts {
  readonly reader: TopicReader;
  readonly dead: DeadMembers;
  commitsBy(membership: Membership): GroupCommits;
}

class StickyGroup implements PartitionGroup {
  readonly #parts: MembershipParts;
  readonly #options: GroupOptions;
  readonly #reader: TopicReader;
  readonly #membership: Membership;
  readonly #commits: GroupCommits;
  readonly #owned = new Map<number, OwnedPartition>();
  /** Revocations that have not ended, the newest of each partition; it ends after the earlier ones. */
  readonly #revoking = new Map<number, Promise<void>>();
  readonly #restores: Turns;
  #placement: Placement = { partitions: [], standbys: [] };

  constructor(parts: GroupParts, options: GroupOptions, { reader, dead, commitsBy }: StickyParts) {
    this.#parts = parts;
    this.#options = options;
    this.#restores = new Turns(parts.limits.restoresAtOnce);
    this.#reader = reader;
    this.#membership = new Membership(parts, {
      groupId: options.groupId,
      topic: options.topic,
      instance: options.instance ?? '',
      sessionTimeoutMs: options.sessionTimeoutMs ?? defaultSessionMs,
      standbyTopic: options.standbyTopic,
      placed: () => this.#placement,
      onJoined: (placement, sameMember) => this.#joined(placement, sameMember),
      onLost: () => this.#lost(),
      onFault: (fault) => options.onFault(fault, null),
      onHeard: () => this.#wake(),
      hasPartition: async (one) => (await reader.bounds([one])).has(one),
      whileJoining: () => dead.evict(),
      removeFormer: (memberId) => removeFormer(parts, options.groupId, memberId),
    });
    this.#commits = commitsBy(this.#membership);
  }

  start(): Promise<void> {
    return this.#membership.start();
  }

  get memberId(): string | null {
    return this.#membership.memberId;
  }

  owned(): readonly number[] {
    return [...this.#owned.keys()].sort((a, b) => a - b);
  }

  isPreferred(partition: number): boolean {
    return this.#membership.alive() && this.#placement.partitions.includes(partition);
  }

  readThroughMs(partition: number): number {
    return this.#owned.get(partition)?.readThroughMs ?? Number.NEGATIVE_INFINITY;
  }

  answeredMs(partition: number): number {
    return this.#reader.answeredMs(partition);
  }

  async commit(partition: number, offset: number, metadata: string): Promise<void> {
    const held = this.#owned.get(partition);
    const stillOwned = () =>
      held?.owned === true && this.#owned.get(partition) === held && this.#membership.alive();
    await this.#commits.commit({ partition, offset, metadata, stillOwned });
  }

  committed(partition: number): Promise<CommittedPosition | null> {
    return this.#commits.committed(partition);
  }

  release(partition: number): void {
    this.#owned.get(partition)?.pause();
  }

  async restore(partition: number): Promise<void> {
    await this.#owned.get(partition)?.restore();
  }

  async close(): Promise<void> {
    this.#revokeAll();
    await Promise.all(this.#revoking.values());
    await this.#membership.close();
    // A join that was under way may have brought partitions after the first call.
    this.#revokeAll();
    await Promise.all(this.#revoking.values());
    await this.#reader.close();
  }

  /** Kept partitions are not touched; one that is gained again waits for the end of its own revocation. */
  #joined(placement: Placement, sameMember: boolean): void {
    const { groupId, topic } = this.#options;
    const { partitions, standbys } = placement;
    const all = [...partitions, ...standbys.filter((one) => !partitions.includes(one))];
    const keeps = sameMember || this.#onlyPlaces;
    for (const partition of this.owned())
      if (!keeps || !all.includes(partition)) this.#revoke(partition);
    this.#placement = placement;
    for (const partition of all)
      if (!this.#owned.has(partition)) this.#owned.set(partition, this.#take(partition));
    const facts = { owned: partitions.length, standbys: standbys.length };
    this.#parts.log.info({ groupId, topic, ...facts }, 'joined the group');
  }

  get #onlyPlaces(): boolean {
    return this.#options.standbyTopic !== undefined;
  }

  #lost(): void {
    if (!this.#onlyPlaces) this.#revokeAll();
  }

  /** Records that waited while the member was not heard are delivered. */
  #wake(): void {
    for (const owned of this.#owned.values()) owned.wake();
  }

  #take(partition: number): OwnedPartition {
    const hooks = {
      onAssigned: () =>
        this.#restores.run(async () =>
          this.#firstOffset(partition, await this.#options.onAssigned(partition)),
        ),
      onRevoked: () => this.#options.onRevoked(partition),
      open: (from: number) => this.#open(partition, from),
      remove: this.#reader.remove.bind(this.#reader),
      onFault: (fault: Fault) => this.#options.onFault(fault, partition),
    };
    const ready = this.#revoking.get(partition) ?? Promise.resolve();
    return new OwnedPartition(partition, hooks, ready);
  }

  async #firstOffset(partition: number, first: number | 'committed'): Promise<number> {
    if (first !== 'committed') return first;
    const committed = await this.#commits.committed(partition);
    if (committed !== null) return committed.offset;
    const low = (await this.#reader.bounds([partition])).get(partition)?.low;
    if (low !== undefined) return low;
    throw new Fault('partition_unknown', 'stop', {
      facts: { topic: this.#options.topic, partition },
    });
  }

  async #open(partition: number, from: number) {
    const { dense, onBatch, onFault } = this.#options;
    await this.#reader.assertWithinBounds(new Map([[partition, from]]));
    return this.#reader.add({
      partition,
      from,
      dense,
      mayDeliver: () => this.#onlyPlaces || this.#membership.alive(),
      onBatch: (batch) => onBatch(batch),
      onFault: (fault) => onFault(fault, partition),
    });
  }

  #revokeAll(): void {
    this.#placement = { partitions: [], standbys: [] };
    for (const partition of this.owned()) this.#revoke(partition);
  }

  #revoke(partition: number): void {
    const held = this.#owned.get(partition);
    this.#owned.delete(partition);
    if (held === undefined) return;
    const revoking = held.revoke().catch((error: unknown) => {
      this.#parts.log.error({ partition, err: error }, 'a revocation failed');
    });
    const tracked: Promise<void> = revoking.finally(() => {
      if (this.#revoking.get(partition) === tracked) this.#revoking.delete(partition);
    });
    this.#revoking.set(partition, tracked);
  }
}
