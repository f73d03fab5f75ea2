import type { Broker, Kafka } from 'kafkajs';
import { Fault, within } from '../fault/index.ts';
import { openCluster } from './kafkajs-cluster.io.ts';
import { failureOf } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import { pause } from './waiting.io.ts';

/** Looks at the metadata of a broker, and the wait between two. */
const looksMax = 300;
const lookMs = 50;

/** Answers of a broker that has not heard of a topic or of its leader yet. */
const notYet: ReadonlySet<string> = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE']);

interface AwaitedTopics {
  readonly topics: readonly string[];
  /** Fewest partitions of each; 1 unless given. */
  readonly partitions?: number;
}

/**
 * Resolves when every broker that answers knows these topics with their leaders: brokers learn of a new topic one after
 * the other, and each request goes to any of them. Rejects with `topic_unknown` (retry) when one takes too long.
 */
export async function untilTopicsKnown(
  kafka: Kafka,
  limits: LogClientLimits,
  awaited: AwaitedTopics,
): Promise<void> {
  const cluster = openCluster(kafka, limits);
  try {
    await cluster.connect();
    await cluster.refreshMetadata();
    const waits = cluster.getNodeIds().map(async (node) => {
      const late = () => new Error('no connection');
      const finding = cluster.findBroker({ nodeId: String(node) });
      const broker = await within(finding, limits.connectTimeoutMs, late).catch(() => null);
      if (broker !== null) await untilKnownAt(broker, limits, awaited);
    });
    await Promise.all(waits);
  } finally {
    await cluster.disconnect();
  }
}

async function untilKnownAt(
  broker: Broker,
  { metadataTimeoutMs }: LogClientLimits,
  { topics, partitions = 1 }: AwaitedTopics,
): Promise<void> {
  const late = () => new Error('no answer');
  for (let looks = 0; looks < looksMax; looks += 1) {
    try {
      const asking = broker.metadata([...topics]);
      const { topicMetadata } = await within(asking, metadataTimeoutMs, late);
      const isKnown = topicMetadata.every(
        ({ partitionMetadata: found }) =>
          found.length >= partitions && found.every(({ leader }) => leader >= 0),
      );
      if (isKnown) return;
    } catch (error) {
      // A broker that does not answer is away, and learns of them before it is back.
      if (!notYet.has(failureOf(error).type)) return;
    }
    await pause(lookMs);
  }
  throw new Fault('topic_unknown', 'retry', { facts: { topics: topics.length } });
}
