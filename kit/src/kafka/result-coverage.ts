import { type OutgoingRecord, parseOffset, type RecordPlace } from './records.ts';
import { placeKey } from './send-queue.ts';

/** The broker's result for one partition of a send. */
export interface PartitionResult {
  readonly topicName: string;
  readonly partition: number;
  readonly baseOffset?: string | undefined;
}

/**
 * The place of each record, or `null` for a record whose partition is missing from the result. Nothing is known of
 * such a record: kafkajs drops records of a partition that it does not know, and it does not ask a broker again that
 * has answered this send for another partition, also when a leader died after appending and that broker leads in its
 * place (traps.md).
 */
export function placesOf(
  records: readonly OutgoingRecord[],
  results: readonly PartitionResult[],
): readonly (RecordPlace | null)[] {
  const next = new Map<string, number>();
  for (const { topicName, partition, baseOffset } of results) {
    const base = baseOffset === undefined ? -1 : parseOffset(baseOffset);
    if (base >= 0) next.set(placeKey({ topic: topicName, partition }), base);
  }
  return records.map((record) => {
    const key = placeKey(record);
    const offset = next.get(key);
    if (offset === undefined) return null;
    next.set(key, offset + 1);
    return { partition: record.partition, offset };
  });
}
