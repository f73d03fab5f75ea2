import type { KnownKeys } from './signature.ts';

/** Public keys kept per thread; about 200 bytes each. */
const knownKeysMax = 50_000;

/** Public keys of wallets that signed before. Full, it forgets the one that was added first. */
export function openKnownKeys(max = knownKeysMax): KnownKeys {
  const keys = new Map<string, Buffer>();
  return {
    get: (owner) => keys.get(owner),
    set(owner, publicKey) {
      if (keys.size >= max) {
        const oldest = keys.keys().next().value;
        if (oldest !== undefined) keys.delete(oldest);
      }
      keys.set(owner, publicKey);
    },
  };
}
