import type { Cluster, Consumer, Kafka } from 'kafkajs';
import { Fault, within } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import { retryOptions } from './kafkajs-connection.io.ts';
import { failureOf, isPassing } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import { processMark } from './process-mark.io.ts';
import type { MemberClaim } from './sticky-assignment.ts';
import { stickyAssignor } from './sticky-assignor.io.ts';
import { closeWithin, pause } from './waiting.io.ts';

/** A member's place in one generation of its group; a commit carries both, and the broker refuses any other. */
export interface MemberPlace {
  readonly memberId: string;
  readonly generation: number;
}

/** Partitions that a member is given. */
export interface Placement {
  readonly partitions: readonly number[];
  /** Of these it has the second replica. */
  readonly standbys: readonly number[];
}

export interface MembershipOptions {
  readonly groupId: string;
  readonly topic: string;
  /** Second replicas are placed too, as partitions of this topic, which has as many; nothing of it is read here. */
  readonly standbyTopic?: string | undefined;
  readonly instance: string;
  readonly sessionTimeoutMs: number;
  /** The partitions this member has now, sent to the group's leader at each rebalance. */
  placed(): Placement;
  /**
   * Called at each join, before anything else happens; `sameMember` is false when others may have owned our
   * partitions since.
   */
  onJoined(placement: Placement, sameMember: boolean): void;
  /** The member is out of its group: it left, crashed, or was silent for a whole session. */
  onLost(): void;
  onFault(fault: Fault): void;
  /** Called once, when the first join begins. */
  whileJoining?(): Promise<void>;
  /** Called while this process joins again as another member: takes its former one out of the group. Never rejects. */
  removeFormer?(memberId: string): Promise<void>;
}

export interface MembershipParts {
  readonly kafka: Kafka;
  readonly limits: LogClientLimits;
  readonly log: Log;
}

/** Interval of the member's own loop, milliseconds; it reads nothing, so this only limits the delay of heartbeats. */
const loopMs = 100;

/** What a broker answers to a session shorter than it allows, and the shortest by its default, milliseconds. */
const sessionRefused = 'INVALID_SESSION_TIMEOUT';
const brokerSessionMinMs = 6_000;

/** Kafka's number of coordinators of groups. */
const ofGroups = 0;

/**
 * Membership of a consumer group and nothing else. Its kafkajs consumer has every partition paused, so it joins, sends
 * heartbeats and commits but reads nothing: records come from a `TopicReader`, which a rebalance does not interrupt.
 */
export class Membership {
  readonly #parts: MembershipParts;
  readonly #options: MembershipOptions;
  #consumer: Consumer | null = null;
  #cluster: Cluster | null = null;
  #memberId: string | null = null;
  #generation = -1;
  /** False between a join and its first heartbeat, which carries the generation. */
  #generationKnown = false;
  #lastContactMs = 0;
  /** The newest assignment, still in force as long as heartbeats with its member id succeed. */
  #assignment: { memberId: string; placement: Placement } | null = null;
  #crashes = 0;
  /** The broker that coordinates the group, as of the newest join; null while it is not known. */
  #coordinatorNode: number | null = null;
  #isLooking = false;
  #sessionMs: number;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(parts: MembershipParts, options: MembershipOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#sessionMs = options.sessionTimeoutMs;
  }

  get memberId(): string | null {
    return this.#memberId;
  }

  /** Our place, once its generation is known. */
  place(): MemberPlace | null {
    if (this.#memberId === null || !this.#generationKnown) return null;
    return { memberId: this.#memberId, generation: this.#generation };
  }

  /** Whether the broker still counts this member, by our own clock. */
  alive(): boolean {
    return this.#memberId !== null && performance.now() - this.#lastContactMs < this.#sessionMs;
  }

  /**
   * Resolves after the first join; a run that crashes before it is restarted, as on a broker that still loads its
   * groups. Rejects with `group_unreachable` (retry) when there is none within `rebalanceTimeoutMs`.
   */
  async start(): Promise<void> {
    await Promise.all([this.#run(), this.#options.whileJoining?.()]);
    await this.#firstJoin();
    if (this.#memberId === null)
      throw new Fault('group_unreachable', 'retry', { facts: { groupId: this.#options.groupId } });
    this.#timer = setInterval(() => this.#checkSession(), this.#sessionMs / 10);
  }

  /** A connection to the group's coordinator. */
  async coordinator() {
    const cluster = this.#cluster;
    if (cluster === null) throw new Fault('ownership_lost', 'release');
    return cluster.findGroupCoordinator({ groupId: this.#options.groupId });
  }

  forgetCoordinator(error: unknown): void {
    const { host, port } = failureOf(error);
    if (host !== null && port !== null) this.#cluster?.removeBroker({ host, port });
  }

  /** Leaves the group, so that the others need not wait for the session to end. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#memberId = null;
    const leaving = this.#consumer?.disconnect() ?? Promise.resolve();
    await closeWithin(leaving, this.#parts.limits.closeTimeoutMs);
  }

  async #firstJoin(): Promise<void> {
    const { initialRetryMs, maxGroupRestarts, rebalanceTimeoutMs } = this.#parts.limits;
    const waitUntil = performance.now() + rebalanceTimeoutMs;
    while (this.#memberId === null && performance.now() < waitUntil) {
      if (this.#closed || this.#crashes > maxGroupRestarts) return;
      await pause(initialRetryMs);
    }
  }

  async #run(): Promise<void> {
    const consumer = this.#open();
    this.#consumer = consumer;
    const { GROUP_JOIN, HEARTBEAT, CRASH } = consumer.events;
    const { topic, standbyTopic = '' } = this.#options;
    const topics = standbyTopic === '' ? [topic] : [topic, standbyTopic];
    // One that was replaced ends some time later.
    const isCurrent = () => this.#consumer === consumer;
    consumer.on(GROUP_JOIN, ({ payload: { memberId, memberAssignment: given } }) => {
      consumer.pause(topics.map((one) => ({ topic: one })));
      if (!isCurrent()) return;
      const [partitions, standbys] = [given[topic] ?? [], given[standbyTopic] ?? []];
      this.#joined(memberId, { partitions: ascending(partitions), standbys: ascending(standbys) });
    });
    consumer.on(HEARTBEAT, ({ payload }) => {
      if (isCurrent()) this.#heard(payload.memberId, payload.groupGenerationId);
    });
    consumer.on(CRASH, ({ payload }) => {
      if (isCurrent()) this.#crashed(payload.error);
    });
    await consumer.connect();
    await consumer.subscribe({ topics });
    await consumer.run({ autoCommit: false, eachBatch: async () => {} });
  }

  #open(): Consumer {
    const { kafka, limits } = this.#parts;
    const { groupId, topic, standbyTopic } = this.#options;
    return kafka.consumer({
      groupId,
      sessionTimeout: this.#sessionMs,
      heartbeatInterval: Math.min(limits.heartbeatMs, this.#sessionMs / 3),
      rebalanceTimeout: limits.rebalanceTimeoutMs,
      maxWaitTimeInMs: loopMs,
      // Added partitions are noticed within this time.
      metadataMaxAge: limits.metadataMaxAgeMs,
      allowAutoTopicCreation: false,
      // We restart the consumer: kafkajs' own restarts have no limit and do not report the lost partitions.
      retry: { ...retryOptions(limits), restartOnFailure: async () => false },
      partitionAssigners: [
        ({ cluster }) => {
          this.#cluster = cluster;
          const partitionCount = () => cluster.findTopicPartitionMetadata(topic).length;
          const present = () => this.#claim();
          return stickyAssignor({ topic, standbyTopic, present, partitionCount });
        },
      ],
    });
  }

  #claim(): Omit<MemberClaim, 'memberId'> {
    const { instance, placed, standbyTopic } = this.#options;
    const process = processMark() ?? '';
    const { partitions: owned, standbys } = placed();
    const second = standbyTopic !== undefined && { standbys };
    return { instance, process, generation: this.#generation, owned, ...second };
  }

  #joined(memberId: string, placement: Placement): void {
    if (this.#closed) return;
    const sameMember = memberId === this.#memberId && this.alive();
    this.#memberId = memberId;
    this.#assignment = { memberId, placement };
    this.#generationKnown = false;
    this.#lastContactMs = performance.now();
    void this.#noteCoordinator();
    this.#options.onJoined(placement, sameMember);
  }

  #heard(memberId: string, generation: number): void {
    // Given up after a silence, but the broker (which was unavailable) still counts this member: take the partitions
    // again.
    if (this.#memberId === null && this.#assignment?.memberId === memberId)
      this.#joined(memberId, this.#assignment.placement);
    if (memberId !== this.#memberId) return;
    this.#generation = generation;
    this.#generationKnown = true;
    this.#lastContactMs = performance.now();
    this.#crashes = 0;
  }

  /** A whole session without contact: the broker has given our partitions to others, even if it cannot report that. */
  #checkSession(): void {
    const silentMs = performance.now() - this.#lastContactMs;
    if (silentMs > this.#sessionMs / 2) void this.#followCoordinator();
    if (this.#memberId === null || this.alive()) return;
    this.#parts.log.error(
      { groupId: this.#options.groupId },
      'no heartbeat for a whole session, giving all partitions up',
    );
    this.#lose();
  }

  async #noteCoordinator(): Promise<void> {
    this.#coordinatorNode = null;
    this.#coordinatorNode = await this.#findCoordinatorNode().catch(() => null);
  }

  async #findCoordinatorNode(): Promise<number> {
    const cluster = this.#cluster;
    if (cluster === null) throw new Fault('ownership_lost', 'release');
    const late = () => new Error('no answer');
    // Its types lack the second field, without which kafkajs sends none.
    const asked = { groupId: this.#options.groupId, coordinatorType: ofGroups };
    const asking = cluster.findGroupCoordinatorMetadata(asked);
    const { coordinator } = await within(asking, this.#parts.limits.metadataTimeoutMs, late);
    return coordinator.nodeId;
  }

  /**
   * kafkajs keeps to the coordinator of the join and crashes after many tries of a dead one. Where another broker
   * coordinates the group by now, this process joins again as another member.
   */
  async #followCoordinator(): Promise<void> {
    const known = this.#coordinatorNode;
    if (this.#isLooking || this.#closed || known === null) return;
    this.#isLooking = true;
    const heardMs = this.#lastContactMs;
    const node = await this.#findCoordinatorNode().catch(() => known);
    this.#isLooking = false;
    if (this.#closed || node === known || this.#lastContactMs !== heardMs) return;
    const { groupId } = this.#options;
    this.#parts.log.warn({ groupId, from: known, to: node }, 'the coordinator has moved');
    const former = this.#assignment?.memberId;
    void this.#consumer?.disconnect().catch(() => {});
    this.#consumer = null;
    this.#assignment = null;
    this.#coordinatorNode = null;
    this.#lose();
    void this.#restart();
    if (former !== undefined) void this.#options.removeFormer?.(former);
  }

  #lose(): void {
    this.#memberId = null;
    this.#generationKnown = false;
    this.#options.onLost();
  }

  #crashed(error: Error): void {
    if (this.#closed) return;
    const { limits, log } = this.#parts;
    const { groupId } = this.#options;
    const { name, type } = failureOf(error);
    this.#crashes += 1;
    if (type === sessionRefused && this.#sessionMs < brokerSessionMinMs) this.#lengthenSession();
    this.#assignment = null;
    log.warn({ groupId, cause: name, type, crashes: this.#crashes }, 'the group member crashed');
    this.#lose();
    // While the log is away there is nothing to give up for: each run waits for a connection with growing pauses.
    if (isPassing(error) || this.#crashes <= limits.maxGroupRestarts) void this.#restart();
    else
      this.#options.onFault(
        new Fault('group_crashed', 'stop', { facts: { groupId, cause: name }, cause: error }),
      );
  }

  /** The broker allows no session as short as the one that was asked for. */
  #lengthenSession(): void {
    const facts = { askedMs: this.#sessionMs, sessionMs: brokerSessionMinMs };
    this.#sessionMs = brokerSessionMinMs;
    const setting = 'group.min.session.timeout.ms';
    this.#parts.log.warn({ ...facts, setting }, 'the broker allows longer sessions only');
  }

  async #restart(): Promise<void> {
    const { initialRetryMs, maxRetryMs } = this.#parts.limits;
    await pause(Math.min(initialRetryMs * 2 ** Math.min(this.#crashes, 16), maxRetryMs));
    if (this.#closed) return;
    try {
      await this.#run();
    } catch (error) {
      this.#crashed(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

function ascending(partitions: readonly number[]): readonly number[] {
  return [...partitions].sort((a, b) => a - b);
}
