import { silentLog } from '@pm/kit/log';
import { openRedis } from '@pm/kit/redis';
import { rateRules } from '@pm/schemas/rate-limits';
import { cacheBudgets } from '@pm/schemas/redis/cache';
import { redisKeys } from '@pm/schemas/redis/keys';
import { engineUrl } from '../../../kit/test/engines.ts';
import { callerBytes, fieldBytes } from '../../src/ratelimit/buckets-lua.ts';
import type { Caller } from '../../src/ratelimit/callers.ts';
import type { Want } from '../../src/ratelimit/leases.ts';
import { RedisLimits } from '../../src/ratelimit/redis-limits.io.ts';
import { openLimiter, rulesFor, TestClock } from './fixture.ts';

const prefix = `limits-memory-${process.pid}`;
const keys = redisKeys(prefix);
const redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });

async function clear(): Promise<void> {
  const left = await redis.keys(`${prefix}:*`);
  if (left.length > 0) await redis.del(...left);
}

beforeEach(clear);
afterAll(async () => {
  await clear();
  await redis.quit();
});

const wantOf = (index: number): Want => ({
  rule: rateRules[index] as never,
  limit: 9,
  need: 1,
  more: 0,
});
const address = (number: number): Caller => ({ kind: 'address', id: `198.51.100.${number}` });

async function countedBytes(kind: string): Promise<number> {
  const windows = await redis.hvals(keys.limitsBytes(kind));
  return windows.reduce((sum, bytes) => sum + Number(bytes), 0);
}

test('the counts of a caller take no more bytes than are counted for them', async () => {
  const store = new RedisLimits(redis, keys);
  for (const [at, fields] of [1, 3, 10, 40, rateRules.length].entries()) {
    const caller: Caller = { kind: 'claim', id: `2001:db8:ffff:ffff::/64 ${'k'.repeat(36)}${at}` };
    const before = await countedBytes('claim');
    for (let index = 0; index < fields; index += 1) await store.take(caller, [wantOf(index)]);
    const counted = (await countedBytes('claim')) - before;
    expect(counted).toBeGreaterThanOrEqual(callerBytes + fields * fieldBytes);
    const used = Number(await redis.memory('USAGE', keys.limits(`claim:${caller.id}`)));
    expect(used).toBeLessThanOrEqual(counted);
  }
});

test('callers beyond the memory of their kind are not counted there; known ones and other kinds are', async () => {
  const name = keys.limits('address:198.51.100.0').length;
  const store = new RedisLimits(redis, keys, 10 * (callerBytes + fieldBytes + name));
  for (let count = 0; count < 10; count += 1) await store.take(address(count), [wantOf(0)]);
  const before = await countedBytes('address');
  await expect(store.take(address(10), [wantOf(0)])).rejects.toMatchObject({ code: 'limits_full' });
  await expect(store.take(address(3), [wantOf(1)])).rejects.toMatchObject({ code: 'limits_full' });
  expect((await store.take(address(3), [wantOf(0)])).grants).toEqual([
    { granted: 1, remaining: 7 },
  ]);
  expect((await store.take({ kind: 'key', id: 'k' }, [wantOf(0)])).grants[0]?.granted).toBe(1);
  expect(await countedBytes('address')).toBe(before);
  expect(await redis.exists(keys.limits('address:198.51.100.10'))).toBe(0);
});

test('bytes of a caller move to the window in which it expires now, and go with that window', async () => {
  const store = new RedisLimits(redis, keys);
  await store.take(address(1), [wantOf(0)]);
  const all = await countedBytes('address');
  const key = keys.limits('address:198.51.100.1');
  const [window] = await redis.hkeys(keys.limitsBytes('address'));
  const earlier = String(Number(window) - 3);
  await redis.hset(key, '=', `${earlier} ${all}`);
  await redis.rename(keys.limitsBytes('address'), keys.limitsBytes('other'));
  await redis.hset(keys.limitsBytes('address'), earlier, all);
  await store.take(address(1), [wantOf(0)]);
  expect(await redis.hget(keys.limitsBytes('address'), earlier)).toBe('0');
  expect(await countedBytes('address')).toBe(all);
  const long = Math.floor(Date.now() / 60_000) - 1;
  await redis.hset(keys.limitsBytes('address'), long, cacheBudgets().limitsOfKind);
  await store.take(address(2), [wantOf(0)]);
  expect(await redis.hexists(keys.limitsBytes('address'), String(long))).toBe(0);
});

test('a caller without room in the store is held to its share of the limit, and the others are shared', async () => {
  const limiter = openLimiter(new RedisLimits(redis, keys, 1), new TestClock(), 2);
  const rules = rulesFor('GET', '/book');
  let accepted = 0;
  for (let sent = 0; sent < 150; sent += 1)
    if ((await limiter.take(address(1), rules, 1)).isAllowed) accepted += 1;
  expect(accepted).toBe(100);
  expect(limiter.uncounted).toBeGreaterThanOrEqual(100);
  expect(limiter.isShared).toBe(true);
});
