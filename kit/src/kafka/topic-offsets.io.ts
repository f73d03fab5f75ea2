import type { Admin, Kafka } from 'kafkajs';
import { Fault } from '../fault/index.ts';
import { connectAdmin } from './admin-connection.io.ts';
import { failureOf } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import { type PartitionBounds, parseOffset } from './records.ts';
import { closeWithin, pause } from './waiting.io.ts';

interface OffsetsParts {
  readonly admin: Admin;
  readonly kafka: Kafka;
  readonly limits: LogClientLimits;
  /** Partition counts of the topics, for all users of the shared connection. */
  readonly counts: PartitionCounts;
}

/** Null for an answer of a broker that does not lead a partition. */
function elsewhere(error: unknown): null {
  if (failureOf(error).type === notLeader) return null;
  throw error;
}

/**
 * Null for an answer of a broker that does not lead a partition, and for an unknown topic: a shared connection also
 * fails for every topic when one that it has asked for was deleted.
 */
function elsewhereOrDeleted(error: unknown): null {
  return failureOf(error).type === unknownTopic ? null : elsewhere(error);
}

const notLeader = 'NOT_LEADER_FOR_PARTITION';
const unknownTopic = 'UNKNOWN_TOPIC_OR_PARTITION';

/**
 * Looks at the metadata of a shared connection that lack the topic asked for: kafkajs lets questions about several
 * topics share one look, which may have begun before the topic was named.
 */
const sharedLooksMax = 20;

/** Time between two looks for added partitions of a topic, milliseconds. */
const countedEveryMs = 5_000;

function lacksTopic(error: unknown): boolean {
  return error instanceof TypeError || failureOf(error).name === 'KafkaJSTopicMetadataNotLoaded';
}

/** By topic, how many partitions it has, and when they were counted. */
export type PartitionCounts = Map<string, { readonly count: number; readonly atMs: number }>;

/** Bounds of the partitions of topics. kafkajs knows the partitions of up to five minutes ago, with no setting. */
export class TopicOffsets {
  readonly #parts: OffsetsParts;

  constructor(parts: OffsetsParts) {
    this.#parts = parts;
  }

  /** Offsets [low, high) of each partition. Rejects with `leader_unknown` (retry) when one has no leader for long. */
  async bounds(topic: string): Promise<ReadonlyMap<number, PartitionBounds>> {
    const found = await this.#offsets(topic);
    return new Map(
      found.map(({ partition, low, high }) => [
        partition,
        { low: parseOffset(low), high: parseOffset(high) },
      ]),
    );
  }

  /**
   * A partition may have been added, have no leader yet, or another one than this admin knows: then an admin with new
   * metadata asks again, which kafkajs does not.
   */
  async #offsets(topic: string) {
    const { kafka, limits } = this.#parts;
    const { maxMetadataTries, maxRetryMs } = limits;
    let found = await this.#sharedOffsets(topic).catch(elsewhereOrDeleted);
    if (found !== null && found.length < (await this.#count(topic, found.length))) found = null;
    for (let tried = 1; found === null && tried < maxMetadataTries; tried += 1) {
      if (tried > 1) await pause(maxRetryMs);
      const admin = await connectAdmin(kafka, limits);
      const close = () => closeWithin(admin.disconnect(), limits.closeTimeoutMs);
      found = await admin.fetchTopicOffsets(topic).catch(elsewhere).finally(close);
    }
    if (found === null) throw new Fault('leader_unknown', 'retry', { facts: { topic } });
    return found;
  }

  async #sharedOffsets(topic: string) {
    const { admin, limits } = this.#parts;
    for (let looks = 1; ; looks += 1) {
      try {
        return await admin.fetchTopicOffsets(topic);
      } catch (error) {
        if (looks === sharedLooksMax || !lacksTopic(error)) throw error;
        await pause(limits.initialRetryMs);
      }
    }
  }

  /**
   * As a broker says, at most as old as `countedEveryMs`; 0 while it does not say. `found` are those of the first
   * question of this connection about the topic, for which its metadata were asked for.
   */
  async #count(topic: string, found: number): Promise<number> {
    const nowMs = performance.now();
    const known = this.#parts.counts.get(topic);
    if (known === undefined) this.#parts.counts.set(topic, { count: found, atMs: nowMs });
    if (known === undefined || nowMs - known.atMs < countedEveryMs) return known?.count ?? found;
    const asking = this.#parts.admin.fetchTopicMetadata({ topics: [topic] });
    const { topics } = await asking.catch(() => ({ topics: [] }));
    const count = topics[0]?.partitions.length ?? 0;
    this.#parts.counts.set(topic, { count, atMs: nowMs });
    return count;
  }
}
