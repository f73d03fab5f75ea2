import { type DefinedScript, defineScript, type RedisClient } from '@pm/kit/redis';
import { type RedisKeys, retryLimits } from '@pm/schemas';

/** Names a request of a caller that may come again, and this process's hold of it. */
export interface IdempotencyKey {
  readonly caller: string;
  /** Hex digest of caller, route and key. */
  readonly digest: string;
  /** Digest of the meaning of the request. */
  readonly fingerprint: string;
  /** Names this process's hold of the key. */
  readonly token: string;
}

/**
 * `fresh`: not seen before. `resumed`: begun by a process that seems dead; the text is what it recorded. `done`: the text is
 * the response. `running`: begun a moment ago. `reused`: has another meaning. `full`: too many keys.
 */
type Began = readonly ['fresh' | 'resumed' | 'done' | 'running' | 'reused' | 'full', string];

const nowLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * KEYS record, keys of the caller. ARGV fingerprint, token, leaseMs, ttlMs, keysMax, digest. Returns the response of
 * a request that has one; of a request whose process seems dead, what it was about to do.
 */
const beginLua = `${nowLua}
local known = redis.call('HMGET', KEYS[1], 'fingerprint', 'answer', 'leaseUntil', 'attempt')
if known[1] then
  if known[1] ~= ARGV[1] then return {'reused', ''} end
  if known[2] then return {'done', known[2]} end
  if tonumber(known[3]) > now then return {'running', ''} end
  redis.call('HSET', KEYS[1], 'token', ARGV[2], 'leaseUntil', now + tonumber(ARGV[3]))
  return {'resumed', known[4] or ''}
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[5]) then return {'full', ''} end
local ttl = tonumber(ARGV[4])
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'token', ARGV[2], 'leaseUntil', now + tonumber(ARGV[3]))
redis.call('PEXPIRE', KEYS[1], ttl)
redis.call('ZADD', KEYS[2], now + ttl, ARGV[6])
redis.call('PEXPIRE', KEYS[2], ttl)
return {'fresh', ''}
`;

/** KEYS record. ARGV token, field, value, leaseMs. 0 when another process carries on by now. */
const keepLua = `${nowLua}
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3], 'leaseUntil', now + tonumber(ARGV[4]))
return 1
`;

/** KEYS record, keys of the caller. ARGV token, digest. */
const forgetLua = `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
redis.call('ZREM', KEYS[2], ARGV[2])
return redis.call('DEL', KEYS[1])
`;

/**
 * Requests with an idempotency key, in the Redis that all ingress share. Every step is one atomic script and only the process
 * that holds the key may write: one that was taken for dead finds that out before it sends anything. Rejects with `openRedis`'
 * faults.
 */
export class IdempotencyKeys {
  readonly #keys: RedisKeys;
  readonly #begin: DefinedScript<Began>;
  readonly #keep: DefinedScript<number>;
  readonly #forget: DefinedScript<number>;

  constructor(redis: RedisClient, keys: RedisKeys) {
    this.#keys = keys;
    this.#begin = defineScript(redis, 'retryBegin', beginLua, 2);
    this.#keep = defineScript(redis, 'retryKeep', keepLua, 1);
    this.#forget = defineScript(redis, 'retryForget', forgetLua, 2);
  }

  async begin({ caller, digest, fingerprint, token }: IdempotencyKey) {
    const { leaseMs, ttlMs, keysPerCallerMax } = retryLimits;
    const [kind, text] = await this.#begin.run(
      [this.#keys.retry(digest), this.#keys.retries(caller)],
      [fingerprint, token, leaseMs, ttlMs, keysPerCallerMax, digest],
    );
    return { kind, text };
  }

  /** False when another process carries on by now: nothing must be sent then. */
  async record({ digest, token }: IdempotencyKey, attempt: string): Promise<boolean> {
    return await this.#write(digest, [token, 'attempt', attempt, retryLimits.leaseMs]);
  }

  async finish({ digest, token }: IdempotencyKey, answer: string): Promise<void> {
    await this.#write(digest, [token, 'answer', answer, 0]);
  }

  /** Leaves the request to the next retry. */
  async yield({ digest, token }: IdempotencyKey): Promise<void> {
    await this.#write(digest, [token, 'yielded', 1, 0]);
  }

  /** As if the request had never come. */
  async forget({ caller, digest, token }: IdempotencyKey): Promise<void> {
    await this.#forget.run([this.#keys.retry(digest), this.#keys.retries(caller)], [token, digest]);
  }

  async #write(digest: string, args: readonly (string | number)[]): Promise<boolean> {
    return (await this.#keep.run([this.#keys.retry(digest)], args)) === 1;
  }
}
