import { type Admin, AssignerProtocol, type Kafka } from 'kafkajs';
import { Fault, insist, within } from '../fault/index.ts';
import type { CommittedPosition } from './group-commits.io.ts';
import { openCluster } from './kafkajs-cluster.io.ts';
import { untilTopicsKnown } from './known-topics.io.ts';
import type { LogClientLimits } from './limits.ts';
import { type PartitionBounds, parseOffset } from './records.ts';
import { parseClaim } from './sticky-assignor.io.ts';
import { TopicOffsets } from './topic-offsets.io.ts';
import {
  configOf,
  creationOf,
  minInSyncName,
  partitionsName,
  policyName,
  refuseDifference,
  retentionName,
  shapeFound,
  shapeOf,
  type TopicSpec,
  uncleanName,
} from './topic-spec.ts';
import { pause } from './waiting.io.ts';
import { withFaults } from './with-faults.io.ts';

/** The member of a group that owns a partition. */
export interface PartitionOwner {
  readonly memberId: string;
  /** The name the member gave itself (`GroupOptions.instance`). */
  readonly instance: string;
  readonly host: string;
}

/** By these a topic keeps what was acknowledged. */
export interface TopicDurability {
  /** Copies of the partition that has the fewest. */
  readonly copies: number;
  /** Copies that must have a record before it is acknowledged. */
  readonly minInSync: number;
  /** A leader may lack acknowledged records. */
  readonly electsUnclean: boolean;
}

/** Partitions that each of some topics has. */
export interface GrownTopics {
  readonly count: number;
  /** Some were added. */
  readonly hasGrown: boolean;
}

export interface LogAdmin {
  /**
   * Creates what is missing and waits until every broker that answers knows all of them with their leaders (else
   * `topic_unknown`, retry). Never changes what exists: a differing partition count, replication factor or setting is a
   * `Fault` `topic_differs` (stop) with the topic, the field, the wanted value and the found one.
   */
  ensureTopics(topics: readonly TopicSpec[]): Promise<void>;
  /**
   * Brings those of these topics that exist to one number of partitions: the larger of `least` and of what any of them
   * has. Resolves with it when every broker that answers knows all of them with their leaders (else `topic_unknown`,
   * retry); with 0 when none exists.
   */
  growTopics(topics: readonly string[], least: number): Promise<GrownTopics>;
  /** Lets the broker remove nothing more from those topics that exist and are compacted, and should not be. */
  endCompaction(topics: readonly TopicSpec[]): Promise<void>;
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
  /** The same, with the text that was committed beside each offset. */
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

/** A connection for questions that others use as well. */
export interface AdminConnection {
  readonly admin: Admin;
  leave(): Promise<void>;
}

export class KafkajsAdmin implements LogAdmin {
  readonly #admin: Admin;
  readonly #leave: () => Promise<void>;
  readonly #kafka: Kafka;
  readonly #limits: LogClientLimits;
  readonly #offsets: TopicOffsets;

  constructor({ admin, leave }: AdminConnection, kafka: Kafka, limits: LogClientLimits) {
    this.#offsets = new TopicOffsets({ admin, kafka, limits });
    this.#admin = admin;
    this.#leave = leave;
    this.#kafka = kafka;
    this.#limits = limits;
  }

  async ensureTopics(topics: readonly TopicSpec[]): Promise<void> {
    const existing = new Set(await this.#admin.listTopics());
    const missing = topics.filter((topic) => !existing.has(topic.name));
    // kafkajs' own wait for leaders fails when the broker that it asks has not heard of the topics yet.
    if (missing.length > 0)
      await this.#admin.createTopics({ waitForLeaders: false, topics: missing.map(creationOf) });
    const names = topics.map(({ name }) => name);
    await untilTopicsKnown(this.#kafka, this.#limits, { topics: names });
    for (const topic of topics) await this.#compare(topic);
  }

  async growTopics(names: readonly string[], least: number): Promise<GrownTopics> {
    const existing = new Set(await this.#admin.listTopics());
    const found = names.filter((name) => existing.has(name));
    if (found.length === 0) return { count: 0, hasGrown: false };
    const { topics } = await this.#admin.fetchTopicMetadata({ topics: found });
    const count = Math.max(least, ...topics.map(({ partitions }) => partitions.length));
    const smaller = topics.filter(({ partitions }) => partitions.length < count);
    if (smaller.length === 0) return { count, hasGrown: false };
    const topicPartitions = smaller.map(({ name: topic }) => ({ topic, count }));
    await this.#admin.createPartitions({ topicPartitions });
    await untilTopicsKnown(this.#kafka, this.#limits, { topics: found, partitions: count });
    return { count, hasGrown: true };
  }

  async endCompaction(topics: readonly TopicSpec[]): Promise<void> {
    const existing = new Set(await this.#admin.listTopics());
    for (const spec of topics) {
      if (spec.compacted || !existing.has(spec.name)) continue;
      const found = await this.#settings(spec.name, [policyName]);
      if (found.get(policyName) !== 'compact') continue;
      // All settings of the topic: those that are not named go back to the defaults of the broker.
      const configEntries = Object.entries(configOf(spec)).map(([name, value]) => ({
        name,
        value,
      }));
      await this.#admin.alterConfigs({
        validateOnly: false,
        resources: [{ type: topicResource, name: spec.name, configEntries }],
      });
    }
  }

  /** kafkajs asks one broker, which may just be away while others are not: then it chooses again. */
  durability(topic: string): Promise<TopicDurability> {
    return insist(() => this.#durability(topic), { forMs: this.#limits.sendTimeoutMs });
  }

  async brokerSettings(
    names: readonly string[],
  ): Promise<ReadonlyMap<number, ReadonlyMap<string, string>>> {
    const { brokers } = await this.#admin.describeCluster();
    const asked = brokers.map(async ({ nodeId }) => {
      const late = () => new Error('no answer');
      const asking = this.#configOf(brokerResource, String(nodeId), [...names]);
      const found = await within(asking, this.#limits.requestTimeoutMs, late).catch(() => null);
      return [nodeId, found] as const;
    });
    const found = new Map<number, ReadonlyMap<string, string>>();
    for (const [node, settings] of await Promise.all(asked))
      if (settings !== null && settings.size > 0) found.set(node, settings);
    return found;
  }

  async #durability(topic: string): Promise<TopicDurability> {
    const { topics } = await this.#admin.fetchTopicMetadata({ topics: [topic] });
    const settings = await this.#settings(topic, [minInSyncName, uncleanName]);
    const copies = topics.flatMap(({ partitions }) =>
      partitions.map(({ replicas }) => replicas.length),
    );
    return {
      copies: Math.min(...copies),
      minInSync: Number(settings.get(minInSyncName) ?? 1),
      electsUnclean: settings.get(uncleanName) !== 'false',
    };
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

  async #compare(spec: TopicSpec): Promise<void> {
    const { topics } = await this.#admin.fetchTopicMetadata({ topics: [spec.name] });
    const found = await this.#settings(spec.name, Object.keys(configOf(spec)));
    for (const [field, wanted] of Object.entries(shapeOf(spec))) {
      if (field === partitionsName && spec.keepsPartitions === true) continue;
      refuseDifference(spec.name, field, wanted, shapeFound(topics[0])[field] ?? 'none');
    }
    for (const [field, wanted] of Object.entries(configOf(spec))) {
      if (field === retentionName && spec.keepsRetention === true) continue;
      refuseDifference(spec.name, field, wanted, found.get(field) ?? 'none');
    }
  }

  /** The values in force, by name, those of the broker's own defaults among them. */
  #settings(topic: string, configNames: string[]): Promise<ReadonlyMap<string, string>> {
    return this.#configOf(topicResource, topic, configNames);
  }

  async #configOf(
    type: number,
    name: string,
    configNames: string[],
  ): Promise<ReadonlyMap<string, string>> {
    const { resources } = await this.#admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type, name, configNames }],
    });
    const entries = resources[0]?.configEntries ?? [];
    return new Map(entries.map((entry) => [entry.configName, entry.configValue]));
  }
}

/** Kafka numbers of a topic and a broker among resources; Node cannot import kafkajs own names from an ES module. */
const topicResource = 2;
const brokerResource = 4;
