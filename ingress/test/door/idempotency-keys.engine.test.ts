import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { redisKeys, retryLimits } from '@pm/schemas';
import { engineUrl } from '../../../kit/test/engines.ts';
import { seeded } from '../../../kit/test/seeded.ts';
import type { IdempotencyMemory } from '../../src/door/idempotency.io.ts';
import { IdempotencyKeys } from '../../src/door/idempotency-keys.io.ts';
import { RetryMemory } from '../retry-fixture.ts';

const prefix = `retry-test-${process.pid}`;
const keys = redisKeys(prefix);
let redis: RedisClient;

beforeAll(() => {
  redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
});

async function clear(): Promise<void> {
  const left = await redis.keys(`${prefix}:*`);
  if (left.length > 0) await redis.del(...left);
}

beforeEach(clear);
afterAll(async () => {
  await clear();
  await redis.quit();
});

function step(next: (below: number) => number) {
  const dice = next(6);
  const name = next(4);
  const key = {
    caller: `caller-${name % 2}`,
    digest: `digest-${name}`,
    fingerprint: `means-${next(5) === 0 ? 1 : 0}`,
    token: `token-${next(3)}`,
  };
  return async (store: IdempotencyMemory): Promise<unknown> => {
    if (dice < 2) return await store.begin(key);
    if (dice === 2) return await store.record(key, `attempt-${name}`);
    if (dice === 3) return await store.finish(key, `answer-${name}`);
    return await (dice === 4 ? store.yield(key) : store.forget(key));
  };
}

test('the store in Redis agrees with the rule in random histories', async () => {
  for (let seed = 1; seed <= 10; seed += 1) {
    await clear();
    const next = seeded(seed);
    const store = new IdempotencyKeys(redis, keys);
    const rule = new RetryMemory();
    for (let count = 0; count < 200; count += 1) {
      const take = step(next);
      expect(await take(store)).toEqual(await take(rule));
    }
  }
});

test('a request whose process is dead is taken over with its record, and the dead one may not write', async () => {
  const store = new IdempotencyKeys(redis, keys);
  const first = { caller: 'c', digest: 'd', fingerprint: 'f', token: 'one' };
  expect(await store.begin(first)).toEqual({ kind: 'fresh', text: '' });
  expect(await store.record(first, 'orders')).toBe(true);
  const second = { ...first, token: 'two' };
  expect((await store.begin(second)).kind).toBe('running');
  await redis.hset(keys.retry('d'), 'leaseUntil', 0);
  expect(await store.begin(second)).toEqual({ kind: 'resumed', text: 'orders' });
  expect(await store.record(first, 'late')).toBe(false);
  await store.finish(second, 'answer');
  expect(await store.begin(first)).toEqual({ kind: 'done', text: 'answer' });
});

test('keys expire, and a caller has no more than the limit of them', async () => {
  const store = new IdempotencyKeys(redis, keys);
  const key = { caller: 'c', digest: 'd', fingerprint: 'f', token: 't' };
  await store.begin(key);
  const ttl = await redis.pttl(keys.retry('d'));
  expect(ttl).toBeGreaterThan(retryLimits.ttlMs - 5_000);
  expect(ttl).toBeLessThanOrEqual(retryLimits.ttlMs);
  const far = Date.now() + 60_000;
  const many = Array.from({ length: retryLimits.keysPerCallerMax }, (_, index) => [
    far,
    `k${index}`,
  ]);
  await redis.zadd(keys.retries('c'), ...many.flat());
  expect((await store.begin({ ...key, digest: 'e' })).kind).toBe('full');
  expect((await store.begin({ ...key, caller: 'other', digest: 'e' })).kind).toBe('fresh');
  const past = many.map(([, name]) => [1, name]);
  await redis.zadd(keys.retries('c'), ...(past.flat() as string[]));
  expect((await store.begin({ ...key, digest: 'g' })).kind).toBe('fresh');
});
