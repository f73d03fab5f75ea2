import { createHash } from 'node:crypto';
import type { SignOffKey } from '../signoff/keys.ts';

/** The header of a record that carries its seal. */
export const sealHeader = 'pm-seal';

/**
 * A seal as it is written:
 *
 *     | version 1 | key id 8 | writer 8 | sequence 8 | signature 64 |
 *
 * The signature covers the hash of everything before it, of the place (topic and partition) and of the record: its key
 * and all bytes of its value with the registry header, so also the id of the schema that it was written under.
 */
const version = 1;
const keyIdFrom = 1;
const writerFrom = 9;
const sequenceFrom = 17;
const signatureFrom = 25;
const sealBytes = 89;

/** Bytes of the id of a writer. */
export const writerIdBytes = 8;

/** Fields of a record that its signature covers, besides the seal itself. */
export interface SealedRecord {
  /** Name on the broker. */
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

/** The headers of a record that was read. */
export interface WithHeaders {
  readonly headers?: Readonly<Record<string, Buffer>>;
}

export interface Seal {
  /** Hex. */
  readonly keyId: string;
  /** One opened producer: its sequences grow in each partition. Hex. */
  readonly writer: string;
  readonly sequence: number;
  readonly signature: Buffer;
  /** The part of the seal that its signature covers. */
  readonly head: Buffer;
}

/** The seal of a record. `writer` has `writerIdBytes` bytes. */
export function sealRecord(
  key: SignOffKey,
  { writer, sequence }: { readonly writer: Buffer; readonly sequence: number },
  record: SealedRecord,
): Buffer {
  const seal = Buffer.alloc(sealBytes);
  seal.writeUInt8(version, 0);
  key.keyId.copy(seal, keyIdFrom);
  writer.copy(seal, writerFrom);
  seal.writeBigUInt64BE(BigInt(sequence), sequenceFrom);
  key.sign(signedBytes(seal.subarray(0, signatureFrom), record)).copy(seal, signatureFrom);
  return seal;
}

/** The seal in the headers of a record: null when it has none, `malformed` when the header is not one. */
export function readSeal({ headers }: WithHeaders): Seal | 'malformed' | null {
  const bytes = headers?.[sealHeader];
  if (bytes === undefined) return null;
  if (bytes.length !== sealBytes || bytes[0] !== version) return 'malformed';
  const sequence = bytes.readBigUInt64BE(sequenceFrom);
  if (sequence > BigInt(Number.MAX_SAFE_INTEGER)) return 'malformed';
  return {
    keyId: bytes.toString('hex', keyIdFrom, writerFrom),
    writer: bytes.toString('hex', writerFrom, sequenceFrom),
    sequence: Number(sequence),
    signature: bytes.subarray(signatureFrom),
    head: bytes.subarray(0, signatureFrom),
  };
}

/** The bytes under the signature of a seal: every part with its length, so that no two records share them. */
export function signedBytes(head: Buffer, record: SealedRecord): Buffer {
  const partition = Buffer.alloc(4);
  partition.writeUInt32BE(record.partition);
  const hash = createHash('sha256').update('pm-seal');
  for (const part of [head, Buffer.from(record.topic, 'utf8'), partition, record.key, record.value])
    hash.update(lengthOf(part)).update(part ?? noBytes);
  return hash.digest();
}

const noBytes = Buffer.alloc(0);

/** The length of a part; a missing key or value is not the same as an empty one. */
function lengthOf(part: Buffer | null): Buffer {
  const length = Buffer.alloc(5);
  length.writeUInt8(part === null ? 0 : 1, 0);
  length.writeUInt32BE(part?.length ?? 0, 1);
  return length;
}
