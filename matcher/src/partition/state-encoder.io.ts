import { Worker } from 'node:worker_threads';
import { Fault, within } from '@pm/kit/fault';
import type { Engine } from '../core/index.ts';
import type { EncodingRequest, EncodingResult } from './state-encoder-thread.io.ts';
import { hashHere, hashOf, type StateHash } from './state-hash.ts';

/** The bytes of a state and their SHA-256. */
export interface EncodedState {
  readonly bytes: Buffer;
  readonly hash: Buffer;
}

/** Encodes the state of an engine as it is at the call; the engine may go on at once. */
export interface StateEncoder {
  hash(engine: Engine): StateHash;
  encode(engine: Engine): Promise<EncodedState>;
}

/** Encodes on the calling thread, which stands still for it: for tests. */
export const encoderHere: StateEncoder = {
  hash: hashHere,
  encode: async (engine) => {
    const bytes = engine.encodeState();
    return { bytes, hash: hashOf(bytes) };
  },
};

/** Buffers of frozen states that are kept for the next: new memory costs more time than the copying. */
const buffersKept = 64;
/** Growth of a state that a buffer still serves. */
const headroom = 1.25;

export interface EncodingThreadOptions {
  readonly threadFile: URL;
  /** The thread has died: the process should stop. */
  onFault(fault: Fault): void;
}

interface Running {
  readonly engine: Engine;
  resolve(result: EncodingResult): void;
  reject(cause: unknown): void;
}

/**
 * Encodes the states of all partitions of this process in a thread of its own, one after the other. The caller only
 * freezes a state: lots of orders, flags of ids, positions and wallets are copied, all else is shared memory.
 */
export class EncodingThread implements StateEncoder {
  readonly #options: EncodingThreadOptions;
  readonly #thread: Worker;
  readonly #running = new Map<number, Running>();
  readonly #kept: ArrayBuffer[] = [];
  #nextId = 0;
  #closed = false;

  constructor(options: EncodingThreadOptions) {
    this.#options = options;
    this.#thread = new Worker(options.threadFile);
    this.#thread.on('message', (result: EncodingResult) => this.#settle(result));
    this.#thread.on('error', (cause) => this.#fail(cause));
    this.#thread.on('exit', () => this.#fail(undefined));
  }

  hash(engine: Engine): StateHash {
    let value: Buffer | null = null;
    const known = this.#run(engine, false).then(({ hash }) => {
      value = asBuffer(hash);
    });
    known.catch(() => {});
    return {
      get value() {
        return value;
      },
      onceKnown: (resolve, reject) => void known.then(resolve, reject),
    };
  }

  async encode(engine: Engine): Promise<EncodedState> {
    const { bytes, hash } = await this.#run(engine, true);
    return { bytes: asBuffer(bytes), hash: asBuffer(hash) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread.terminate();
  }

  #run(engine: Engine, wantsBytes: boolean): Promise<EncodingResult> {
    const copies: ArrayBuffer[] = [];
    const state = engine.freeze((count) => {
      const buffer = this.#take(count * 4);
      copies.push(buffer);
      return new Int32Array(buffer, 0, count);
    });
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#running.set(id, { engine, resolve, reject });
      this.#thread.postMessage({ id, state, wantsBytes, copies } satisfies EncodingRequest, copies);
    });
  }

  /** The smallest kept buffer with enough room, or a new one. */
  #take(bytes: number): ArrayBuffer {
    let best = -1;
    for (const [at, { byteLength }] of this.#kept.entries()) {
      const isBetter = best === -1 || byteLength < (this.#kept[best] as ArrayBuffer).byteLength;
      if (byteLength >= bytes && isBetter) best = at;
    }
    const [found] = best === -1 ? [] : this.#kept.splice(best, 1);
    return found ?? new ArrayBuffer(Math.ceil((bytes * headroom) / 8) * 8);
  }

  #settle(result: EncodingResult): void {
    const running = this.#running.get(result.id);
    this.#running.delete(result.id);
    running?.engine.thaw();
    this.#kept.push(...result.copies);
    this.#kept.splice(0, Math.max(0, this.#kept.length - buffersKept));
    running?.resolve(result);
  }

  #fail(cause: unknown): void {
    const facts = { states: this.#running.size };
    const fault = new Fault('state_encoder_died', 'stop', { facts, cause });
    for (const { reject } of this.#running.values()) reject(fault);
    this.#running.clear();
    if (!this.#closed) this.#options.onFault(fault);
  }
}

/** Longest wait for a hash, milliseconds: many times what the largest state takes. */
const hashWaitMs = 60_000;

/** Resolves when the hash is known. Throws `state_encoder_died` and `state_encoder_late` (stop). */
export async function hashKnown(hash: StateHash | null): Promise<void> {
  if (hash === null || hash.value !== null) return;
  const known = new Promise<void>((resolve, reject) => {
    hash.onceKnown(resolve, reject);
  });
  const late = () => new Fault('state_encoder_late', 'stop', { facts: { hashWaitMs } });
  await within(known, hashWaitMs, late);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
