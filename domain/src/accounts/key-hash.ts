import { createHash } from 'node:crypto';

/** The stored form of a key that is sent in plain: its SHA-256. */
export function hashOfKey(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest();
}
