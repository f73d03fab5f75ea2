import { assert } from '../assert/index.ts';

/** Headers of a record by name: facts about it that are not part of its value. */
export type RecordHeaders = Readonly<Record<string, Buffer>>;

/** One record to append. The partition is always explicit: no hash ever chooses it. */
export interface OutgoingRecord {
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer | null;
  /** `null` is a tombstone on a compacted topic. */
  readonly value: Buffer | null;
  readonly headers?: RecordHeaders;
  /** Time that it is stored with, milliseconds since 1970-01-01 UTC; by default that of its request. */
  readonly timestampMs?: number;
}

/** The place of a durable record. */
export interface RecordPlace {
  readonly partition: number;
  readonly offset: number;
}

/** One record as read. */
export interface IncomingRecord {
  readonly offset: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** Producer's time, milliseconds since 1970-01-01 UTC; for display only, never for decisions. */
  readonly timestampMs: number;
  /** Absent when it has none. */
  readonly headers?: RecordHeaders;
}

/** Records of one partition in offset order; never empty. */
export interface RecordBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly IncomingRecord[];
  /** End offset of the partition as the broker reported it with these records. */
  readonly highWatermark: number;
  /** The first offset and the one after the last that it was made of, when records were left out; it may be empty. */
  readonly offsets?: { readonly from: number; readonly to: number };
}

/** Lowest and end offset of a partition: records exist in [low, high). */
export interface PartitionBounds {
  readonly low: number;
  readonly high: number;
}

/** An offset as Kafka sends it. Offsets are 64-bit; no partition reaches 2^53 records. */
export function parseOffset(text: string): number {
  const offset = Number(text);
  assert(Number.isSafeInteger(offset), 'an offset is a safe integer');
  return offset;
}

/** Bytes a record counts with against queue and batch limits (payload and a constant for its frame). */
export function recordBytes(record: Pick<OutgoingRecord, 'key' | 'value' | 'headers'>): number {
  const { key, value, headers } = record;
  const base = (key?.length ?? 0) + (value?.length ?? 0) + recordFrameBytes;
  if (headers === undefined) return base;
  return Object.entries(headers).reduce(
    (sum, [name, bytes]) => sum + name.length + bytes.length,
    base,
  );
}

const recordFrameBytes = 24;
