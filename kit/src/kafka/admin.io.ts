import { type Admin, AssignerProtocol, type Kafka } from 'kafkajs';
import { Fault, insist, within } from '../fault/index.ts';
import { type ClusterSurvey, surveyCluster } from './cluster-survey.io.ts';
import type { CommittedPosition } from './group-commits.io.ts';
import { openCluster } from './kafkajs-cluster.io.ts';
import { untilTopicsKnown } from './known-topics.io.ts';
import type { LogClientLimits } from './limits.ts';
import { type PartitionBounds, parseOffset } from './records.ts';
import { parseClaim } from './sticky-assignor.io.ts';
import { brokerResource, settingsOf, TopicAdmin, type TopicDurability } from './topic-admin.io.ts';
import { type PartitionCounts, TopicOffsets } from './topic-offsets.io.ts';
import { type TopicDifference, type TopicSpec, topicSettings } from './topic-spec.ts';
import { pause } from './waiting.io.ts';
import { withFaults } from './with-faults.io.ts';

/** The member of a group that owns a partition. */
export interface PartitionOwner {
  readonly memberId: string;
  /** The name the member gave itself (`GroupOptions.instance`). */
  readonly instance: string;
  readonly host: string;
}

export interface LogAdmin {
  /**
   * Creates what is missing and waits until every broker that answers knows all of them with their leaders (else
   * `topic_unknown`, retry). Never changes what exists: a differing partition count, replication factor or setting is a
   * `Fault` `topic_differs` (stop) with the topic, the field, the wanted value and the found one. What a broker does
   * not create is `topic_refused` (stop) with its answer. Resolves to the settings that brokers may leave out and did.
   */
  ensureTopics(topics: readonly TopicSpec[]): Promise<readonly string[]>;
  /** The differences of those topics that exist, the allowed ones among them, by topic. Changes nothing. */
  differences(
    topics: readonly TopicSpec[],
  ): Promise<ReadonlyMap<string, readonly TopicDifference[]>>;
  /**
   * The brokers' answer (`INVALID_CONFIG`) to each creation that they would refuse, by topic; with these settings
   * alone, or all. Changes nothing.
   */
  refusedCreations(
    topics: readonly TopicSpec[],
    settings?: readonly string[],
  ): Promise<ReadonlyMap<string, string>>;
  /** The settings that brokers show of some topic; null where there is none that this account may ask for. */
  shownSettings(): Promise<readonly string[] | null>;
  /** Brokers, the requests that they know, and ACLs as far as they may be asked. Changes nothing. */
  survey(): Promise<ClusterSurvey>;
  /**
   * Brings those of these topics that exist to one number of partitions: the larger of `least` and of what any of them
   * has. Resolves with it when every broker that answers knows all of them with their leaders (else `topic_unknown`,
   * retry); with 0 when none exists.
   */
  growTopics(topics: readonly string[], least: number): Promise<number>;
  /**
   * Gives topics that exist the settings back in which they differ, those that are `isMeant`, and leaves their other
   * settings. Never compacts a topic, and changes nothing where partitions or copies differ as well. Resolves with what
   * differed; `topic_differs` (stop) where a broker does not keep it.
   */
  restoreSettings(
    topics: readonly TopicSpec[],
    isMeant: (difference: TopicDifference) => boolean,
  ): Promise<readonly TopicDifference[]>;
  /** The properties by which a topic, which must exist, survives the loss of brokers. */
  durability(topic: string): Promise<TopicDurability>;
  /**
   * The values of these settings at each broker, by its number; one that does not answer, or does not show them, is
   * absent.
   */
  brokerSettings(
    names: readonly string[],
  ): Promise<ReadonlyMap<number, ReadonlyMap<string, string>>>;
  /** Whether the broker has the topic; creates nothing. */
  hasTopic(topic: string): Promise<boolean>;
  /** Offsets [low, high) of each partition. Rejects with `leader_unknown` (retry) when one has no leader for long. */
  bounds(topic: string): Promise<ReadonlyMap<number, PartitionBounds>>;
  /** The next offset each partition's reader in the group committed; partitions without a commit are absent. */
  committed(groupId: string, topic: string): Promise<ReadonlyMap<number, number>>;
  /**
   * The next offset that each partition's reader in the group committed, with the text that was committed beside it;
   * partitions without a commit are absent.
   */
  commits(groupId: string, topic: string): Promise<ReadonlyMap<number, CommittedPosition>>;
  /**
   * Member per partition of a group opened with `LogClient.group`, as the topic that it reads is assigned; empty while
   * it rebalances.
   */
  groupMembers(groupId: string, topic: string): Promise<ReadonlyMap<number, PartitionOwner>>;
  /** Every group with a commit on the topic. */
  readersOf(topic: string): Promise<readonly TopicReaders[]>;
  /** Commits for a group without members. */
  setCommits(
    groupId: string,
    topic: string,
    commits: ReadonlyMap<number, CommittedPosition>,
  ): Promise<void>;
  /** Deletes a topic with its records, and the commits on it; resolves when it is gone. */
  deleteTopic(topic: string): Promise<void>;
  close(): Promise<void>;
}

/** A group as far as it reads one topic. */
export interface TopicReaders {
  readonly groupId: string;
  /** Members of the group, whatever they read. */
  readonly members: number;
  readonly commits: ReadonlyMap<number, CommittedPosition>;
}

/** Looks at a topic that is being deleted, and the wait between two. */
const deletionLooks = 300;
const deletionLookMs = 100;

/** After it the broker that is asked knows what another caller has added. */
const grownElsewhereMs = 1_000;

/** A connection for questions that others use as well. */
export interface AdminConnection {
  readonly admin: Admin;
  /** Settings of topics that the brokers may leave out. */
  readonly hiddenSettings?: readonly string[];
  readonly counts?: PartitionCounts;
  leave(): Promise<void>;
}

export class KafkajsAdmin implements LogAdmin {
  readonly #admin: Admin;
  readonly #leave: () => Promise<void>;
  readonly #kafka: Kafka;
  readonly #limits: LogClientLimits;
  readonly #offsets: TopicOffsets;
  readonly #topics: TopicAdmin;

  constructor(
    { admin, leave, hiddenSettings = [], counts = new Map() }: AdminConnection,
    kafka: Kafka,
    limits: LogClientLimits,
  ) {
    this.#topics = new TopicAdmin(admin, hiddenSettings);
    this.#offsets = new TopicOffsets({ admin, kafka, limits, counts });
    this.#admin = admin;
    this.#leave = leave;
    this.#kafka = kafka;
    this.#limits = limits;
  }

  async ensureTopics(topics: readonly TopicSpec[]): Promise<readonly string[]> {
    await this.#topics.createMissing(topics);
    const names = topics.map(({ name }) => name);
    await untilTopicsKnown(this.#kafka, this.#limits, { topics: names });
    return await this.#topics.hiddenOf(topics);
  }

  differences(
    topics: readonly TopicSpec[],
  ): Promise<ReadonlyMap<string, readonly TopicDifference[]>> {
    return this.#topics.differences(topics);
  }

  refusedCreations(
    topics: readonly TopicSpec[],
    settings: readonly string[] = topicSettings,
  ): Promise<ReadonlyMap<string, string>> {
    return this.#topics.refusedCreations(topics, settings);
  }

  shownSettings(): Promise<readonly string[] | null> {
    return this.#topics.shownSettings();
  }

  survey(): Promise<ClusterSurvey> {
    return surveyCluster(this.#admin, this.#kafka, this.#limits);
  }

  async growTopics(names: readonly string[], least: number): Promise<number> {
    const existing = new Set(await this.#admin.listTopics());
    const found = names.filter((name) => existing.has(name));
    if (found.length === 0) return 0;
    const { topics } = await this.#admin.fetchTopicMetadata({ topics: found });
    const count = Math.max(least, ...topics.map(({ partitions }) => partitions.length));
    const smaller = topics.filter(({ partitions }) => partitions.length < count);
    if (smaller.length === 0) return count;
    const topicPartitions = smaller.map(({ name: topic }) => ({ topic, count }));
    const adding = this.#admin.createPartitions({ topicPartitions });
    const hasAdded = await adding.then(
      () => true,
      async (error: unknown) => {
        // Brokers refuse to add what another caller has just added.
        await pause(grownElsewhereMs);
        if (await this.#haveAll(found, count)) return false;
        throw error;
      },
    );
    await untilTopicsKnown(this.#kafka, this.#limits, { topics: found, partitions: count });
    // The other caller may have added more.
    return hasAdded ? count : await this.growTopics(names, count);
  }

  async #haveAll(names: readonly string[], count: number): Promise<boolean> {
    const { topics } = await this.#admin.fetchTopicMetadata({ topics: [...names] });
    return topics.every(({ partitions }) => partitions.length >= count);
  }

  restoreSettings(
    topics: readonly TopicSpec[],
    isMeant: (difference: TopicDifference) => boolean,
  ): Promise<readonly TopicDifference[]> {
    return this.#topics.restoreSettings(topics, isMeant);
  }

  /** kafkajs asks one broker, which may just be away while others are not: then it chooses again. */
  durability(topic: string): Promise<TopicDurability> {
    return insist(() => this.#topics.durability(topic), { forMs: this.#limits.sendTimeoutMs });
  }

  async brokerSettings(
    names: readonly string[],
  ): Promise<ReadonlyMap<number, ReadonlyMap<string, string>>> {
    const { brokers } = await this.#admin.describeCluster();
    const asked = brokers.map(async ({ nodeId }) => {
      const late = () => new Error('no answer');
      const broker = { type: brokerResource, name: String(nodeId) };
      const asking = settingsOf(this.#admin, broker, names);
      const found = await within(asking, this.#limits.requestTimeoutMs, late).catch(() => null);
      return [nodeId, found] as const;
    });
    const found = new Map<number, ReadonlyMap<string, string>>();
    for (const [node, settings] of await Promise.all(asked))
      if (settings !== null && settings.size > 0) found.set(node, settings);
    return found;
  }

  async hasTopic(topic: string): Promise<boolean> {
    return (await this.#admin.listTopics()).includes(topic);
  }

  bounds(topic: string): Promise<ReadonlyMap<number, PartitionBounds>> {
    return withFaults(this.#offsets.bounds(topic));
  }

  async committed(groupId: string, topic: string): Promise<ReadonlyMap<number, number>> {
    const commits = await this.commits(groupId, topic);
    return new Map([...commits].map(([partition, { offset }]) => [partition, offset]));
  }

  async commits(groupId: string, topic: string): Promise<ReadonlyMap<number, CommittedPosition>> {
    const found = await this.#admin.fetchOffsets({ groupId, topics: [topic] });
    const positions = (found[0]?.partitions ?? []).map(
      ({ partition, offset, metadata }) =>
        [partition, { offset: parseOffset(offset), metadata: metadata ?? '' }] as const,
    );
    return new Map(positions.filter(([, { offset }]) => offset >= 0));
  }

  async groupMembers(groupId: string, topic: string): Promise<ReadonlyMap<number, PartitionOwner>> {
    const { groups } = await this.#admin.describeGroups([groupId]);
    const owners = new Map<number, PartitionOwner>();
    for (const { memberId, memberMetadata, memberAssignment, clientHost } of groups[0]?.members ??
      []) {
      const { instance } = parseClaim(memberId, memberMetadata);
      const decoded = AssignerProtocol.MemberAssignment.decode(memberAssignment);
      for (const partition of decoded?.assignment[topic] ?? [])
        owners.set(partition, { memberId, instance, host: clientHost });
    }
    return owners;
  }

  async readersOf(topic: string): Promise<readonly TopicReaders[]> {
    const { groups: listed } = await this.#admin.listGroups();
    const readers: TopicReaders[] = [];
    for (const { groupId } of listed) {
      const commits = await this.commits(groupId, topic);
      if (commits.size === 0) continue;
      const { groups } = await this.#admin.describeGroups([groupId]);
      readers.push({ groupId, members: groups[0]?.members.length ?? 0, commits });
    }
    return readers;
  }

  async setCommits(
    groupId: string,
    topic: string,
    commits: ReadonlyMap<number, CommittedPosition>,
  ): Promise<void> {
    const cluster = openCluster(this.#kafka, this.#limits);
    await cluster.connect();
    try {
      await cluster.addTargetTopic(topic);
      const coordinator = await cluster.findGroupCoordinator({ groupId });
      const partitions = [...commits].map(([partition, { offset, metadata }]) => ({
        partition,
        offset: String(offset),
        metadata,
      }));
      const noMember = { memberId: '', groupGenerationId: -1 };
      await coordinator.offsetCommit({ groupId, ...noMember, topics: [{ topic, partitions }] });
    } finally {
      await cluster.disconnect();
    }
  }

  async deleteTopic(topic: string): Promise<void> {
    await this.#admin.deleteTopics({ topics: [topic] });
    for (let looks = 0; looks < deletionLooks; looks += 1) {
      if (!(await this.hasTopic(topic))) return;
      await pause(deletionLookMs);
    }
    throw new Fault('topic_not_deleted', 'stop', { facts: { topic } });
  }

  async close(): Promise<void> {
    await this.#leave();
  }
}
