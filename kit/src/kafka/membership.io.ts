import type { Kafka } from 'kafkajs';
import { Fault, within } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import { type ConsumerEnd, GroupConsumer } from './group-consumer.io.ts';
import { failureOf, isPassing, NoResponse } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import { type MemberPlace, MembershipSession, type Placement } from './membership-session.ts';
import { processMark } from './process-mark.io.ts';
import type { MemberClaim } from './sticky-assignment.ts';
import { closeWithin, Wakeup } from './waiting.io.ts';

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
  /** `alive()` is true again after it was not, and nothing was given up: deliveries that waited for it go on. */
  onHeard?(): void;
  /** Called once, when the first join begins. */
  whileJoining?(): Promise<void>;
  /** Called while this process joins again as another member: takes its former one out of the group. Never rejects. */
  removeFormer?(memberId: string): Promise<void>;
  /** Whether the topic has this partition, by a look of its own: kafkajs' looks hold heartbeats up. */
  hasPartition?(partition: number): Promise<boolean>;
}

export interface MembershipParts {
  /** The only part of kafkajs that a member uses. */
  readonly kafka: Pick<Kafka, 'consumer'>;
  readonly limits: LogClientLimits;
  readonly log: Log;
  /** Milliseconds that never run backwards; those of this machine by default. */
  monotonicMs?(): number;
}

/** Looks at the member in one session. */
const looksPerSession = 10;
/** Consumers that are not wanted any more and have not left yet; another one is opened when there are fewer. */
const leavingMax = 4;

/** A broker's code for a session shorter than it allows, and the shortest by its default, milliseconds. */
const sessionRefused = 'INVALID_SESSION_TIMEOUT';
const brokerSessionMinMs = 6_000;

/**
 * Membership of a consumer group and nothing else: its kafkajs consumer joins, sends heartbeats and commits but reads
 * nothing. Records come from a `TopicReader`, which a rebalance does not interrupt. One loop opens the consumer, looks
 * after it, and replaces it; whatever finds it unusable only asks for its end.
 */
export class Membership {
  readonly #parts: MembershipParts;
  readonly #options: MembershipOptions;
  readonly #session: MembershipSession;
  readonly #wakeup = new Wakeup();
  readonly #leaving = new Set<Promise<void>>();
  #consumer: GroupConsumer | null = null;
  #crashes = 0;
  #lookedForPartitionsMs: number;
  #isLookingForPartitions = false;
  #supervising: Promise<void> = Promise.resolve();
  #isSupervised = false;
  /** Why the first consumer could not be opened. */
  #refusal: unknown = null;
  #isFirst = true;
  #closing: Promise<void> | null = null;

  constructor(parts: MembershipParts, options: MembershipOptions) {
    const { sessionTimeoutMs } = options;
    this.#parts = parts;
    this.#options = options;
    this.#session = new MembershipSession(sessionTimeoutMs, parts.limits.rebalanceTimeoutMs);
    this.#lookedForPartitionsMs = this.#monotonicMs();
  }

  get memberId(): string | null {
    return this.#session.memberId;
  }

  /** Our place, once its generation is known. */
  place(): MemberPlace | null {
    return this.#session.place();
  }

  /** Whether the broker still counts this member, by our own clock. */
  alive(): boolean {
    return this.#session.alive(this.#monotonicMs());
  }

  /**
   * Resolves after the first join; a consumer that crashes before it is replaced, as on a broker that still loads its
   * groups. Rejects with `group_unreachable` (retry) when there is none within `rebalanceTimeoutMs`, which others may
   * need to join, and a session; and with what refused the connection or the topic. It is closed then.
   */
  async start(): Promise<void> {
    const { rebalanceTimeoutMs } = this.#parts.limits;
    const untilMs = this.#monotonicMs() + rebalanceTimeoutMs + this.#session.sessionMs;
    this.#isSupervised = true;
    this.#supervising = this.#supervise()
      .catch((error: unknown) => {
        this.#refusal = error;
        this.#giveUp(error);
      })
      .finally(() => {
        this.#isSupervised = false;
        this.#abandon();
        this.#wakeup.wake();
      });
    const isOver = () => this.memberId !== null || !this.#isSupervised;
    await Promise.all([this.#waitUntil(untilMs, isOver), this.#options.whileJoining?.()]);
    if (this.memberId !== null) return;
    await this.close();
    const { groupId } = this.#options;
    throw this.#refusal ?? new Fault('group_unreachable', 'retry', { facts: { groupId } });
  }

  /** A connection to the group's coordinator. */
  async coordinator() {
    if (this.#consumer === null) throw new Fault('ownership_lost', 'release');
    return await this.#consumer.coordinator();
  }

  /** Leaves the group, so that the others need not wait for the session to end; `closeTimeoutMs` at most. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#session.lose();
    this.#consumer?.stop({ reason: 'closed' });
    this.#wakeup.wake();
    const left = this.#supervising.then(() => Promise.all(this.#leaving));
    await closeWithin(left, this.#parts.limits.closeTimeoutMs);
  }

  async #supervise(): Promise<void> {
    let former: string | null = null;
    while (this.#closing === null) {
      const consumer = this.#open();
      this.#consumer = consumer;
      if (former !== null) void this.#options.removeFormer?.(former);
      const end = await this.#lookAfter(consumer);
      this.#abandon();
      if (!this.#mayOpenAnother(end)) return;
      // A crashed one has left, if it could.
      former = end.reason === 'crashed' ? null : (this.#session.assignment?.memberId ?? null);
      await this.#pause();
    }
  }

  async #lookAfter(consumer: GroupConsumer): Promise<ConsumerEnd> {
    while (consumer.end === null) {
      await this.#wakeup.wait(this.#session.sessionMs / looksPerSession);
      if (consumer.end === null) this.#look(consumer);
    }
    return consumer.end;
  }

  /** Has the consumer leave; it is not waited for. */
  #abandon(): void {
    const consumer = this.#consumer;
    if (consumer === null) return;
    this.#consumer = null;
    consumer.stop({ reason: 'closed' });
    const leaving: Promise<void> = consumer.leave().finally(() => {
      this.#leaving.delete(leaving);
      this.#wakeup.wake();
    });
    this.#leaving.add(leaving);
  }

  /** Longer after each crash, and until few enough consumers are still leaving. */
  async #pause(): Promise<void> {
    const { initialRetryMs, maxRetryMs } = this.#parts.limits;
    const pauseMs = Math.min(initialRetryMs * 2 ** Math.min(this.#crashes, 16), maxRetryMs);
    const isClosing = () => this.#closing !== null;
    await this.#waitUntil(this.#monotonicMs() + pauseMs, isClosing);
    const isFree = () => isClosing() || this.#leaving.size < leavingMax;
    await this.#waitUntil(Number.POSITIVE_INFINITY, isFree);
  }

  async #waitUntil(untilMs: number, isOver: () => boolean): Promise<void> {
    const left = () => untilMs - this.#monotonicMs();
    for (let leftMs = left(); leftMs > 0 && !isOver(); leftMs = left())
      await this.#wakeup.wait(Math.min(leftMs, this.#session.sessionMs));
  }

  #open(): GroupConsumer {
    const { kafka, limits } = this.#parts;
    const { groupId, topic, standbyTopic } = this.#options;
    this.#session.begin(this.#monotonicMs());
    return new GroupConsumer({
      kafka,
      limits,
      groupId,
      topic,
      standbyTopic,
      sessionMs: this.#session.sessionMs,
      claim: () => this.#claim(),
      onSyncing: () => this.#session.syncing(this.#monotonicMs()),
      onJoined: (memberId, placement) => this.#joined(memberId, placement),
      onRejoining: () => this.#session.rejoin(this.#monotonicMs()),
      onHeartbeat: (place) => this.#heard(place),
      onEnd: () => {
        this.#lose();
        this.#wakeup.wake();
      },
    });
  }

  #claim(): Omit<MemberClaim, 'memberId'> {
    const { instance, placed, standbyTopic } = this.#options;
    const process = processMark() ?? '';
    const { partitions: owned, standbys } = placed();
    const second = standbyTopic !== undefined && { standbys };
    return { instance, process, generation: this.#session.generation, owned, ...second };
  }

  #joined(memberId: string, placement: Placement): void {
    const sameMember = this.#session.joined({ memberId, placement }, this.#monotonicMs());
    this.#options.onJoined(placement, sameMember);
    // To know the coordinator before it is needed.
    this.#wakeup.wake();
  }

  #heard(place: MemberPlace): void {
    const nowMs = this.#monotonicMs();
    const wasOver = this.#session.isOver(nowMs);
    const taken = this.#session.heard(place, nowMs);
    this.#crashes = 0;
    if (taken !== null) this.#options.onJoined(taken.placement, false);
    else if (wasOver && this.alive()) this.#options.onHeard?.();
  }

  #look(consumer: GroupConsumer): void {
    const nowMs = this.#monotonicMs();
    const { groupId } = this.#options;
    if (this.#session.isOver(nowMs)) {
      const text = 'no heartbeat for a whole session, giving all partitions up';
      this.#parts.log.error({ groupId }, text);
      this.#lose();
    }
    if (this.#session.isStuck(nowMs)) {
      this.#parts.log.warn({ groupId }, 'the group member is silent and is started again');
      consumer.stop({ reason: 'silent' });
      return;
    }
    if (this.#session.assignment === null) return;
    void this.#followCoordinator(consumer);
    void this.#lookForPartitions(consumer, nowMs);
  }

  async #followCoordinator(consumer: GroupConsumer): Promise<void> {
    const isSilent = () => this.#session.isSilent(this.#monotonicMs());
    const hasMoved = await consumer.watch.hasMoved(isSilent());
    if (!hasMoved || consumer.end !== null || !isSilent()) return;
    this.#parts.log.warn({ groupId: this.#options.groupId }, 'the coordinator has moved');
    consumer.stop({ reason: 'moved' });
  }

  /** Added partitions are assigned by a rebalance that any member begins. */
  async #lookForPartitions(consumer: GroupConsumer, nowMs: number): Promise<void> {
    const { hasPartition } = this.#options;
    const isDue = nowMs - this.#lookedForPartitionsMs >= this.#parts.limits.metadataMaxAgeMs;
    if (hasPartition === undefined || this.#isLookingForPartitions || !isDue) return;
    this.#isLookingForPartitions = true;
    const late = () => new NoResponse('no answer');
    const learn = async () => {
      const isNew = await hasPartition(consumer.partitions);
      if (isNew && consumer.end === null) await consumer.learnPartitions();
    };
    // A look that fails is repeated after the same time.
    await within(learn(), this.#parts.limits.metadataMaxAgeMs, late).catch(() => {});
    this.#isLookingForPartitions = false;
    this.#lookedForPartitionsMs = this.#monotonicMs();
  }

  #lose(): void {
    if (this.#session.lose()) this.#options.onLost();
  }

  #mayOpenAnother(end: ConsumerEnd): boolean {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (this.#closing !== null) return false;
    if (end.reason === 'crashed') return this.#survives(end.error);
    if (end.reason !== 'refused') return true;
    if (!isFirst) return this.#survives(end.error);
    this.#refusal = end.error;
    return false;
  }

  /** While the log is away there is nothing to give up for: each run waits for a connection with growing pauses. */
  #survives(error: unknown): boolean {
    const { limits, log } = this.#parts;
    const { groupId } = this.#options;
    const { name, type } = failureOf(error);
    this.#crashes += 1;
    if (type === sessionRefused && this.#session.sessionMs < brokerSessionMinMs)
      this.#lengthenSession();
    log.warn({ groupId, cause: name, type, crashes: this.#crashes }, 'the group member crashed');
    if (isPassing(error) || this.#crashes <= limits.maxGroupRestarts) return true;
    this.#giveUp(error);
    return false;
  }

  #giveUp(cause: unknown): void {
    const facts = { groupId: this.#options.groupId, cause: failureOf(cause).name };
    this.#options.onFault(new Fault('group_crashed', 'stop', { facts, cause }));
  }

  /** The broker allows no session as short as the one that was asked for. */
  #lengthenSession(): void {
    const facts = { askedMs: this.#session.sessionMs, sessionMs: brokerSessionMinMs };
    this.#session.sessionMs = brokerSessionMinMs;
    const setting = 'group.min.session.timeout.ms';
    this.#parts.log.warn({ ...facts, setting }, 'the broker allows longer sessions only');
  }

  #monotonicMs(): number {
    return this.#parts.monotonicMs?.() ?? performance.now();
  }
}
