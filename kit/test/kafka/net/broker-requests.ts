import { recordBatchBytes, writeRecordBatch } from '../../../src/kafka/record-batch.ts';
import type { BytesReader, BytesWriter } from '../kafka-bytes.ts';

/** Requests that the brokers take, each in one version. */
export const keys = {
  produce: 0,
  fetch: 1,
  listOffsets: 2,
  metadata: 3,
  offsetCommit: 8,
  offsetFetch: 9,
  findCoordinator: 10,
  joinGroup: 11,
  heartbeat: 12,
  leaveGroup: 13,
  syncGroup: 14,
  describeGroups: 15,
  apiVersions: 18,
  initProducerId: 22,
} as const;

/** Version of each. */
export const versions: readonly (readonly [number, number])[] = [
  [keys.produce, 3],
  [keys.fetch, 4],
  [keys.listOffsets, 1],
  [keys.metadata, 1],
  [keys.offsetCommit, 2],
  [keys.offsetFetch, 1],
  [keys.findCoordinator, 0],
  [keys.joinGroup, 1],
  [keys.heartbeat, 0],
  [keys.leaveGroup, 0],
  [keys.syncGroup, 0],
  [keys.describeGroups, 0],
  [keys.apiVersions, 2],
  [keys.initProducerId, 0],
];

export interface AskedPartition {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** https://kafka.apache.org/protocol#The_Messages_Fetch, version 4. */
export function fetchIn(body: BytesReader): { waitMs: number; asked: readonly AskedPartition[] } {
  body.int32();
  const waitMs = body.int32();
  body.int32();
  body.int32();
  body.int8();
  const asked = body.list(() => {
    const topic = body.text();
    return body.list(() => {
      const [partition, offset] = [body.int32(), body.int64()];
      body.int32();
      return { topic, partition, offset };
    });
  });
  return { waitMs, asked: asked.flat() };
}

export interface FetchedResult extends AskedPartition {
  readonly error: number;
  readonly end: number;
  readonly values: readonly string[];
}

export function writeFetched(to: BytesWriter, results: readonly FetchedResult[]): void {
  to.int32(0).list(results, ({ topic, partition, offset, error, end, values }) => {
    to.text(topic).int32(1).int32(partition).int16(error).int64(end).int64(end).int32(0);
    to.bytes(batchOf(offset, values));
  });
}

function batchOf(offset: number, values: readonly string[]): Buffer {
  if (values.length === 0) return Buffer.alloc(0);
  const records = values.map((value) => ({ key: null, value: Buffer.from(value) }));
  const bytes = Buffer.alloc(recordBatchBytes({ records, timestampMs: 0 }));
  const identity = { producerId: 1, epoch: 0 };
  writeRecordBatch(bytes, 0, { identity, firstSequence: 0, timestampMs: 0, records });
  bytes.writeBigInt64BE(BigInt(offset));
  return bytes;
}

/** Partitions with a number each: a time, or an offset to commit. */
export function topicsIn<T>(body: BytesReader, one: (topic: string) => T): readonly T[] {
  return body
    .list(() => {
      const topic = body.text();
      return body.list(() => one(topic));
    })
    .flat();
}
