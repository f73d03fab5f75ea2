import { Fault } from '@pm/kit/fault';
import { cacheBudgets } from '@pm/schemas/redis/cache';
import { usedProofLimits } from '@pm/schemas/redis/keys';
import {
  type ProofResult,
  proofTtlMs,
  spentAgeMs,
  type UsedProof,
  type UsedProofs,
} from '../src/http/used-proofs.io.ts';

/** The rule of used proofs without Redis: several processes may share one; see used-proofs.engine.test.ts. */
export class ProofMemory implements Pick<UsedProofs, 'note'> {
  nowMs = 1_000;
  /** Whether the store is away. */
  isAway = false;
  repeated = 0;
  unnoted = 0;
  readonly #max: number;
  readonly #firstMs = new Map<string, number>();

  constructor(bytesMax: number = cacheBudgets().usedProofsOfSet) {
    this.#max = Math.floor(bytesMax / usedProofLimits.proofBytes);
  }

  async note({ repetition, digest, windowMs, isSpent }: UsedProof): Promise<ProofResult> {
    if (this.isAway) throw new Fault('redis_unavailable', 'retry');
    const kind = `${repetition}:${windowMs}`;
    const ttlMs = proofTtlMs(windowMs);
    const bornMs = this.nowMs - (isSpent === true ? spentAgeMs : 0);
    for (const [name, firstMs] of this.#firstMs) {
      if (name.startsWith(kind) && firstMs <= this.nowMs - ttlMs) this.#firstMs.delete(name);
    }
    const name = `${kind}:${digest.toString('hex')}`;
    const firstMs = this.#firstMs.get(name);
    if (firstMs !== undefined) {
      if (isSpent === true) this.#firstMs.set(name, Math.min(firstMs, bornMs));
      return { kind: 'again', ageMs: this.nowMs - firstMs };
    }
    const ofKind = [...this.#firstMs.keys()].filter((known) => known.startsWith(kind));
    if (ofKind.length >= this.#max) return { kind: 'full' };
    this.#firstMs.set(name, bornMs);
    return { kind: 'first' };
  }

  readonly counts = {
    repeated: () => {
      this.repeated += 1;
    },
    unnoted: () => {
      this.unnoted += 1;
    },
  };
}
