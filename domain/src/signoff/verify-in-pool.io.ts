import { type KeyObject, verify } from 'node:crypto';

/**
 * Whether a signature is this key's over the bytes, like `Verifier` of keys.ts, computed in the thread pool of the
 * process; null when it could not be computed there. Never rejects. The arguments are copied before it returns.
 */
export function verifyInPool(
  key: KeyObject,
  bytes: Uint8Array,
  signature: Uint8Array,
): Promise<boolean | null> {
  return new Promise((resolve) => {
    verify(null, bytes, key, signature, (error, holds) => resolve(error === null ? holds : null));
  });
}
