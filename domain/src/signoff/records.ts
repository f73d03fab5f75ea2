import { createHash } from 'node:crypto';
import type { RecordCodec } from '@pm/kit/registry';
import {
  ByteWriter,
  type Envelope,
  type Execution,
  envelopeSignatureBytes,
  executionChainBytes,
  registryHeaderBytes,
} from '@pm/schemas';
import type { SignOffKey, Verifier } from './keys.ts';

/** Where the signed bytes of an envelope and the chained bytes of an execution begin. */
const signedFrom = registryHeaderBytes + envelopeSignatureBytes;
const chainedFrom = registryHeaderBytes + executionChainBytes;

const noSignature = Buffer.alloc(envelopeSignatureBytes);
const noChain = Buffer.alloc(executionChainBytes);

/** The chain before the first record of a partition: 32 zero bytes. */
export const firstChain: Buffer = Buffer.alloc(executionChainBytes);

/**
 * The record value of an envelope: header 5 | signature 64 | key id and commands. The signature covers every byte behind
 * it (layout: schemas/src/topics/orders.ts).
 */
export function sealEnvelope(
  codec: Pick<RecordCodec<Envelope>, 'encode'>,
  key: SignOffKey,
  content: Pick<Envelope, 'partition' | 'sequence' | 'commands'>,
): Buffer {
  const value = codec.encode({ ...content, signature: noSignature, keyId: key.keyId });
  key.sign(value.subarray(signedFrom)).copy(value, registryHeaderBytes);
  return value;
}

/**
 * Whether the envelope was signed by the verifier's key over the bytes as they are. False, never a throw, for a value too
 * short to be one. The 5 header bytes are outside of the signature: they only choose the schema the rest is read with.
 */
export function verifySealed(value: Buffer, verifier: Verifier): boolean {
  if (value.length <= signedFrom) return false;
  return verifier(value.subarray(signedFrom), value.subarray(registryHeaderBytes, signedFrom));
}

/**
 * The record value of an execution and its chain: SHA-256 of the chain before and of every byte behind the chain field
 * (schemas/src/topics/executions.ts). The first record of a partition follows `firstChain`.
 */
export function sealExecution(
  codec: Pick<RecordCodec<Execution>, 'encode'>,
  previousChain: Buffer,
  body: Omit<Execution, 'chain'>,
): { readonly value: Buffer; readonly chain: Buffer } {
  return chained(codec.encode({ ...body, chain: noChain }), previousChain);
}

/**
 * The same for events that were written already: `written.bytes` are those of `written.length` of them, one behind the
 * other. The events are the last field, so the codec writes the head with an empty array, whose end is one byte.
 */
export function sealWritten(
  codec: Pick<RecordCodec<Execution>, 'encode'>,
  previousChain: Buffer,
  { head, written }: WrittenExecution,
): { readonly value: Buffer; readonly chain: Buffer } {
  const { length } = written;
  const front = codec.encode({ ...head, chain: noChain, events: [] });
  if (length === 0) return chained(front, previousChain);
  const bytes = written.bytes();
  const to = new ByteWriter(front.length + countBytesMax + bytes.length);
  to.writeBytes(front.subarray(0, front.length - 1));
  to.writeLong(length);
  to.writeBytes(bytes);
  to.writeByte(0);
  return chained(to.buffer.subarray(0, to.position), previousChain);
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
