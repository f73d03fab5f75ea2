import { type DefinedScript, defineScript, type RedisClient } from '@pm/kit/redis';
import type { RedisKeys } from '@pm/schemas';

/** A deposit of an operator that no second person has seen. */
export interface LoneDeposit {
  readonly name: string;
  /** Micro-USDC. */
  readonly amountMicro: number;
  /** Of all such deposits of the operator within a UTC day, micro-USDC. */
  readonly limitMicro: number;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** KEYS the sums of the day. ARGV operator, amount, limit, ttlMs. 1 when the limit allows it; then it is counted. */
const addLua = `
local sum = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0') + tonumber(ARGV[2])
if sum > tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', sum))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`;

const dayMs = 86_400_000;

/**
 * What each operator has deposited alone on a UTC day, in the Redis of the ledger: neither a restart nor
 * another process begins a new sum.
 */
export class DayDeposits {
  readonly #keys: RedisKeys;
  readonly #add: DefinedScript<number>;

  constructor(redis: RedisClient, keys: RedisKeys) {
    this.#keys = keys;
    this.#add = defineScript(redis, 'depositAlone', addLua, 1);
  }

  /** Whether the limit allows it; then it is counted. Rejects with the faults of `openRedis`. */
  async add({ name, amountMicro, limitMicro, atMs }: LoneDeposit): Promise<boolean> {
    const key = this.#keys.deposited(Math.floor(atMs / dayMs));
    return (await this.#add.run([key], [name, amountMicro, limitMicro, 2 * dayMs])) === 1;
  }
}
