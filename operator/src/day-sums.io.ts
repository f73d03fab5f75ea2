import { type DefinedScript, defineScript, type RedisClient } from '@pm/kit/redis';
import type { RedisKeys } from '@pm/schemas/redis/keys';

/** Ways of money of which one operator moves so much within a day alone. */
export type LoneWay = 'deposit' | 'withdrawal';

/** Money that an operator moves and that no second person has seen. */
export interface LoneMove {
  readonly way: LoneWay;
  readonly name: string;
  /** Micro-USDC. */
  readonly amountMicro: number;
  /** Limit of all such moves of the operator within a UTC day, micro-USDC. */
  readonly limitMicro: number;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** KEYS the sums of the day. ARGV way:operator, amount, limit, ttlMs. Counts and returns 1 when the limit allows it. */
const addLua = `
local sum = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0') + tonumber(ARGV[2])
if sum > tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', sum))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`;

const dayMs = 86_400_000;

/**
 * Amounts that each operator has moved alone on a UTC day, for each direction, in the Redis of the ledger: neither a
 * restart nor another process begins a new sum.
 */
export class DaySums {
  readonly #keys: RedisKeys;
  readonly #add: DefinedScript<number>;

  constructor(redis: RedisClient, keys: RedisKeys) {
    this.#keys = keys;
    this.#add = defineScript(redis, 'moveAlone', addLua, 1);
  }

  /** Whether the limit allows it; then it is counted. Rejects with the faults of `openRedis`. */
  async add({ way, name, amountMicro, limitMicro, atMs }: LoneMove): Promise<boolean> {
    const key = this.#keys.movedAlone(Math.floor(atMs / dayMs));
    const args = [`${way}:${name}`, amountMicro, limitMicro, 2 * dayMs];
    return (await this.#add.run([key], args)) === 1;
  }
}
