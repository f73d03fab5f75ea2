import type { ITopicMetadata } from 'kafkajs';
import { Fault } from '../fault/index.ts';

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
  /** A topic that exists may have another number of partitions. */
  readonly keepsPartitions?: boolean;
  /** A topic that exists may have another retention. */
  readonly keepsRetention?: boolean;
  /**
   * Records of a compacted topic are compacted after so long and not before, milliseconds; when the broker chooses
   * without it.
   */
  readonly compactAfterMs?: number;
}

/** Names of settings of a topic. */
export const policyName = 'cleanup.policy';
export const retentionName = 'retention.ms';
export const minInSyncName = 'min.insync.replicas';
export const uncleanName = 'unclean.leader.election.enable';
const sizeName = 'max.message.bytes';
const segmentName = 'segment.ms';
const lagName = 'min.compaction.lag.ms';

/** A part of the shape of a topic. */
const partitionsName = 'partitions';

/** All settings that topics are created with. */
export const topicSettings: readonly string[] = [
  policyName,
  uncleanName,
  minInSyncName,
  sizeName,
  retentionName,
  segmentName,
  lagName,
];

/** Answers of brokers to a setting of a topic, or to its value. */
export const settingRefusals: readonly string[] = ['INVALID_CONFIG', 'POLICY_VIOLATION'];

/** The variable that names settings which brokers may leave out. */
const hiddenVariable = 'PM_KAFKA_HIDDEN_SETTINGS';

/** The topic as kafkajs creates it, with these settings of its own. */
export function creationOf(spec: TopicSpec, settings: readonly string[] = topicSettings) {
  const all = Object.entries(configOf(spec)).map(([name, value]) => ({ name, value }));
  return {
    topic: spec.name,
    numPartitions: spec.partitions,
    replicationFactor: spec.replicationFactor,
    configEntries: all.filter(({ name }) => settings.includes(name)),
  };
}

/** The settings of the topic by their names. */
export function configOf(spec: TopicSpec): Record<string, string> {
  return {
    [policyName]: spec.compacted ? 'compact' : 'delete',
    // A leader that lacks acknowledged records is worse than none.
    [uncleanName]: 'false',
    [minInSyncName]: String(spec.minInSyncReplicas),
    [sizeName]: String(spec.maxMessageBytes),
    [retentionName]: String(spec.retentionMs),
    ...compactionOf(spec),
  };
}

/** The segment being written is never compacted, so a segment must be short-lived. */
function compactionOf({ compactAfterMs }: TopicSpec): Record<string, string> {
  if (compactAfterMs === undefined) return {};
  const afterMs = String(compactAfterMs);
  return { [segmentName]: afterMs, [lagName]: afterMs };
}

/** A property of a topic that is not the wanted one. */
export interface TopicDifference {
  readonly topic: string;
  readonly field: string;
  readonly wanted: string;
  /** Null for a setting that the broker does not show. */
  readonly found: string | null;
}

/** A topic as it is. */
export interface FoundTopic {
  readonly metadata: ITopicMetadata | undefined;
  /** The values in force of the settings that the broker shows. */
  readonly settings: ReadonlyMap<string, string>;
}

/** The properties of a topic that are not the wanted ones. */
export function differencesOf(spec: TopicSpec, found: FoundTopic): readonly TopicDifference[] {
  const shape = shapeFound(found.metadata);
  const { keepsRetention } = spec;
  const settings = Object.entries(configOf(spec)).filter(
    ([field]) => field !== retentionName || keepsRetention !== true,
  );
  const shapes = Object.entries(shapeOf(spec)).filter(
    ([field]) => field !== partitionsName || spec.keepsPartitions !== true,
  );
  const all = [
    ...shapes.map(([field, wanted]) => ({
      field,
      wanted,
      found: shape[field],
    })),
    ...settings.map(([field, wanted]) => ({ field, wanted, found: found.settings.get(field) })),
  ];
  return all
    .filter((one) => one.found !== one.wanted)
    .map((one) => ({ topic: spec.name, ...one, found: one.found ?? null }));
}

/** Partitions and copies, as they should be. */
function shapeOf(spec: TopicSpec): Record<string, string> {
  return {
    [partitionsName]: String(spec.partitions),
    replicationFactor: String(spec.replicationFactor),
  };
}

/** Partitions and copies, as they are. */
function shapeFound(topic: ITopicMetadata | undefined): Record<string, string> {
  const partitions = topic?.partitions ?? [];
  return {
    [partitionsName]: String(partitions.length),
    replicationFactor: String(partitions[0]?.replicas.length ?? 0),
  };
}

/** A difference is allowed when a setting that brokers may leave out is not shown, and no other one is. */
export function isAllowed({ field, found }: TopicDifference, hidden: readonly string[]): boolean {
  return found === null && hidden.includes(field);
}

/** Whether it is a setting that the broker shows, and setting it right removes no records. */
export function isRestorable({ field, wanted, found }: TopicDifference): boolean {
  const removes = field === policyName && wanted === 'compact';
  return found !== null && topicSettings.includes(field) && !removes;
}

/** Whether the broker removes older records of a key from a topic that should keep everything. */
export function isCompactedByMistake({ field, wanted, found }: TopicDifference): boolean {
  return field === policyName && wanted === 'delete' && (found ?? '').includes('compact');
}

/** How to allow a difference, where that can be allowed. */
export function allowanceOf({ field, found }: TopicDifference): string | null {
  return found === null ? `${hiddenVariable}=${field}` : null;
}

/** `topic_differs` (stop), with the variable that allows the difference if one does. */
export function topicDiffers(difference: TopicDifference): Fault {
  const { topic, field, wanted, found } = difference;
  const allowedBy = allowanceOf(difference);
  return new Fault('topic_differs', 'stop', {
    facts: {
      topic,
      field,
      wanted,
      found: found ?? 'none',
      ...(allowedBy === null ? {} : { allowedBy }),
    },
  });
}
