import { Fault } from '@pm/kit/fault';
import { retryLimits } from '@pm/schemas/redis/keys';
import type { IdempotencyMemory } from '../src/http/idempotency.io.ts';
import type { IdempotencyKey } from '../src/http/idempotency-keys.io.ts';

interface Kept {
  fingerprint: string;
  token: string;
  leaseUntilMs: number;
  expiresAtMs: number;
  attempt: string;
  answer?: string;
}

/**
 * The rule of the idempotency keys without Redis: several processes may share one; see idempotency-keys.engine.test.ts.
 */
export class RetryMemory implements IdempotencyMemory {
  nowMs = 1_000;
  /** Whether the store is away. */
  isAway = false;
  readonly #kept = new Map<string, Kept>();
  /** Whether there is no room for further keys: in the part of each wallet, or in all. */
  isFull: false | 'wallet' | 'all' = false;
  /** Whether there is no room for what is about to be sent. */
  isFullForRecords = false;

  get size(): number {
    return this.#kept.size;
  }

  /** All that is kept, by digest. */
  get entries(): ReadonlyMap<string, object> {
    return this.#kept;
  }

  async begin({ digest, fingerprint, token }: IdempotencyKey) {
    this.#meet();
    const { leaseMs, ttlMs } = retryLimits;
    const known = this.#kept.get(digest);
    const leaseUntilMs = this.nowMs + leaseMs;
    if (known !== undefined && known.expiresAtMs > this.nowMs) {
      if (known.fingerprint !== fingerprint) return { kind: 'reused', text: '' } as const;
      if (known.answer !== undefined) return { kind: 'done', text: known.answer } as const;
      if (known.leaseUntilMs > this.nowMs) return { kind: 'running', text: '' } as const;
      Object.assign(known, { token, leaseUntilMs });
      return { kind: 'resumed', text: known.attempt } as const;
    }
    if (this.isFull === 'wallet') return { kind: 'full', text: '' } as const;
    if (this.isFull === 'all') return { kind: 'fullForAll', text: '' } as const;
    const expiresAtMs = this.nowMs + ttlMs;
    this.#kept.set(digest, { fingerprint, token, leaseUntilMs, expiresAtMs, attempt: '' });
    return { kind: 'fresh', text: '' } as const;
  }

  async record(key: IdempotencyKey, attempt: string): Promise<boolean> {
    if (this.isFullForRecords) throw new Fault('retries_full', 'retry');
    return this.#write(key, { attempt, leaseUntilMs: this.nowMs + retryLimits.leaseMs });
  }

  async finish(key: IdempotencyKey, answer: string): Promise<void> {
    this.#write(key, { answer });
  }

  async yield(key: IdempotencyKey): Promise<void> {
    this.#write(key, { leaseUntilMs: this.nowMs });
  }

  async forget(key: IdempotencyKey): Promise<void> {
    if (!this.#write(key, {})) return;
    this.#kept.delete(key.digest);
  }

  #write({ digest, token }: IdempotencyKey, change: Partial<Kept>): boolean {
    this.#meet();
    const known = this.#kept.get(digest);
    if (known === undefined || known.token !== token) return false;
    Object.assign(known, change);
    return true;
  }

  #meet(): void {
    if (this.isAway) throw new Fault('redis_unavailable', 'retry');
  }
}
