import type { KeyObject } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { verifyInPool } from '@pm/domain/signoff/verify-in-pool.io';

/** Longest wait for the thread pool, milliseconds: thousands of checks; only hung calls of others take as long. */
const poolWaitMs = 500;

/** A signature to check. */
export interface SignedBytes {
  readonly key: KeyObject;
  readonly bytes: Uint8Array;
  readonly signature: Uint8Array;
}

interface SignaturePoolOptions {
  /** Checks were not made in time: until the pool answers again they are made on the calling thread. */
  onLate(): void;
  readonly verify?: typeof verifyInPool;
}

interface Waiting {
  readonly sinceMs: number;
  resolve(holds: boolean | null): void;
}

/**
 * Checks signatures in the thread pool of the process, which files and names of hosts use too: calls of theirs that
 * hang must not hold up processing. So a check that is late is given up, and none is begun until all that were given up
 * have ended.
 */
export class SignaturePool {
  readonly #options: SignaturePoolOptions;
  readonly #waiting = new Set<Waiting>();
  #givenUp = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SignaturePoolOptions) {
    this.#options = options;
  }

  /** Null where it cannot be checked here now. Never rejects; resolves with null when it was given up. */
  check({ key, bytes, signature }: SignedBytes): Promise<boolean | null> | null {
    if (this.#givenUp > 0) return null;
    const { verify = verifyInPool } = this.#options;
    return new Promise((resolve) => {
      const waiting: Waiting = { sinceMs: performance.now(), resolve };
      this.#waiting.add(waiting);
      this.#timer ??= setTimeout(() => void this.#giveUpLate(), poolWaitMs).unref();
      void verify(key, bytes, signature).then((holds) => {
        if (this.#waiting.delete(waiting)) resolve(holds);
        else this.#givenUp -= 1;
      });
    });
  }

  /** First takes what the pool has ready, which a busy thread has not seen. */
  async #giveUpLate(): Promise<void> {
    await setImmediate();
    this.#timer = undefined;
    const [oldest] = this.#waiting;
    if (oldest === undefined) return;
    const leftMs = poolWaitMs - (performance.now() - oldest.sinceMs);
    if (leftMs > 0) {
      this.#timer = setTimeout(() => void this.#giveUpLate(), leftMs).unref();
      return;
    }
    this.#givenUp += this.#waiting.size;
    for (const { resolve } of this.#waiting) resolve(null);
    this.#waiting.clear();
    this.#options.onLate();
  }
}
