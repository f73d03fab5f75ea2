import { type Admin, AssignerProtocol, type ITopicMetadata } from 'kafkajs';
import { Fault } from '../fault/index.ts';
import type { CommittedPosition } from './group-commits.io.ts';
import { type PartitionBounds, parseOffset } from './records.ts';
import { parseClaim } from './sticky-assignor.io.ts';

/** The required properties of a topic. */
export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly minInSyncReplicas: number;
  /** Keeps the newest record of each key instead of a time span. */
  readonly compacted: boolean;
  /** Largest batch the broker takes, bytes. */
  readonly maxMessageBytes: number;
  /** Milliseconds; -1 for ever. Without effect on a compacted topic. */
  readonly retentionMs: number;
  /**
   * Records of a compacted topic are compacted after so long and not before, milliseconds; when the broker chooses
   * without it.
   */
  readonly compactAfterMs?: number;
}

/** The member of a group that owns a partition. */
export interface PartitionOwner {
  readonly memberId: string;
  /** The name the member gave itself (`GroupOptions.instance`). */
  readonly instance: string;
  readonly host: string;
}

export interface LogAdmin {
  /**
   * Creates what is missing and waits for its leaders. Never changes what exists: a differing partition count,
   * replication factor or setting is a `Fault` `topic_differs` (stop) with the topic, the field, the wanted value and
   * the found one.
   */
  ensureTopics(topics: readonly TopicSpec[]): Promise<void>;
  /** Whether the broker has the topic; creates nothing. */
  hasTopic(topic: string): Promise<boolean>;
  /** Offsets [low, high) of each partition. */
  bounds(topic: string): Promise<ReadonlyMap<number, PartitionBounds>>;
  /** The next offset each partition's reader in the group committed; partitions without a commit are absent. */
  committed(groupId: string, topic: string): Promise<ReadonlyMap<number, number>>;
  /** The same, with the text that was committed beside each offset. */
  commits(groupId: string, topic: string): Promise<ReadonlyMap<number, CommittedPosition>>;
  /** Owner per partition of a group opened with `LogClient.group`; empty while it rebalances. */
  groupMembers(groupId: string): Promise<ReadonlyMap<number, PartitionOwner>>;
  close(): Promise<void>;
}

export class KafkajsAdmin implements LogAdmin {
  readonly #admin: Admin;

  constructor(admin: Admin) {
    this.#admin = admin;
  }

  async ensureTopics(topics: readonly TopicSpec[]): Promise<void> {
    const existing = new Set(await this.#admin.listTopics());
    const missing = topics.filter((topic) => !existing.has(topic.name));
    if (missing.length > 0)
      await this.#admin.createTopics({ waitForLeaders: true, topics: missing.map(creationOf) });
    for (const topic of topics) await this.#compare(topic);
  }

  async hasTopic(topic: string): Promise<boolean> {
    return (await this.#admin.listTopics()).includes(topic);
  }

  async bounds(topic: string): Promise<ReadonlyMap<number, PartitionBounds>> {
    const found = await this.#admin.fetchTopicOffsets(topic);
    return new Map(
      found.map(({ partition, low, high }) => [
        partition,
        { low: parseOffset(low), high: parseOffset(high) },
      ]),
    );
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

  async groupMembers(groupId: string): Promise<ReadonlyMap<number, PartitionOwner>> {
    const { groups } = await this.#admin.describeGroups([groupId]);
    const owners = new Map<number, PartitionOwner>();
    for (const { memberId, memberMetadata, memberAssignment, clientHost } of groups[0]?.members ??
      []) {
      const { instance } = parseClaim(memberId, memberMetadata);
      const decoded = AssignerProtocol.MemberAssignment.decode(memberAssignment);
      for (const partition of Object.values(decoded?.assignment ?? {}).flat())
        owners.set(partition, { memberId, instance, host: clientHost });
    }
    return owners;
  }

  async close(): Promise<void> {
    await this.#admin.disconnect();
  }

  async #compare(spec: TopicSpec): Promise<void> {
    const { topics } = await this.#admin.fetchTopicMetadata({ topics: [spec.name] });
    const { resources } = await this.#admin.describeConfigs({
      includeSynonyms: false,
      resources: [
        {
          type: topicResource,
          name: spec.name,
          configNames: Object.keys(configOf(spec)),
        },
      ],
    });
    const entries = resources[0]?.configEntries ?? [];
    const found = new Map(entries.map((entry) => [entry.configName, entry.configValue]));
    for (const [field, wanted] of Object.entries(shapeOf(spec)))
      refuseDifference(spec.name, field, wanted, shapeFound(topics[0])[field] ?? 'none');
    for (const [field, wanted] of Object.entries(configOf(spec)))
      refuseDifference(spec.name, field, wanted, found.get(field) ?? 'none');
  }
}

/** Kafka number of a topic among resources; Node cannot import kafkajs own name for it from an ES module. */
const topicResource = 2;

function creationOf(spec: TopicSpec) {
  return {
    topic: spec.name,
    numPartitions: spec.partitions,
    replicationFactor: spec.replicationFactor,
    configEntries: Object.entries(configOf(spec)).map(([name, value]) => ({ name, value })),
  };
}

function configOf(spec: TopicSpec): Record<string, string> {
  return {
    'cleanup.policy': spec.compacted ? 'compact' : 'delete',
    'min.insync.replicas': String(spec.minInSyncReplicas),
    'max.message.bytes': String(spec.maxMessageBytes),
    'retention.ms': String(spec.retentionMs),
    ...compactionOf(spec),
  };
}

/** The segment being written is never compacted, so a segment must be short-lived. */
function compactionOf({ compactAfterMs }: TopicSpec): Record<string, string> {
  if (compactAfterMs === undefined) return {};
  const afterMs = String(compactAfterMs);
  return { 'segment.ms': afterMs, 'min.compaction.lag.ms': afterMs };
}

function shapeOf(spec: TopicSpec): Record<string, string> {
  return { partitions: String(spec.partitions), replicationFactor: String(spec.replicationFactor) };
}

function shapeFound(topic: ITopicMetadata | undefined): Record<string, string> {
  const partitions = topic?.partitions ?? [];
  return {
    partitions: String(partitions.length),
    replicationFactor: String(partitions[0]?.replicas.length ?? 0),
  };
}

function refuseDifference(topic: string, field: string, wanted: string, found: string): void {
  if (wanted !== found)
    throw new Fault('topic_differs', 'stop', { facts: { topic, field, wanted, found } });
}
