import type { ProducerIdentity } from './partition-batch.ts';
import { recordBatchBytes, writeRecordBatch } from './record-batch.ts';
import type { OutgoingRecord } from './records.ts';

/** Records of one partition with the number of the first under an identity. */
export interface SequencedRecords {
  readonly topic: string;
  readonly partition: number;
  readonly firstSequence: number;
  readonly records: readonly OutgoingRecord[];
}

/** The content of a produce request; every batch is of the same identity. */
export interface ProduceContent {
  readonly identity: ProducerIdentity;
  /** Wait of the leader for its followers, milliseconds. */
  readonly ackTimeoutMs: number;
  /** Timestamp of records that state none, milliseconds since 1970-01-01 UTC. */
  readonly timestampMs: number;
  readonly batches: readonly SequencedRecords[];
}

/** This version to the newest of kafkajs have this layout (https://kafka.apache.org/protocol#The_Messages_Produce). */
export const produceVersionMin = 3;

/** No transaction, `acks` of all replicas in sync. */
const noText = -1;
const allReplicas = -1;

/**
 * The body of a request, after the header of the protocol. It is laid out at the start of what `memory` returns for its
 * size, in bytes.
 */
export function writeProduceRequest(
  content: ProduceContent,
  memory: (bytes: number) => Buffer = (bytes) => Buffer.allocUnsafe(bytes),
): Buffer {
  const topics = byTopic(content.batches);
  const sizes = new Map(
    content.batches.map((one) => [one, recordBatchBytes({ ...content, ...one })]),
  );
  const to = memory(requestBytes(topics, sizes));
  let at = to.writeInt16BE(noText, 0);
  at = to.writeInt16BE(allReplicas, at);
  at = to.writeInt32BE(content.ackTimeoutMs, at);
  at = to.writeInt32BE(topics.size, at);
  for (const [topic, batches] of topics) {
    at = to.writeInt16BE(Buffer.byteLength(topic), at);
    at += to.write(topic, at);
    at = to.writeInt32BE(batches.length, at);
    for (const batch of batches) {
      at = to.writeInt32BE(batch.partition, at);
      at = to.writeInt32BE(sizes.get(batch) ?? 0, at);
      at = writeRecordBatch(to, at, { ...content, ...batch });
    }
  }
  return to.subarray(0, at);
}

const requestHeadBytes = 12;
const topicHeadBytes = 6;
const partitionHeadBytes = 8;

function requestBytes(
  topics: ReadonlyMap<string, readonly SequencedRecords[]>,
  sizes: ReadonlyMap<SequencedRecords, number>,
): number {
  let bytes = requestHeadBytes;
  for (const topic of topics.keys()) bytes += topicHeadBytes + Buffer.byteLength(topic);
  for (const size of sizes.values()) bytes += partitionHeadBytes + size;
  return bytes;
}

/** In the order of their first batch. */
function byTopic(batches: readonly SequencedRecords[]): Map<string, SequencedRecords[]> {
  const topics = new Map<string, SequencedRecords[]>();
  for (const batch of batches) {
    const known = topics.get(batch.topic);
    if (known === undefined) topics.set(batch.topic, [batch]);
    else known.push(batch);
  }
  return topics;
}
