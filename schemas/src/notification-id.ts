import { keccak_256 } from '@noble/hashes/sha3.js';

/** Bytes of an id: a whole number that every client reads exactly. */
const idBytes = 6;

/** The id of a notification: made of the event and the wallet, so that it is the same for every process at any time. */
export function notificationId(happening: string): number {
  const hash = keccak_256(Buffer.from(happening, 'utf8'));
  return Buffer.from(hash.subarray(0, idBytes)).readUIntBE(0, idBytes);
}
