import { createHash } from 'node:crypto';

/** A partition's state between two records. */
export interface Snapshot {
  readonly partition: number;
  /** The first input offset that is not in the state. */
  readonly nextOffset: number;
  /** Chain of the output before `nextOffset`, 32 bytes. */
  readonly chain: Buffer;
  /** Bytes of `encodeState`. */
  readonly state: Buffer;
}

/**
 * The file of a snapshot, numbers big-endian:
 *
 *     | magic 8 | version 4 | partition 4 | nextOffset 8 | chain 32 | state bytes 8 | SHA-256 32 | state ... |
 *     '------------------------------ hashed ----------------------------------'              '- hashed -'
 */
const magic = Buffer.from('PMSNAPSH', 'latin1');
const version = 1;
const at = { version: 8, partition: 12, nextOffset: 16, chain: 24, stateBytes: 56, hash: 64 };
const headBytes = 96;

/** The file of a snapshot in two parts, so that the state is not copied. */
export function encodeImage(snapshot: Snapshot): readonly [head: Buffer, state: Buffer] {
  const head = Buffer.alloc(headBytes);
  magic.copy(head);
  head.writeUInt32BE(version, at.version);
  head.writeUInt32BE(snapshot.partition, at.partition);
  head.writeBigUInt64BE(BigInt(snapshot.nextOffset), at.nextOffset);
  snapshot.chain.copy(head, at.chain);
  head.writeBigUInt64BE(BigInt(snapshot.state.length), at.stateBytes);
  hashOf(head, snapshot.state).copy(head, at.hash);
  return [head, snapshot.state];
}

/** The snapshot in a file's bytes, or the reason why it cannot be used. */
export function decodeImage(
  bytes: Buffer,
  expected: Pick<Snapshot, 'partition' | 'nextOffset'>,
): Snapshot | string {
  if (bytes.length < headBytes) return 'shorter than its head';
  if (!bytes.subarray(0, magic.length).equals(magic)) return 'not a snapshot';
  if (bytes.readUInt32BE(at.version) !== version) return 'of another version';
  const state = bytes.subarray(headBytes);
  if (bytes.readBigUInt64BE(at.stateBytes) !== BigInt(state.length)) return 'of another length';
  if (!hashOf(bytes, state).equals(bytes.subarray(at.hash, headBytes))) return 'damaged';
  const partition = bytes.readUInt32BE(at.partition);
  if (partition !== expected.partition) return 'of another partition';
  const nextOffset = Number(bytes.readBigUInt64BE(at.nextOffset));
  if (nextOffset !== expected.nextOffset) return 'of another offset than its name';
  const chain = Buffer.from(bytes.subarray(at.chain, at.stateBytes));
  return { partition, nextOffset, chain, state };
}

function hashOf(head: Buffer, state: Buffer): Buffer {
  return createHash('sha256').update(head.subarray(0, at.hash)).update(state).digest();
}
