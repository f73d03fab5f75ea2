import type { Cluster, Consumer, ConsumerConfig, Kafka } from 'kafkajs';
import { within } from '../fault/index.ts';
import {
  cutConnections,
  type OpenCluster,
  withoutOneBroker,
  withoutReading,
  withSyncs,
} from './kafkajs-cluster.io.ts';
import { retryOptions } from './kafkajs-connection.io.ts';
import { NoResponse } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import { CoordinatorWatch } from './membership-coordinator.io.ts';
import type { MemberPlace, Placement } from './membership-session.ts';
import type { MemberClaim } from './sticky-assignment.ts';
import { stickyAssignor } from './sticky-assignor.io.ts';
import { closeWithin } from './waiting.io.ts';

/** Why a consumer is not wanted any more: by itself, at its opening, or because its owner says so. */
export type ConsumerEnd =
  | { readonly reason: 'crashed' | 'refused'; readonly error: unknown }
  | { readonly reason: 'moved' | 'silent' | 'closed' };

export interface GroupConsumerOptions {
  /** Makes the kafkajs consumer; a test double makes one that emits its events. */
  readonly kafka: Pick<Kafka, 'consumer'>;
  readonly limits: LogClientLimits;
  readonly groupId: string;
  readonly topic: string;
  readonly standbyTopic?: string | undefined;
  readonly sessionMs: number;
  /** The claim of the member when it joins. */
  claim(): Omit<MemberClaim, 'memberId'>;
  /** It sends the last request of a join. */
  onSyncing(): void;
  onJoined(memberId: string, placement: Placement): void;
  /** It begins to join again. */
  onRejoining(): void;
  onHeartbeat(place: MemberPlace): void;
  /** Its end was asked for, or it has ended; called once, and nothing else after it. */
  onEnd(end: ConsumerEnd): void;
}

/** Kafka's number of coordinators of groups. */
const ofGroups = 0;

/**
 * One kafkajs consumer that joins and sends heartbeats, from its opening until it has left the group. It can be
 * unwanted at any moment: the first reason counts, and its events mean nothing after it.
 */
export class GroupConsumer {
  /** Who coordinates the group. */
  readonly watch = new CoordinatorWatch(() => this.#coordinatorNode());
  readonly #options: GroupConsumerOptions;
  readonly #consumer: Consumer;
  readonly #opening: Promise<void>;
  #cluster: Cluster | null = null;
  #end: ConsumerEnd | null = null;
  #isCut = false;

  constructor(options: GroupConsumerOptions) {
    this.#options = options;
    this.#consumer = options.kafka.consumer(this.#config());
    this.#listen();
    this.#opening = this.#open().catch((error: unknown) => this.stop({ reason: 'refused', error }));
  }

  /** Null while it is wanted. */
  get end(): ConsumerEnd | null {
    return this.#end;
  }

  /** Asks for its end. */
  stop(end: ConsumerEnd): void {
    if (this.#end !== null) return;
    this.#end = end;
    this.#options.onEnd(end);
  }

  /**
   * Leaves the group once it is stopped; resolves within `closeTimeoutMs` twice. What still waits after that time loses
   * its connections.
   */
  async leave(): Promise<void> {
    const { closeTimeoutMs } = this.#options.limits;
    // kafkajs forgets a member that is stopped while it joins, and that one sends heartbeats for ever.
    const leaving = this.#opening.then(() => this.#consumer.disconnect());
    const late = () => new NoResponse('it has not left in time');
    await within(leaving, closeTimeoutMs, late).catch(async (error: unknown) => {
      if (!(error instanceof NoResponse)) return;
      this.#isCut = true;
      const cluster = this.#cluster as OpenCluster | null;
      if (cluster?.brokerPool !== undefined) cutConnections(cluster, error);
      await closeWithin(leaving, closeTimeoutMs);
    });
  }

  /** A connection to the group's coordinator. Rejects with errors of kafkajs. */
  async coordinator() {
    return await this.#presentCluster().findGroupCoordinator({ groupId: this.#options.groupId });
  }

  /** Partitions of the topic that kafkajs knows. */
  get partitions(): number {
    return this.#presentCluster().findTopicPartitionMetadata(this.#options.topic).length;
  }

  /** Has kafkajs learn the partitions of the topic; a change makes it join again, and others keep theirs. */
  async learnPartitions(): Promise<void> {
    await this.#presentCluster().refreshMetadata();
  }

  async #open(): Promise<void> {
    await this.#consumer.connect();
    if (this.#end !== null) return;
    await this.#consumer.subscribe({ topics: [...this.#topics] });
    if (this.#end !== null) return;
    await this.#consumer.run({ autoCommit: false, eachBatch: async () => {} });
  }

  #listen(): void {
    const { GROUP_JOIN, HEARTBEAT, CRASH, REBALANCING } = this.#consumer.events;
    const { topic, standbyTopic = '', ...options } = this.#options;
    const isWanted = () => this.#end === null;
    this.#consumer.on(GROUP_JOIN, ({ payload: { memberId, memberAssignment: given } }) => {
      this.#consumer.pause(this.#topics.map((one) => ({ topic: one })));
      if (!isWanted()) return;
      const [partitions, standbys] = [given[topic] ?? [], given[standbyTopic] ?? []];
      this.watch.joined();
      options.onJoined(memberId, {
        partitions: ascending(partitions),
        standbys: ascending(standbys),
      });
    });
    this.#consumer.on(REBALANCING, () => {
      if (isWanted()) options.onRejoining();
    });
    this.#consumer.on(HEARTBEAT, ({ payload: { memberId, groupGenerationId: generation } }) => {
      if (isWanted()) options.onHeartbeat({ memberId, generation });
    });
    this.#consumer.on(CRASH, ({ payload: { error } }) => this.stop({ reason: 'crashed', error }));
  }

  get #topics(): readonly string[] {
    const { topic, standbyTopic = '' } = this.#options;
    return standbyTopic === '' ? [topic] : [topic, standbyTopic];
  }

  #config(): ConsumerConfig {
    const { limits, sessionMs, groupId, topic, standbyTopic } = this.#options;
    return {
      groupId,
      sessionTimeout: sessionMs,
      // kafkajs asks the wall clock whether a heartbeat is due: with this, one always is. The interval is the wait of
      // its loop, which fetches nothing.
      heartbeatInterval: Number.NEGATIVE_INFINITY,
      maxWaitTimeInMs: Math.min(limits.heartbeatMs, sessionMs / 3),
      rebalanceTimeout: limits.rebalanceTimeoutMs,
      // With a finite age the same loop would wait for a random broker, even for one that stands still.
      metadataMaxAge: Number.POSITIVE_INFINITY,
      allowAutoTopicCreation: false,
      // A supervisor starts the next consumer: kafkajs' own restarts have no limit and do not report lost partitions.
      retry: { ...retryOptions(limits), restartOnFailure: async () => false },
      partitionAssigners: [
        ({ cluster }) => {
          this.#cluster = cluster;
          withoutReading(cluster);
          withSyncs(cluster, () => this.#end === null && this.#options.onSyncing());
          withoutOneBroker(cluster as OpenCluster, limits, () => this.#isCut);
          const partitionCount = () => cluster.findTopicPartitionMetadata(topic).length;
          const present = () => this.#options.claim();
          return stickyAssignor({ topic, standbyTopic, present, partitionCount });
        },
      ],
    };
  }

  async #coordinatorNode(): Promise<number> {
    const { groupId, limits } = this.#options;
    // Its types lack the second field, without which kafkajs sends none.
    const asked = { groupId, coordinatorType: ofGroups };
    const asking = this.#presentCluster().findGroupCoordinatorMetadata(asked);
    const late = () => new NoResponse('no answer');
    const { coordinator } = await within(asking, limits.metadataTimeoutMs, late);
    return coordinator.nodeId;
  }

  #presentCluster(): Cluster {
    if (this.#cluster === null) throw new NoResponse('no cluster');
    return this.#cluster;
  }
}

function ascending(partitions: readonly number[]): readonly number[] {
  return [...partitions].sort((a, b) => a - b);
}
