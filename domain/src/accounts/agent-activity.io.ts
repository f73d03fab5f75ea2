import type { Clock } from '@pm/kit/clock';
import { reactionTo } from '@pm/kit/fault';
import type { HttpApp } from '@pm/kit/http';
import { type DefinedScript, defineScript, type ScriptClient } from '@pm/kit/redis';
import { type AgentId, parseAgentId } from '@pm/schemas/ids';
import { cacheBudgets } from '@pm/schemas/redis/cache';
import type { RedisCacheKeys } from '@pm/schemas/redis/keys';
import { leaseLua } from '../cache/lease-lua.ts';
import type { agentCredentials } from './agent-key.ts';

/** The commands of a `RedisClient` that record uses. */
export interface ActivityRedis extends ScriptClient {
  hlen(key: string): Promise<number>;
  hexists(key: string, field: string): Promise<number>;
  hset(key: string, field: string, value: string): Promise<unknown>;
  hmget(key: string, ...fields: readonly string[]): Promise<readonly (string | null)[]>;
  hgetall(key: string): Promise<Readonly<Record<string, string>>>;
  hdel(key: string, ...fields: readonly string[]): Promise<unknown>;
}

export interface AgentActivityOptions {
  readonly redis: ActivityRedis;
  readonly keys: Pick<RedisCacheKeys, 'agentsSeen' | 'agentsFlush'>;
  /** Memory of all uses in Redis, bytes. */
  readonly bytesMax?: number;
  readonly clock: Clock;
  /** Called for a fault that is not transient. */
  onFault(error: unknown): void;
}

/** Shortest interval between two marks of one agent by one process. */
const markIntervalMs = 10_000;
/** Shortest interval between two records of uses on the log, whatever the number of processes. */
export const flushIntervalMs = 60_000;
/** A little less than the interval, so that an early timer does not skip a round. */
const flushLeaseMs = flushIntervalMs - 5_000;
/** Bytes of Redis that the use of one agent takes at most. */
export const agentUseBytes = 192;
/** Agents whose last mark is remembered; at the limit all are forgotten and marked again. */
const markedMax = 100_000;

/** KEYS flush. ARGV leaseMs. 1 for the one process that has the lease now. */
const flushLua = `${leaseLua}
if isHeld(KEYS[1], ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
return 1
`;

/**
 * The last use of each agent, recorded in Redis by ingress and query-api and written to the log by ingress once a
 * minute. Recording never delays or fails a request; when Redis is unavailable or emptied, at most the last minute is
 * lost. Of more agents than fit, the uses of those that came last are not recorded.
 */
export class AgentActivity {
  readonly #options: AgentActivityOptions;
  readonly #flush: DefinedScript<number>;
  /** When each agent was marked last, on the monotonic clock. */
  readonly #marked = new Map<AgentId, number>();

  constructor(options: AgentActivityOptions) {
    this.#options = options;
    this.#flush = defineScript(options.redis, 'agentsFlush', flushLua, 1);
  }

  /** Records that the agent is active now. */
  mark(agentId: AgentId): void {
    const { clock } = this.#options;
    const monotonicMs = clock.monotonicMs();
    const markedMs = this.#marked.get(agentId) ?? Number.NEGATIVE_INFINITY;
    if (monotonicMs - markedMs < markIntervalMs) return;
    if (this.#marked.size >= markedMax) this.#marked.clear();
    this.#marked.set(agentId, monotonicMs);
    this.#quietly(this.#note(agentId, clock.nowMs()));
  }

  /** Last uses in the order of the ids, Unix milliseconds; 0 without one, or when Redis is unavailable. */
  async seen(agentIds: readonly AgentId[]): Promise<readonly number[]> {
    const { redis, keys } = this.#options;
    if (agentIds.length === 0) return [];
    try {
      return (await redis.hmget(keys.agentsSeen, ...agentIds)).map(timeOf);
    } catch (error) {
      if (reactionTo(error) !== 'retry') throw error;
      return agentIds.map(() => 0);
    }
  }

  /**
   * All recorded uses, for the one process that may write them to the log now; null for the others. Throws faults of
   * Redis.
   */
  async takeAll(): Promise<ReadonlyMap<AgentId, number> | null> {
    const { redis, keys } = this.#options;
    if ((await this.#flush.run([keys.agentsFlush], [flushLeaseMs])) === 0) return null;
    const all = Object.entries(await redis.hgetall(keys.agentsSeen));
    return new Map(
      all.flatMap(([name, text]) => {
        const agentId = parseAgentId(name);
        return agentId === null ? [] : [[agentId, timeOf(text)] as const];
      }),
    );
  }

  /** Removes the marks of deleted agents. */
  forget(agentIds: readonly AgentId[]): void {
    const { redis, keys } = this.#options;
    if (agentIds.length > 0) this.#quietly(redis.hdel(keys.agentsSeen, ...agentIds));
  }

  async #note(agentId: AgentId, nowMs: number): Promise<void> {
    const { redis, keys, bytesMax = cacheBudgets().agents } = this.#options;
    const isFull = (await redis.hlen(keys.agentsSeen)) >= Math.floor(bytesMax / agentUseBytes);
    if (isFull && (await redis.hexists(keys.agentsSeen, agentId)) === 0) return;
    await redis.hset(keys.agentsSeen, agentId, String(nowMs));
  }

  #quietly(noting: Promise<unknown>): void {
    noting.catch((error: unknown) => {
      if (reactionTo(error) !== 'retry') this.#options.onFault(error);
    });
  }
}

/** Marks agents as active where no rate limits check their credentials. Call it before the routes are added. */
export function markAgents(app: HttpApp, credentials: ReturnType<typeof agentCredentials>): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers.authorization !== undefined) credentials.prove(request);
    done();
  });
}

function timeOf(text: string | null): number {
  const value = Number(text);
  return Number.isSafeInteger(value) && value > 0 ? value : 0;
}
