import { createHash } from 'node:crypto';
import type { Engine } from '../core/index.ts';

/** SHA-256 of the bytes of a state, which another thread may still compute. */
export interface StateHash {
  /** 32 bytes; `null` until it is known. */
  readonly value: Buffer | null;
  /** Calls `resolve` when it is known, `reject` with a fault when it will never be. */
  onceKnown(resolve: () => void, reject: (fault: unknown) => void): void;
}

/** The hash of the state of an engine as it is at the call; the engine may go on at once. */
export type HashState = (engine: Engine) => StateHash;

/** Computes it here, for which the thread stands still. */
export const hashHere: HashState = (engine) => knownHash(hashOf(engine.encodeState()));

export function knownHash(value: Buffer): StateHash {
  return { value, onceKnown: (resolve) => resolve() };
}

export function hashOf(state: Uint8Array): Buffer {
  return createHash('sha256').update(state).digest();
}
