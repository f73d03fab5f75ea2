import { createHash } from 'node:crypto';
import { putLong } from '@pm/schemas/avro/bytes';
import { type Execution, executionChainBytes } from '@pm/schemas/log/executions';
import { type Envelope, envelopeSignatureBytes } from '@pm/schemas/log/orders';
import { registryHeaderBytes } from '@pm/schemas/log/topics';
import type { SignOffKey, Verifier } from './keys.ts';

/** The writing half of a record codec of `@pm/kit/registry`. */
export interface Encoder<T> {
  encode(value: T): Buffer;
}

/** The writing half of a codec whose records are signed together with the schema that they are written with. */
export interface SealingEncoder<T> extends Encoder<T> {
  /** Fingerprint of the schema that is written, 32 bytes. */
  readonly fingerprint: Buffer;
}

/** Where the signed bytes of an envelope and the chained bytes of an execution begin. */
const signedFrom = registryHeaderBytes + envelopeSignatureBytes;
const chainedFrom = registryHeaderBytes + executionChainBytes;

const noSignature = Buffer.alloc(envelopeSignatureBytes);
const noChain = Buffer.alloc(executionChainBytes);

/** The chain before the first record of a partition: 32 zero bytes. */
export const firstChain: Buffer = Buffer.alloc(executionChainBytes);

/**
 * The record value of an envelope: header 5 | signature 64 | key id and commands. The signature covers the fingerprint
 * of the schema and every byte after it (layout: schemas/src/log/orders.ts).
 */
export function sealEnvelope(
  codec: SealingEncoder<Envelope>,
  key: SignOffKey,
  content: Pick<Envelope, 'partition' | 'sequence' | 'commands'>,
): Buffer {
  const value = codec.encode({ ...content, signature: noSignature, keyId: key.keyId });
  key.sign(signedBytes(value, codec.fingerprint)).copy(value, registryHeaderBytes);
  return value;
}

/**
 * Whether the envelope was signed by the verifier's key over the bytes as they are and the schema of this fingerprint,
 * that of the id in the header; `null` for the bytes alone, as in logs of older versions. False, never a throw, for a
 * value too short to be one.
 */
export function verifySealed(
  value: Buffer,
  verifier: Verifier,
  fingerprint: Buffer | null,
): boolean {
  if (value.length <= signedFrom) return false;
  const signed =
    fingerprint === null ? value.subarray(signedFrom) : signedBytes(value, fingerprint);
  return verifier(signed, signatureOf(value));
}

/** Bytes that a sign-off covers, and its signature. */
export interface SealedBytes {
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** Puts together what sign-offs cover in memory that is used again: each is valid until the next. */
export class SealedBytesReader {
  #memory = Buffer.alloc(0);

  /** Null for a value too short to be an envelope. */
  read(value: Buffer, fingerprint: Buffer): SealedBytes | null {
    if (value.length <= signedFrom) return null;
    const bytes = fingerprint.length + value.length - signedFrom;
    if (this.#memory.length < bytes) this.#memory = Buffer.allocUnsafeSlow(bytes * 2);
    fingerprint.copy(this.#memory);
    value.copy(this.#memory, fingerprint.length, signedFrom);
    return { signed: this.#memory.subarray(0, bytes), signature: signatureOf(value) };
  }
}

function signatureOf(value: Buffer): Buffer {
  return value.subarray(registryHeaderBytes, signedFrom);
}

/** The fingerprint and every byte after the signature. */
function signedBytes(value: Buffer, fingerprint: Buffer): Buffer {
  return Buffer.concat([fingerprint, value.subarray(signedFrom)]);
}

/**
 * The record value of an execution and its chain: SHA-256 of the previous chain and of every byte after the chain field
 * (schemas/src/log/executions.ts). The first record of a partition follows `firstChain`.
 */
export function sealExecution(
  codec: Encoder<Execution>,
  previousChain: Buffer,
  body: Omit<Execution, 'chain'>,
): { readonly value: Buffer; readonly chain: Buffer } {
  return chained(codec.encode({ ...body, chain: noChain }), previousChain);
}

/**
 * The record value of an execution and its chain, as `sealExecution` returns them, for encoded events: `written.bytes`
 * returns the bytes of `written.length` consecutive ones. The events are the last field, so the codec writes the head
 * with an empty array, whose end is one byte.
 */
export function sealWritten(
  codec: Encoder<Execution>,
  previousChain: Buffer,
  { head, written }: WrittenExecution,
): { readonly value: Buffer; readonly chain: Buffer } {
  const { length } = written;
  const front = codec.encode({ ...head, chain: noChain, events: [] });
  if (length === 0) return chained(front, previousChain);
  const bytes = written.bytes();
  const value = Buffer.allocUnsafe(front.length + countBytesMax + bytes.length);
  const at = putLong(value, front.length - 1, length);
  value.set(front.subarray(0, front.length - 1));
  value.set(bytes, at);
  value[at + bytes.length] = 0;
  return chained(value.subarray(0, at + bytes.length + 1), previousChain);
}

export interface WrittenExecution {
  readonly head: Omit<Execution, 'chain' | 'events'>;
  readonly written: { readonly length: number; bytes(): Buffer };
}

/** The largest varint the codec writes. */
const countBytesMax = 10;

function chained(value: Buffer, previousChain: Buffer): { value: Buffer; chain: Buffer } {
  const chain = chainOf(value, previousChain);
  chain.copy(value, registryHeaderBytes);
  return { value, chain };
}

/** Whether the execution follows the record whose chain is given. False for a value too short to be one. */
export function checkChain(value: Buffer, previousChain: Buffer): boolean {
  if (value.length <= chainedFrom) return false;
  return chainOf(value, previousChain).equals(value.subarray(registryHeaderBytes, chainedFrom));
}

function chainOf(value: Buffer, previousChain: Buffer): Buffer {
  return createHash('sha256').update(previousChain).update(value.subarray(chainedFrom)).digest();
}
