import { redisCacheConnection, redisConnection } from '@pm/kit/config';
import { silentLog } from '@pm/kit/log';
import { openRedis, readServerFacts, readServerKind } from '@pm/kit/redis';
import { accountOf, declaredAccess } from '../access/declared.ts';
import { type RedisServer, redisRightsOf } from '../access/redis-users.ts';
import { judgeClock, readClock } from './clock.ts';
import { type Need, need, once, yes } from './need.ts';
import type { PreflightOptions } from './options.ts';
import {
  judgeAccount,
  judgeEviction,
  judgeMemory,
  judgePersistence,
  judgeScripts,
  judgeShape,
  judgeVersion,
  type RedisAccount,
} from './redis-judges.ts';

/** A Redis server, as needs are asked of it. */
export type RedisEngine = Awaited<ReturnType<typeof openRedisServer>>;

/** Connects and signs in; `server` says which of the data it has. */
export async function openRedisServer(options: PreflightOptions, server: RedisServer) {
  const { addresses } = options;
  const connection =
    server === 'cache' ? redisCacheConnection(addresses) : redisConnection(addresses);
  const redis = openRedis({ ...connection, log: silentLog });
  try {
    const kind = await readServerKind(redis);
    return {
      options,
      server,
      redis,
      kind,
      facts: once(() => readServerFacts(redis)),
      close: async () => redis.disconnect(),
    };
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

/** Everything that is needed of a Redis server. */
export const redisNeeds: readonly Need<RedisEngine>[] = [
  need({
    name: 'version',
    page: 'redis.md',
    ask: async ({ kind }) => kind,
    judge: judgeVersion,
  }),
  need({ name: 'one primary', page: 'redis.md', ask: async ({ kind }) => kind, judge: judgeShape }),
  need({
    name: 'scripts',
    page: 'redis.md',
    ask: async ({ redis }) => String(await redis.eval("return redis.call('INFO', 'server')", 0)),
    judge: judgeScripts,
  }),
  need({ name: 'eviction', page: 'redis.md', ask: ({ facts }) => facts(), judge: judgeEviction }),
  need({
    name: 'persistence',
    page: 'redis.md',
    ask: async ({ facts, server, options }) => ({
      sync: (await facts()).sync,
      wanted: server === 'cache' ? ('any' as const) : options.addresses.ledgerSync,
    }),
    judge: judgePersistence,
  }),
  need({
    name: 'memory',
    page: 'redis.md',
    ask: async ({ facts, server, options: { addresses } }) => ({
      maxBytes: (await facts()).maxBytes,
      cacheBytes: server === 'ledger' ? 0 : addresses.redisCacheBytes,
    }),
    judge: judgeMemory,
  }),
  need({
    name: 'clock',
    page: 'redis.md',
    ask: ({ redis }) =>
      readClock(async () => {
        const [seconds = 0, micros = 0] = (await redis.time()).map(Number);
        return seconds * 1_000 + micros / 1_000;
      }),
    judge: judgeClock,
  }),
  ...declaredAccess
    .filter(({ redis, redisCache }) => redis !== null || redisCache !== undefined)
    .map((access) =>
      need({
        name: `rights of ${access.name}`,
        page: 'security.md',
        ask: async ({ redis, server, options: { addresses } }: RedisEngine) => {
          const { redisPrefix } = addresses;
          const rights = redisRightsOf(access, { server, redisPrefix });
          const name = accountOf(access);
          return rights === null ? null : { name, rights, account: await readAccount(redis, name) };
        },
        judge: (found) =>
          found === null ? yes('it needs no account at this server') : judgeAccount(found),
      }),
    ),
];

async function readAccount(
  redis: RedisEngine['redis'],
  name: string,
): Promise<RedisAccount | null> {
  const reply: unknown = await redis.acl('GETUSER', name);
  if (!Array.isArray(reply)) return null;
  const fieldOf = (field: string): readonly string[] => {
    const value: unknown = reply[reply.indexOf(field) + 1];
    return Array.isArray(value) ? value.map(String) : String(value).split(' ');
  };
  const commands = fieldOf('commands');
  return {
    commands,
    keys: fieldOf('keys'),
    // Servers before 6.2 have no rights on channels.
    channels: reply.includes('channels') ? fieldOf('channels') : ['*'],
    categories: await readCategories(redis, commands),
  };
}

/** A server shows rules in as few words as it can, so it names categories that were not asked for. */
async function readCategories(
  redis: RedisEngine['redis'],
  rules: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const names = rules.filter((rule) => /^[+-]@/.test(rule)).map((rule) => rule.slice(2));
  const found = new Map<string, readonly string[]>();
  for (const name of new Set(names)) {
    if (name === 'all') continue;
    const commands: unknown = await redis.acl('CAT', name);
    if (Array.isArray(commands)) found.set(name, commands.map(String));
  }
  return found;
}
