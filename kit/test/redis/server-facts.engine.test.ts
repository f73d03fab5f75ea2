import { type Log, silentLog } from '../../src/log/index.ts';
import { openMetrics } from '../../src/metrics/index.ts';
import { openRedis, type RedisClient } from '../../src/redis/open.io.ts';
import { readServerFacts, watchRedisServer } from '../../src/redis/server-facts.io.ts';
import { engineUrl } from '../engines.ts';

let redis: RedisClient;

beforeAll(() => {
  redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
});

afterAll(() => redis.disconnect());

test('settings of a server are read, and are unknown where the account may not ask', async () => {
  const facts = await readServerFacts(redis);
  expect(facts).toMatchObject({ isEvicting: false, maxBytes: 0, sync: 'everysec' });
  expect(facts.usedBytes).toBeGreaterThan(100_000);
  const user = `facts-${process.pid}`;
  await redis.call('ACL', 'SETUSER', user, 'on', '>secret', '-@all', '+info');
  const limited = openRedis({
    url: engineUrl('REDIS'),
    username: user,
    password: 'secret',
    log: silentLog,
  });
  try {
    expect((await readServerFacts(limited)).sync).toBe('unknown');
  } finally {
    limited.disconnect();
    await redis.call('ACL', 'DELUSER', user);
  }
});

test('a server that may lose its last writes is named where that matters, and counted', async () => {
  const metrics = openMetrics('facts');
  const warnings: unknown[] = [];
  const log: Log = { ...silentLog, warn: (facts, message) => void warnings.push([facts, message]) };
  const watch = watchRedisServer({ redis, server: 'ledger', wantsSync: true, metrics, log });
  await watch.close();
  expect(warnings).toEqual([
    [
      { server: 'ledger', appendfsync: 'everysec' },
      'redis may lose its last writes: set appendfsync always',
    ],
  ]);
  expect(await metrics.text()).toMatch(/pm_redis_synced\{[^}]*server="ledger"[^}]*\} 0/);
  expect(await metrics.text()).toMatch(/pm_redis_evicts\{[^}]*server="ledger"[^}]*\} 0/);
});
