import { Fault } from '@pm/kit/fault';
import { type DefinedScript, defineScript, type RedisClient } from '@pm/kit/redis';
import { rateRules, rateWindowMaxSeconds } from '@pm/schemas/rate-limits';
import { cacheBudgets } from '@pm/schemas/redis/cache';
import type { RedisCacheKeys } from '@pm/schemas/redis/keys';
import { takeLua, usedLua } from './buckets-lua.ts';
import type { Caller } from './callers.ts';
import { countName, type Granted, type Want } from './leases.ts';
import type { LimitStore } from './limiter.io.ts';
import { limitsFull } from './limits-full.ts';

/** Requests in one call, and requests that may wait for one. */
const takesPerCall = 64;
const waitingMax = 10_000;

/** Counts expire this long after the longest window has ended, so that they survive a clock set back, seconds. */
const keptBeyondSeconds = 60;

/** Claims have short windows alone, and a client can make up any number of them. */
function expireMsOf({ kind }: Caller, wants: readonly Want[]): number {
  const seconds = wants.map(({ rule }) => rule.seconds);
  const longest = kind === 'claim' ? Math.max(0, ...seconds) : rateWindowMaxSeconds;
  return (longest + keptBeyondSeconds) * 1000;
}

interface Waiting {
  readonly caller: Caller;
  readonly wants: readonly Want[];
  resolve(granted: Granted): void;
  reject(fault: unknown): void;
}

/**
 * The counts in Redis: a hash per caller, a field per rule and limit, by the clock of the server. Requests of one turn
 * of the event loop share a call. What the counts of each kind of caller take is bounded in bytes. Rejects with
 * `redis_unavailable` at once while there is no connection, and with `limits_full` when there is no room to count a
 * caller.
 */
export class RedisLimits implements LimitStore {
  readonly #redis: RedisClient;
  readonly #keys: Pick<RedisCacheKeys, 'limits' | 'limitsBytes'>;
  readonly #bytesMax: number;
  readonly #used: DefinedScript<readonly (number | string)[]>;
  readonly #takes = new Map<number, DefinedScript<readonly number[]>>();
  #waiting: Waiting[] = [];

  constructor(
    redis: RedisClient,
    keys: Pick<RedisCacheKeys, 'limits' | 'limitsBytes'>,
    bytesMax: number = cacheBudgets().limitsOfKind,
  ) {
    this.#redis = redis;
    this.#keys = keys;
    this.#bytesMax = bytesMax;
    this.#used = defineScript(redis, 'limitsUsed', usedLua, 1);
  }

  take(caller: Caller, wants: readonly Want[]): Promise<Granted> {
    return new Promise((resolve, reject) => {
      if (this.#redis.status !== 'ready' || this.#waiting.length >= waitingMax) {
        reject(
          new Fault('redis_unavailable', 'retry', { facts: { waiting: this.#waiting.length } }),
        );
        return;
      }
      if (this.#waiting.length === 0) setImmediate(() => this.#flush());
      this.#waiting.push({ caller, wants, resolve, reject });
    });
  }

  async used(caller: Caller) {
    const [nowMs = 0, ...flat] = await this.#used.run([this.#keyOf(caller)], []);
    const used = new Map<string, number>();
    for (let at = 0; at + 1 < flat.length; at += 2) {
      const name = String(flat[at]);
      const rule = rateRules.find(({ field }) => name.startsWith(`${field}@`));
      const [window, count] = String(flat[at + 1])
        .split(' ')
        .map(Number);
      if (rule === undefined || window !== Math.floor(Number(nowMs) / (rule.seconds * 1000)))
        continue;
      used.set(name, count ?? 0);
    }
    return { nowMs: Number(nowMs), used };
  }

  async reach(): Promise<void> {
    if (this.#redis.status !== 'ready') throw new Fault('redis_unavailable', 'retry');
    await this.#redis.ping();
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let from = 0; from < waiting.length; from += takesPerCall) {
      void this.#call(waiting.slice(from, from + takesPerCall));
    }
  }

  async #call(takes: readonly Waiting[]): Promise<void> {
    const keys = [
      ...takes.map(({ caller }) => this.#keyOf(caller)),
      ...takes.map(({ caller }) => this.#keys.limitsBytes(caller.kind)),
    ];
    const args = takes.flatMap(({ caller, wants }) => [
      expireMsOf(caller, wants),
      this.#bytesMax,
      wants.length,
      ...wants.flatMap(argumentsOf),
    ]);
    try {
      const answer = await this.#script(keys.length).run(keys, args);
      settle(takes, answer);
    } catch (error) {
      for (const { reject } of takes) reject(error);
    }
  }

  #script(numberOfKeys: number): DefinedScript<readonly number[]> {
    const known = this.#takes.get(numberOfKeys);
    if (known !== undefined) return known;
    const script = defineScript<readonly number[]>(
      this.#redis,
      'limitsTake',
      takeLua,
      numberOfKeys,
    );
    this.#takes.set(numberOfKeys, script);
    return script;
  }

  #keyOf({ kind, id }: Caller): string {
    return this.#keys.limits(`${kind}:${id}`);
  }
}

function argumentsOf({ rule, limit, need, more }: Want): (string | number)[] {
  return [countName(rule, limit), rule.seconds * 1000, limit, need, more];
}

/** The result is flat: the time, then granted and remaining units for each want of each request. */
function settle(takes: readonly Waiting[], answer: readonly number[]): void {
  const nowMs = answer[0] ?? 0;
  let at = 1;
  for (const { wants, resolve, reject } of takes) {
    const grants = wants.map((_want, index) => ({
      granted: answer[at + 2 * index] ?? 0,
      remaining: answer[at + 2 * index + 1] ?? 0,
    }));
    at += 2 * wants.length;
    if (grants.some(({ granted }) => granted < 0)) reject(limitsFull());
    else resolve({ nowMs, grants });
  }
}
