import { putLong } from '@pm/schemas/avro/bytes';
import { crc32c } from './crc32c.ts';
import type { ProducerIdentity } from './partition-batch.ts';
import type { OutgoingRecord, RecordHeaders } from './records.ts';

/** Records of one partition as a broker stores them, uncompressed. */
export interface BatchContent {
  readonly identity: ProducerIdentity;
  /** The number of the first record under the identity. */
  readonly firstSequence: number;
  /** Timestamp of records that state none, milliseconds since 1970-01-01 UTC. */
  readonly timestampMs: number;
  readonly records: readonly Pick<OutgoingRecord, 'key' | 'value' | 'headers' | 'timestampMs'>[];
}

/** Bytes before the first record, and their fields (https://kafka.apache.org/documentation/#recordbatch). */
const headBytes = 61;
const lengthAt = 8;
const afterLengthAt = 12;
const magicAt = 16;
const crcAt = 17;
const checkedAt = 21;
const lastOffsetDeltaAt = 23;
const timestampsAt = 27;
const producerIdAt = 43;
const countAt = 57;
const magic = 2;

/** Bytes of the batch of these records. */
export function recordBatchBytes({ records, timestampMs }: BatchTimes): number {
  const firstMs = records[0]?.timestampMs ?? timestampMs;
  let bytes = headBytes;
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index] as Content;
    const body = bodyBytes(record, index, (record.timestampMs ?? timestampMs) - firstMs);
    bytes += varintBytes(body) + body;
  }
  return bytes;
}

/**
 * Writes a batch (`recordBatchBytes` long) at an offset of `to`, with its checksum; returns the offset after it. Each
 * byte is copied once, which kafkajs' encoder does four times.
 */
export function writeRecordBatch(to: Buffer, start: number, content: BatchContent): number {
  const { identity, firstSequence, timestampMs, records } = content;
  const firstMs = records[0]?.timestampMs ?? timestampMs;
  let latestMs = firstMs;
  let at = start + headBytes;
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index] as Content;
    const atMs = record.timestampMs ?? timestampMs;
    latestMs = Math.max(latestMs, atMs);
    at = writeRecord(to, at, record, { index, afterMs: atMs - firstMs });
  }
  to.fill(0, start, start + headBytes);
  to.writeInt32BE(at - start - afterLengthAt, start + lengthAt);
  to.writeInt8(magic, start + magicAt);
  to.writeInt32BE(records.length - 1, start + lastOffsetDeltaAt);
  to.writeBigInt64BE(BigInt(firstMs), start + timestampsAt);
  to.writeBigInt64BE(BigInt(latestMs), start + timestampsAt + 8);
  to.writeBigInt64BE(BigInt(identity.producerId), start + producerIdAt);
  to.writeInt16BE(identity.epoch, start + producerIdAt + 8);
  to.writeInt32BE(firstSequence, start + producerIdAt + 10);
  to.writeInt32BE(records.length, start + countAt);
  to.writeUInt32BE(crc32c(to.subarray(start + checkedAt, at)), start + crcAt);
  return at;
}

type Content = BatchContent['records'][number];
type BatchTimes = Pick<BatchContent, 'records' | 'timestampMs'>;

/** Always 0. */
const attributeBytes = 1;

function bodyBytes({ key, value, headers }: Content, index: number, afterMs: number): number {
  return (
    attributeBytes +
    longBytes(afterMs) +
    varintBytes(index) +
    bytesWithLength(key) +
    bytesWithLength(value) +
    headersBytes(headers)
  );
}

function headersBytes(headers: RecordHeaders | undefined): number {
  if (headers === undefined) return 1;
  const names = Object.keys(headers);
  return names.reduce((sum, name) => {
    const length = Buffer.byteLength(name);
    return sum + varintBytes(length) + length + bytesWithLength(headers[name] ?? null);
  }, varintBytes(names.length));
}

function bytesWithLength(bytes: Buffer | null): number {
  return bytes === null ? 1 : varintBytes(bytes.length) + bytes.length;
}

/** Its place in the batch, and how much later than the first it is, milliseconds. */
interface RecordPosition {
  readonly index: number;
  readonly afterMs: number;
}

function writeRecord(
  to: Buffer,
  start: number,
  record: Content,
  { index, afterMs }: RecordPosition,
): number {
  let at = putLong(to, start, bodyBytes(record, index, afterMs));
  to[at] = 0;
  at = putLong(to, at + attributeBytes, afterMs);
  at = putLong(to, at, index);
  at = writeBytes(to, at, record.key);
  at = writeBytes(to, at, record.value);
  const { headers } = record;
  if (headers === undefined) return putLong(to, at, 0);
  const names = Object.keys(headers);
  at = putLong(to, at, names.length);
  for (const name of names) {
    at = putLong(to, at, Buffer.byteLength(name));
    at += to.write(name, at);
    at = writeBytes(to, at, headers[name] ?? null);
  }
  return at;
}

function writeBytes(to: Buffer, start: number, bytes: Buffer | null): number {
  if (bytes === null) return putLong(to, start, -1);
  const at = putLong(to, start, bytes.length);
  to.set(bytes, at);
  return at + bytes.length;
}

/** Bytes of a zig-zag number beyond 32 bits. */
function longBytes(value: number): number {
  let rest = value < 0 ? -2 * value - 1 : 2 * value;
  let bytes = 1;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes += 1;
  return bytes;
}

/** Zig-zag: the sign is the lowest bit. */
function varintBytes(value: number): number {
  const bits = 32 - Math.clz32((value << 1) ^ (value >> 31));
  return bits === 0 ? 1 : Math.ceil(bits / 7);
}
