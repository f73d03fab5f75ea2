import type { Log } from '../log/index.ts';
import type { MetricDeclarations, Metrics, OpenedMetrics } from '../metrics/index.ts';
import { repeatCheck } from '../rounds/index.ts';
import { redisFault } from './faults.ts';
import type { RedisClient } from './open.io.ts';

/**
 * When the server writes what it answered to its disk: before it answers (`always`), within a second (`everysec`), when
 * the system does (`no`), or never (`off`). `unknown` where the account may not ask for it.
 */
export type RedisSync = 'always' | 'everysec' | 'no' | 'off' | 'unknown';

export interface RedisServerFacts {
  readonly usedBytes: number;
  /** `maxmemory`; 0 without a limit. */
  readonly maxBytes: number;
  /** Whether keys are removed to make room for others. */
  readonly isEvicting: boolean;
  readonly sync: RedisSync;
}

/** Facts of a server and of its settings, as far as the account may ask. Rejects with the faults of `openRedis`. */
export async function readServerFacts(
  redis: Pick<RedisClient, 'info' | 'config'>,
  mayAskSettings = true,
): Promise<RedisServerFacts> {
  const [memory, persistence] = [await redis.info('memory'), await redis.info('persistence')];
  const policy = fieldOf(memory, 'maxmemory_policy');
  const isKept = fieldOf(persistence, 'aof_enabled') === '1';
  const asked = isKept && mayAskSettings;
  return {
    usedBytes: Number(fieldOf(memory, 'used_memory')),
    maxBytes: Number(fieldOf(memory, 'maxmemory')),
    isEvicting: policy !== '' && policy !== 'noeviction',
    sync: asked ? await syncOf(redis) : isKept ? 'unknown' : 'off',
  };
}

/** Version and role of a server. */
export interface RedisServerKind {
  /** `7.2.4` */
  readonly version: string;
  readonly isPrimary: boolean;
  readonly isCluster: boolean;
}

/** Rejects with the faults of `openRedis`. */
export async function readServerKind(redis: Pick<RedisClient, 'info'>): Promise<RedisServerKind> {
  const info = (section: string) =>
    redis.info(section).catch((error: unknown) => {
      throw redisFault(error);
    });
  const server = await info('server');
  const [replication, cluster] = [await info('replication'), await info('cluster')];
  return {
    version: fieldOf(server, 'redis_version'),
    isPrimary: fieldOf(replication, 'role') === 'master',
    isCluster: fieldOf(cluster, 'cluster_enabled') === '1',
  };
}

const syncs: readonly string[] = ['always', 'everysec', 'no'];

async function syncOf(redis: Pick<RedisClient, 'config'>): Promise<RedisSync> {
  try {
    const found = (await redis.config('GET', 'appendfsync')) as readonly string[];
    return syncs.includes(found[1] ?? '') ? (found[1] as RedisSync) : 'unknown';
  } catch (error) {
    const fault = redisFault(error);
    // A server may forbid the command, or have another name for it.
    if (fault.facts['reply'] === undefined) throw fault;
    return 'unknown';
  }
}

function fieldOf(info: string, name: string): string {
  return new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? '';
}

export interface RedisWatchOptions {
  readonly redis: Pick<RedisClient, 'info' | 'config'>;
  /** Purpose of the server: a label of the metrics. */
  readonly server: string;
  /** Whether the server should write before it answers; then another setting is logged. */
  readonly wantsSync: boolean;
  readonly metrics: Metrics;
  readonly log: Log;
}

const readEveryMs = 15_000;

/** Facts of each Redis server, by what it is for. */
export const redisMetrics = {
  used: {
    type: 'gauge',
    name: 'pm_redis_memory_bytes',
    help: 'Memory that a Redis server uses.',
    labels: ['server'],
  },
  max: {
    type: 'gauge',
    name: 'pm_redis_memory_max_bytes',
    help: 'Memory after which a Redis server refuses writes; 0 without a limit.',
    labels: ['server'],
  },
  evicts: {
    type: 'gauge',
    name: 'pm_redis_evicts',
    help: 'Whether a Redis server removes keys to make room for others.',
    labels: ['server'],
  },
  syncs: {
    type: 'gauge',
    name: 'pm_redis_synced',
    help: 'Whether a Redis server writes to its disk before it answers; absent where that is not known.',
    labels: ['server'],
  },
} as const satisfies MetricDeclarations;

/** Reads the facts of a server in rounds, for metrics and for warnings about settings that lose what is kept. */
export function watchRedisServer(options: RedisWatchOptions): { close(): Promise<void> } {
  const watch = new ServerWatch(options);
  return repeatCheck(() => watch.read(), {
    everyMs: readEveryMs,
    log: options.log,
    failure: 'the settings of redis could not be read',
  });
}

class ServerWatch {
  readonly #options: RedisWatchOptions;
  readonly #gauges: OpenedMetrics<typeof redisMetrics>;
  #mayAsk = true;
  #warned = '';

  constructor(options: RedisWatchOptions) {
    this.#options = options;
    this.#gauges = options.metrics.open(redisMetrics);
  }

  async read(): Promise<void> {
    const { redis, server, wantsSync } = this.#options;
    const facts = await readServerFacts(redis, wantsSync && this.#mayAsk);
    // Each refusal is on the record of the server: once is enough.
    if (facts.sync === 'unknown') this.#mayAsk = false;
    const { used, max, evicts, syncs: isSynced } = this.#gauges;
    used.set(facts.usedBytes, { server });
    max.set(facts.maxBytes, { server });
    evicts.set(facts.isEvicting ? 1 : 0, { server });
    if (wantsSync && facts.sync !== 'unknown')
      isSynced.set(facts.sync === 'always' ? 1 : 0, { server });
    this.#warn(facts);
  }

  #warn({ isEvicting, sync }: RedisServerFacts): void {
    const { log, server, wantsSync } = this.#options;
    const isLate = wantsSync && sync !== 'always' && sync !== 'unknown';
    const state = `${isEvicting} ${isLate}`;
    if (state === this.#warned) return;
    this.#warned = state;
    if (isEvicting) log.error({ server }, 'redis removes keys to make room: set noeviction');
    if (isLate) {
      log.warn(
        { server, appendfsync: sync },
        'redis may lose its last writes: set appendfsync always',
      );
    }
  }
}
