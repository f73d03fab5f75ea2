import { type DefinedScript, defineScript, type RedisClient } from '@pm/kit/redis';
import { type RedisKeys, retryLimits } from '@pm/schemas';

/** `RetryKey` of the routes. */
interface RetryKey {
  readonly caller: string;
  /** Hex digest of caller, route and key. */
  readonly digest: string;
  readonly fingerprint: string;
  /** Names this process's hold of the key. */
  readonly token: string;
}

type Began = readonly ['fresh' | 'resumed' | 'done' | 'running' | 'reused' | 'full', string];

const nowLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * KEYS record, keys of the caller. ARGV fingerprint, token, leaseMs, ttlMs, keysMax, digest. Of a request that was
 * answered the answer; of one whose process seems dead what it was about to do.
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

/** KEYS record. ARGV token, field, value, leaseMs. 0 when somebody else carries on by now. */
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
 * Requests with a retry key, in the Redis that all ingress share. Every step is one atomic script and only who holds the
 * key may write: a process that was taken for dead finds that out before it sends anything. Rejects with `openRedis`'
 * faults.
 */
export class RetryStore {
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

  async begin({ caller, digest, fingerprint, token }: RetryKey) {
    const { leaseMs, ttlMs, keysPerCallerMax } = retryLimits;
    const [kind, text] = await this.#begin.run(
      [this.#keys.retry(digest), this.#keys.retries(caller)],
      [fingerprint, token, leaseMs, ttlMs, keysPerCallerMax, digest],
    );
    return { kind, text };
  }

  /** False when somebody else carries on by now: nothing must be sent then. */
  async record({ digest, token }: RetryKey, attempt: string): Promise<boolean> {
    return await this.#write(digest, [token, 'attempt', attempt, retryLimits.leaseMs]);
  }

  async finish({ digest, token }: RetryKey, answer: string): Promise<void> {
    await this.#write(digest, [token, 'answer', answer, 0]);
  }

  /** Leaves the request to whoever asks next. */
  async yield({ digest, token }: RetryKey): Promise<void> {
    await this.#write(digest, [token, 'yielded', 1, 0]);
  }

  /** As if it had never been asked. */
  async forget({ caller, digest, token }: RetryKey): Promise<void> {
    await this.#forget.run([this.#keys.retry(digest), this.#keys.retries(caller)], [token, digest]);
  }

  async #write(digest: string, args: readonly (string | number)[]): Promise<boolean> {
    return (await this.#keep.run([this.#keys.retry(digest)], args)) === 1;
  }
}
