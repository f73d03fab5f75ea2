import { parseOffset } from './records.ts';
import { placeKey } from './send-queue.ts';

/** The part of kafkajs' untyped response to a produce request that is used. */
export interface ProduceResponse {
  readonly topics?: readonly {
    readonly topicName: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly baseOffset?: string | undefined;
    }[];
  }[];
}

/**
 * The first offset of each partition that a result covers, by `placeKey`. Nothing is known of a partition that is
 * missing: its records may be on the log.
 */
export function firstOffsets(answer: ProduceResponse): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>();
  for (const { topicName: topic, partitions } of answer.topics ?? [])
    for (const { partition, baseOffset } of partitions) {
      const base = baseOffset === undefined ? -1 : parseOffset(baseOffset);
      if (base >= 0) offsets.set(placeKey({ topic, partition }), base);
    }
  return offsets;
}
