import type { ITopicMetadata } from 'kafkajs';
import { Fault } from '../fault/index.ts';

/** The required properties of a topic. */
export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  /** A topic that exists may have another number of partitions. */
  readonly keepsPartitions?: boolean;
  readonly replicationFactor: number;
  readonly minInSyncReplicas: number;
  /** Keeps the newest record of each key instead of a time span. */
  readonly compacted: boolean;
  /** Largest batch the broker takes, bytes. */
  readonly maxMessageBytes: number;
  /** Milliseconds; -1 for ever. Without effect on a compacted topic. */
  readonly retentionMs: number;
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

/** A part of the shape of a topic. */
export const partitionsName = 'partitions';

/** The topic as kafkajs creates it. */
export function creationOf(spec: TopicSpec) {
  return {
    topic: spec.name,
    numPartitions: spec.partitions,
    replicationFactor: spec.replicationFactor,
    configEntries: Object.entries(configOf(spec)).map(([name, value]) => ({ name, value })),
  };
}

/** The settings of the topic by their names. */
export function configOf(spec: TopicSpec): Record<string, string> {
  return {
    [policyName]: spec.compacted ? 'compact' : 'delete',
    // A leader that lacks acknowledged records is worse than none.
    [uncleanName]: 'false',
    [minInSyncName]: String(spec.minInSyncReplicas),
    'max.message.bytes': String(spec.maxMessageBytes),
    [retentionName]: String(spec.retentionMs),
    ...compactionOf(spec),
  };
}

/** The segment being written is never compacted, so a segment must be short-lived. */
function compactionOf({ compactAfterMs }: TopicSpec): Record<string, string> {
  if (compactAfterMs === undefined) return {};
  const afterMs = String(compactAfterMs);
  return { 'segment.ms': afterMs, 'min.compaction.lag.ms': afterMs };
}

/** Partitions and copies, as they should be. */
export function shapeOf(spec: TopicSpec): Record<string, string> {
  return {
    [partitionsName]: String(spec.partitions),
    replicationFactor: String(spec.replicationFactor),
  };
}

/** Partitions and copies, as they are. */
export function shapeFound(topic: ITopicMetadata | undefined): Record<string, string> {
  const partitions = topic?.partitions ?? [];
  return {
    [partitionsName]: String(partitions.length),
    replicationFactor: String(partitions[0]?.replicas.length ?? 0),
  };
}

/** Throws `topic_differs` (stop) when a property of a topic is not the wanted one. */
export function refuseDifference(
  topic: string,
  field: string,
  wanted: string,
  found: string,
): void {
  if (wanted !== found)
    throw new Fault('topic_differs', 'stop', { facts: { topic, field, wanted, found } });
}
