import type { Log } from '@pm/kit/log';
import { type DefinedScript, defineScript, type RedisClient } from '@pm/kit/redis';
import type { RedisCacheKeys } from '@pm/schemas/redis/keys';

/** Interval in which a process names its limits in Redis, and how long they are remembered there, milliseconds. */
const nameEveryMs = 60_000;
const rememberedMs = 180_000;

/**
 * Names the limits of this process and returns those of others that were named within the time. A time that is further
 * away, in the past or in the future, was written before the clock of the server was set.
 */
const nameLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local others = {}
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local named = redis.call('HGETALL', KEYS[1])
for at = 1, #named, 2 do
  if math.abs(now - tonumber(named[at + 1])) > tonumber(ARGV[2]) then redis.call('HDEL', KEYS[1], named[at])
  elseif named[at] ~= ARGV[1] then others[#others + 1] = named[at] end
end
return others`;

/**
 * Warns once when other processes of the same Redis count with other limits. They count apart from this one, so that a
 * caller has the limits of each.
 */
export class LimitsInUse {
  readonly #limits: string;
  readonly #key: string;
  readonly #log: Log;
  readonly #script: DefinedScript<readonly string[]>;
  readonly #timer: NodeJS.Timeout;
  #hasWarned = false;

  /** `limits`: the settings that make the limits, in words. */
  constructor(
    limits: string,
    parts: {
      readonly redis: RedisClient;
      readonly keys: Pick<RedisCacheKeys, 'limitsInUse'>;
      readonly log: Log;
    },
  ) {
    this.#limits = limits;
    this.#key = parts.keys.limitsInUse;
    this.#log = parts.log;
    this.#script = defineScript(parts.redis, 'limitsInUse', nameLua, 1);
    this.#timer = setInterval(() => void this.name(), nameEveryMs);
    this.#timer.unref();
  }

  /** Never rejects: without Redis the next interval tries again. */
  async name(): Promise<void> {
    try {
      const others = await this.#script.run([this.#key], [this.#limits, rememberedMs]);
      if (others.length === 0 || this.#hasWarned) return;
      this.#hasWarned = true;
      const facts = { own: this.#limits, others };
      this.#log.warn(facts, 'other processes have other rate limits and count apart from this one');
    } catch {
      // The limiter says that Redis is away.
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
