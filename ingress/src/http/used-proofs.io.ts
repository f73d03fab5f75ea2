import { type DefinedScript, defineScript, type RedisClient } from '@pm/kit/redis';
import { cacheBudgets } from '@pm/schemas/redis/cache';
import { type RedisCacheKeys, usedProofLimits } from '@pm/schemas/redis/keys';
import type { Repetition } from '@pm/schemas/routes/route';

/** A proof that is good once: of a request whose repetitions are not harmless, or a wallet's own signature. */
export interface UsedProof {
  readonly repetition: Exclude<Repetition, 'harmless'>;
  /** 32 bytes: the HMAC, or a hash of what the wallet signed; whatever text they came in. */
  readonly digest: Buffer;
  /** Largest distance of its timestamp from now, milliseconds. */
  readonly windowMs: number;
  /** Its request is refused for what the proof does not cover: no other one is carried out with it, however soon. */
  readonly isSpent?: boolean;
}

/** How a proof was met: for the first time, again after `ageMs`, or with no room to note it. */
export type ProofResult =
  | { readonly kind: 'first' | 'full' }
  | { readonly kind: 'again'; readonly ageMs: number };

/**
 * KEYS the proofs of one kind. ARGV digest, ttlMs, proofsMax, age that the proof has from now on (0: as it is). Returns
 * the age of a known proof in milliseconds, -1 for a new one, -2 when there is no room for it.
 */
const noteLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ttl = tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ttl)
local first = redis.call('ZSCORE', KEYS[1], ARGV[1])
local born = now - tonumber(ARGV[4])
if first and tonumber(ARGV[4]) > 0 and tonumber(first) > born then
  redis.call('ZADD', KEYS[1], born, ARGV[1])
end
-- After a step of the clock to before the first time the distance counts: it is no proof of the last seconds.
if first then return math.abs(now - first) end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return -2 end
redis.call('ZADD', KEYS[1], born, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ttl)
return -1
`;

/** 128 bits of a digest find a proof; 16 bytes fit into the smallest node of a sorted set. */
const memberBytes = 16;

/** A spent proof is noted as older than the grace of its kind, milliseconds. */
export const spentAgeMs: number = usedProofLimits.graceMs + 1;

/** How long a proof is remembered: its timestamp may be a window ahead, and stays fresh for another one. */
export function proofTtlMs(windowMs: number): number {
  return 2 * windowMs + usedProofLimits.clockMarginMs + spentAgeMs;
}

/**
 * The proofs of requests that were carried out, in the Redis that all ingress share: each for as long as its timestamp
 * can be fresh, and each kind bounded in bytes. Rejects with `openRedis`' faults.
 */
export class UsedProofs {
  readonly #keys: RedisCacheKeys;
  readonly #note: DefinedScript<number>;
  readonly #proofsMax: number;

  constructor(
    redis: RedisClient,
    keys: RedisCacheKeys,
    bytesMax: number = cacheBudgets().usedProofsOfSet,
  ) {
    this.#keys = keys;
    this.#note = defineScript(redis, 'noteProof', noteLua, 1);
    this.#proofsMax = Math.floor(bytesMax / usedProofLimits.proofBytes);
  }

  /** Notes a proof before its request is carried out; one step for all processes. */
  async note({ repetition, digest, windowMs, isSpent }: UsedProof): Promise<ProofResult> {
    const ageMs = isSpent === true ? spentAgeMs : 0;
    const ttlMs = proofTtlMs(windowMs);
    const result = await this.#note.run(
      [this.#keys.usedProofs(`${repetition}:${windowMs}`)],
      [digest.subarray(0, memberBytes), ttlMs, this.#proofsMax, ageMs],
    );
    if (result >= 0) return { kind: 'again', ageMs: result };
    return { kind: result === -1 ? 'first' : 'full' };
  }
}
