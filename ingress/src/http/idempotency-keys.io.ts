import { expiringBytesLua } from '@pm/domain/cache/expiring-bytes-lua';
import { Fault } from '@pm/kit/fault';
import type { Metrics } from '@pm/kit/metrics';
import { type DefinedScript, defineScript, type RedisClient } from '@pm/kit/redis';
import type { WalletAddress } from '@pm/schemas/ids';
import { type CacheBudgets, cacheBudgets, type RetryKind } from '@pm/schemas/redis/cache';
import { type RedisCacheKeys, retryLimits } from '@pm/schemas/redis/keys';
import { retryMetrics } from '../metrics.ts';

/** Names a request of a caller that may come again, and this process's hold of it. */
export interface IdempotencyKey {
  /** The memory that it takes is that of the wallet. */
  readonly wallet: WalletAddress;
  readonly kind: RetryKind;
  /** Hex digest of caller, route and key. */
  readonly digest: string;
  /** Digest of the meaning of the request. */
  readonly fingerprint: string;
  /** Names this process's hold of the key. */
  readonly token: string;
}

/**
 * `fresh`: not seen before. `resumed`: begun by a process that seems dead; the text is what it recorded. `done`: the
 * text is the response. `running`: begun a moment ago. `reused`: has another meaning. `full`: the wallet has used up
 * its part of the memory. `fullForAll`: all of it is used up.
 */
type Began = readonly [
  'fresh' | 'resumed' | 'done' | 'running' | 'reused' | 'full' | 'fullForAll',
  string,
];

const nowLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Bytes of a text in Redis, whose allocator has four sizes for each power of two. */
const bytesLua = `
local function bytesOf(text) return math.ceil(#text * 1.25) end
`;

/**
 * KEYS record, bytes of the wallet, bytes of all. ARGV fingerprint, token, leaseMs, ttlMs, recordBytes, windowMs,
 * walletMax, allMax, roomBytes. Returns the response of a request that has one; of a request whose process seems dead,
 * what it was about to do.
 */
const beginLua = `${nowLua}${expiringBytesLua}
local known = redis.call('HMGET', KEYS[1], 'fingerprint', 'answer', 'leaseUntil', 'attempt')
if known[1] then
  if known[1] ~= ARGV[1] then return {'reused', ''} end
  if known[2] then return {'done', known[2]} end
  -- A lease that ends later than one can was given before the clock of the server was set back.
  local left = tonumber(known[3]) - now
  if left > 0 and left <= tonumber(ARGV[3]) then return {'running', ''} end
  redis.call('HSET', KEYS[1], 'token', ARGV[2], 'leaseUntil', now + tonumber(ARGV[3]))
  return {'resumed', known[4] or ''}
end
local ttl, bytes, windowMs = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local wanted = bytes + tonumber(ARGV[9])
if bytesAt(KEYS[2], now, windowMs) + wanted > tonumber(ARGV[7]) then return {'full', ''} end
if bytesAt(KEYS[3], now, windowMs) + wanted > tonumber(ARGV[8]) then return {'fullForAll', ''} end
local window = windowOf(now + ttl, windowMs)
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'token', ARGV[2], 'leaseUntil', now + tonumber(ARGV[3]),
  'window', window)
redis.call('PEXPIRE', KEYS[1], ttl)
for at = 2, 3 do
  addBytes(KEYS[at], window, bytes)
  redis.call('PEXPIRE', KEYS[at], ttl + windowMs)
end
return {'fresh', ''}
`;

/**
 * KEYS record, bytes of the wallet, bytes of all. ARGV token, field, value, leaseMs, windowMs, walletMax, allMax. 0
 * when another process carries on by now, 2 when there is no room. A response takes the place of the attempt.
 */
const keepLua = `${nowLua}${expiringBytesLua}${bytesLua}
local known = redis.call('HMGET', KEYS[1], 'token', 'window', ARGV[2], 'attempt')
if known[1] ~= ARGV[1] then return 0 end
local replaces = ARGV[2] == 'answer' and known[4]
local grown = bytesOf(ARGV[3]) - bytesOf(known[3] or '') - bytesOf(replaces or '')
if grown > 0 then
  local windowMs = tonumber(ARGV[5])
  for at = 2, 3 do
    if bytesAt(KEYS[at], now, windowMs) + grown > tonumber(ARGV[at + 4]) then return 2 end
  end
end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3], 'leaseUntil', now + tonumber(ARGV[4]))
if replaces then redis.call('HDEL', KEYS[1], 'attempt') end
if known[2] and grown ~= 0 then for at = 2, 3 do addBytes(KEYS[at], known[2], grown) end end
return 1
`;

/** KEYS record. ARGV token. 0 when another process carries on by now. */
const yieldLua = `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
return redis.call('HSET', KEYS[1], 'leaseUntil', 0)
`;

/** KEYS record, bytes of the wallet, bytes of all. ARGV token, recordBytes. */
const forgetLua = `${expiringBytesLua}${bytesLua}
local known = redis.call('HMGET', KEYS[1], 'token', 'window', 'attempt', 'answer')
if known[1] ~= ARGV[1] then return 0 end
local bytes = tonumber(ARGV[2]) + bytesOf(known[3] or '') + bytesOf(known[4] or '')
if known[2] then for at = 2, 3 do addBytes(KEYS[at], known[2], -bytes) end end
return redis.call('DEL', KEYS[1])
`;

/** Counts the keys that were not taken up because of their memory. */
export function countFullRetries(metrics: Metrics): IdempotencyOptions['onFull'] {
  const { full } = metrics.open(retryMetrics);
  return (kind, of) => full.add(1, { kind, of });
}

export interface IdempotencyOptions {
  /** Memory of all wallets, bytes. */
  readonly budgets: CacheBudgets['retries'];
  /** A key was not taken up because of the memory: that of its wallet, or that of all. */
  onFull(kind: RetryKind, of: 'wallet' | 'all'): void;
}

/**
 * Requests with an idempotency key, in the Redis that all ingress share. Every step is one atomic script and only the
 * process that holds the key may write: one that was taken for dead finds that out before it sends anything. What they
 * take is bounded in bytes, by wallet and in all; no key is forgotten before its time to make room for another one.
 * Rejects with `openRedis`' faults.
 */
export class IdempotencyKeys {
  readonly #keys: RedisCacheKeys;
  readonly #options: IdempotencyOptions;
  readonly #begin: DefinedScript<Began>;
  readonly #keep: DefinedScript<number>;
  readonly #yield: DefinedScript<number>;
  readonly #forget: DefinedScript<number>;

  constructor(
    redis: RedisClient,
    keys: RedisCacheKeys,
    options: IdempotencyOptions = { budgets: cacheBudgets().retries, onFull: () => {} },
  ) {
    this.#keys = keys;
    this.#options = options;
    this.#begin = defineScript(redis, 'retryBegin', beginLua, 3);
    this.#keep = defineScript(redis, 'retryKeep', keepLua, 3);
    this.#yield = defineScript(redis, 'retryYield', yieldLua, 1);
    this.#forget = defineScript(redis, 'retryForget', forgetLua, 3);
  }

  async begin(key: IdempotencyKey) {
    const { leaseMs, ttlMs, recordBytes, windowMs, roomBytes } = retryLimits;
    const { fingerprint, token } = key;
    const [kind, text] = await this.#begin.run(this.#keysOf(key), [
      fingerprint,
      token,
      leaseMs,
      ttlMs,
      recordBytes,
      windowMs,
      ...this.#bytesMax(key),
      roomBytes,
    ]);
    if (kind === 'full') this.#options.onFull(key.kind, 'wallet');
    if (kind === 'fullForAll') this.#options.onFull(key.kind, 'all');
    return { kind, text };
  }

  /**
   * False when another process carries on by now: nothing must be sent then, nor when it rejects. Rejects with the
   * `Fault` `retries_full` (retry) when there is no room.
   */
  async record(key: IdempotencyKey, attempt: string): Promise<boolean> {
    const result = await this.#write(key, ['attempt', attempt, retryLimits.leaseMs]);
    if (result === noRoom) throw new Fault('retries_full', 'retry');
    return result === 1;
  }

  /** A response for which there is no room is not kept; the next retry asks the log. */
  async finish(key: IdempotencyKey, answer: string): Promise<void> {
    const result = await this.#write(key, ['answer', answer, 0]);
    if (result === noRoom) await this.yield(key);
  }

  /** Leaves the request to the next retry. */
  async yield({ digest, token }: IdempotencyKey): Promise<void> {
    await this.#yield.run([this.#keys.retry(digest)], [token]);
  }

  /** As if the request had never come. */
  async forget(key: IdempotencyKey): Promise<void> {
    await this.#forget.run(this.#keysOf(key), [key.token, retryLimits.recordBytes]);
  }

  #keysOf({ digest, kind, wallet }: IdempotencyKey): readonly string[] {
    const { retry, retries } = this.#keys;
    return [retry(digest), retries(`${kind}:${wallet}`), retries(kind)];
  }

  #bytesMax({ kind }: IdempotencyKey): readonly [ofWallet: number, ofAll: number] {
    const all = this.#options.budgets[kind];
    return [Math.floor(all * retryLimits.walletPart), all];
  }

  async #write(key: IdempotencyKey, change: readonly (string | number)[]): Promise<number> {
    const args = [key.token, ...change, retryLimits.windowMs, ...this.#bytesMax(key)];
    return await this.#keep.run(this.#keysOf(key), args);
  }
}

const noRoom = 2;
