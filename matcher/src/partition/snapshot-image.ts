import { createHash } from 'node:crypto';
import { hashOf } from './state-hash.ts';

/** A partition's state between two records. */
export interface Snapshot {
  readonly partition: number;
  /** The first input offset that is not in the state. */
  readonly nextOffset: number;
  /** Chain of the output before `nextOffset`, 32 bytes. */
  readonly chain: Buffer;
  /** Bytes of `encodeState`, and their SHA-256. */
  readonly state: Buffer;
  readonly stateHash: Buffer;
  /** Hash of the state at the last checkpoint, which the next one shows; `null` when none does. */
  readonly checkpoint: Buffer | null;
}

/**
 * The file of a snapshot, numbers big-endian:
 *
 *     | magic 8 | version 4 | partition 4 | nextOffset 8 | chain 32 | state bytes 8 | checkpoint 32 |
 *     | SHA-256 of the state 32 | SHA-256 of all before 32 | state ... |
 *
 * The checkpoint is zero when there is none. The thread that encodes a state hashes it, so no other has to.
 * Version 1 has no checkpoint and one hash over the head before it and the state:
 *
 *     | magic 8 | version 4 | partition 4 | nextOffset 8 | chain 32 | state bytes 8 | SHA-256 32 | state ... |
 */
const magic = Buffer.from('PMSNAPSH', 'latin1');
const version = 2;
const firstVersion = 1;
const at = {
  version: 8,
  partition: 12,
  nextOffset: 16,
  chain: 24,
  stateBytes: 56,
  checkpoint: 64,
  stateHash: 96,
  headHash: 128,
};
const headBytes = 160;
const first = { hash: 64, headBytes: 96 };

/** The file of a snapshot in two parts, so that the state is not copied. */
export function encodeImage(snapshot: Snapshot): readonly [head: Buffer, state: Buffer] {
  const head = Buffer.alloc(headBytes);
  magic.copy(head);
  head.writeUInt32BE(version, at.version);
  head.writeUInt32BE(snapshot.partition, at.partition);
  head.writeBigUInt64BE(BigInt(snapshot.nextOffset), at.nextOffset);
  snapshot.chain.copy(head, at.chain);
  head.writeBigUInt64BE(BigInt(snapshot.state.length), at.stateBytes);
  snapshot.checkpoint?.copy(head, at.checkpoint);
  snapshot.stateHash.copy(head, at.stateHash);
  hashOf(head.subarray(0, at.headHash)).copy(head, at.headHash);
  return [head, snapshot.state];
}

/** The snapshot in a file's bytes, or the reason why it cannot be used. */
export function decodeImage(
  bytes: Buffer,
  expected: Pick<Snapshot, 'partition' | 'nextOffset'>,
): Snapshot | string {
  if (bytes.length < first.headBytes) return 'shorter than its head';
  if (!bytes.subarray(0, magic.length).equals(magic)) return 'not a snapshot';
  const found = bytes.readUInt32BE(at.version);
  if (found !== version && found !== firstVersion) return 'of another version';
  if (found === version && bytes.length < headBytes) return 'shorter than its head';
  const state = bytes.subarray(found === version ? headBytes : first.headBytes);
  if (bytes.readBigUInt64BE(at.stateBytes) !== BigInt(state.length)) return 'of another length';
  const stateHash = hashOf(state);
  const isSound = found === version ? isWhole(bytes, stateHash) : isFirstWhole(bytes, state);
  if (!isSound) return 'damaged';
  const partition = bytes.readUInt32BE(at.partition);
  if (partition !== expected.partition) return 'of another partition';
  const nextOffset = Number(bytes.readBigUInt64BE(at.nextOffset));
  if (nextOffset !== expected.nextOffset) return 'of another offset than its name';
  const chain = Buffer.from(bytes.subarray(at.chain, at.stateBytes));
  const checkpoint = found === version ? checkpointIn(bytes) : null;
  return { partition, nextOffset, chain, state, stateHash, checkpoint };
}

function isWhole(bytes: Buffer, stateHash: Buffer): boolean {
  const headHash = hashOf(bytes.subarray(0, at.headHash));
  return (
    headHash.equals(bytes.subarray(at.headHash, headBytes)) &&
    stateHash.equals(bytes.subarray(at.stateHash, at.headHash))
  );
}

function isFirstWhole(bytes: Buffer, state: Buffer): boolean {
  const hash = createHash('sha256').update(bytes.subarray(0, first.hash)).update(state).digest();
  return hash.equals(bytes.subarray(first.hash, first.headBytes));
}

function checkpointIn(bytes: Buffer): Buffer | null {
  const hash = Buffer.from(bytes.subarray(at.checkpoint, at.stateHash));
  return hash.every((byte) => byte === 0) ? null : hash;
}
