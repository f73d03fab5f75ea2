import { parentPort } from 'node:worker_threads';
import { assert } from '@pm/kit/assert';
import { encodeFrozen, type FrozenState } from '../core/index.ts';
import { hashOf } from './state-hash.ts';

export interface EncodingRequest {
  readonly id: number;
  readonly state: FrozenState;
  /** Whether the bytes are to be returned beside their hash. */
  readonly wantsBytes: boolean;
  /** Memory of the copies in `state`; it is given back. */
  readonly copies: ArrayBuffer[];
}

export interface EncodingResult {
  readonly id: number;
  /** Empty when they were not wanted. */
  readonly bytes: Uint8Array;
  readonly hash: Uint8Array;
  readonly copies: ArrayBuffer[];
}

/** The thread: a frozen state in, its hash and its bytes out. */
function run(): void {
  const port = parentPort;
  assert(port !== null, 'this file runs as a worker thread');
  port.on('message', ({ id, state, wantsBytes, copies }: EncodingRequest) => {
    const encoded = encodeFrozen(state);
    const hash = new Uint8Array(hashOf(encoded));
    const bytes = wantsBytes ? encoded : new Uint8Array(0);
    const moved = [...copies, bytes.buffer as ArrayBuffer];
    port.postMessage({ id, bytes, hash, copies } satisfies EncodingResult, moved);
  });
}

run();
