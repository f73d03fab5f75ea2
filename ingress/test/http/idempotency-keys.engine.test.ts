import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import type { WalletAddress } from '@pm/schemas/ids';
import { cacheBudgets } from '@pm/schemas/redis/cache';
import { redisKeys, retryLimits } from '@pm/schemas/redis/keys';
import { engineUrl } from '../../../kit/test/engines.ts';
import { seeded } from '../../../kit/test/seeded.ts';
import type { IdempotencyMemory } from '../../src/http/idempotency.io.ts';
import { type IdempotencyKey, IdempotencyKeys } from '../../src/http/idempotency-keys.io.ts';
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

const walletOf = (number: number) => `0x${String(number).padStart(40, '0')}` as WalletAddress;

function keyOf(digest: string, more: Partial<IdempotencyKey> = {}): IdempotencyKey {
  return { wallet: walletOf(1), kind: 'orders', digest, fingerprint: 'f', token: 't', ...more };
}

function step(next: (below: number) => number) {
  const dice = next(6);
  const name = next(4);
  const key = {
    wallet: walletOf(name % 2),
    kind: 'orders' as const,
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
  const first = keyOf('d', { token: 'one' });
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

test('a lease from before the clock of Redis was set back by an hour holds nobody up', async () => {
  const store = new IdempotencyKeys(redis, keys);
  const first = keyOf('back', { token: 'one' });
  await store.begin(first);
  await redis.hincrby(keys.retry('back'), 'leaseUntil', 3_600_000);
  expect((await store.begin({ ...first, token: 'two' })).kind).toBe('resumed');
});

/**
 * Bytes that the record of an idempotency key takes in Redis; each of the two counts of its bytes must be at least
 * this.
 */
async function bytesOf(digest: string): Promise<number> {
  return Number(await redis.memory('USAGE', keys.retry(digest)));
}

async function countedBytes(of: string): Promise<number> {
  const windows = await redis.hvals(keys.retries(of));
  return windows.reduce((sum, bytes) => sum + Number(bytes), 0);
}

test('a record takes no more bytes than are counted for it, and they are given up with it', async () => {
  const store = new IdempotencyKeys(redis, keys);
  for (const length of [0, 1, 100, 1_000, 5_000, 40_000, retryLimits.answerMaxBytes]) {
    const key = keyOf('d'.repeat(64), { fingerprint: 'f'.repeat(64), token: 't'.repeat(36) });
    expect((await store.begin(key)).kind).toBe('fresh');
    expect(await store.record(key, 'a'.repeat(length))).toBe(true);
    expect(await bytesOf(key.digest)).toBeLessThanOrEqual(await countedBytes('orders'));
    await store.finish(key, 'b'.repeat(length));
    expect(await bytesOf(key.digest)).toBeLessThanOrEqual(await countedBytes('orders'));
    expect(await countedBytes(`orders:${key.wallet}`)).toBe(await countedBytes('orders'));
    expect(await redis.hexists(keys.retry(key.digest), 'attempt')).toBe(0);
    await store.forget(key);
    expect(await countedBytes('orders')).toBe(0);
  }
});

test('keys expire, and so do the bytes of a window that is over', async () => {
  const store = new IdempotencyKeys(redis, keys);
  await store.begin(keyOf('d'));
  const ttl = await redis.pttl(keys.retry('d'));
  expect(ttl).toBeGreaterThan(retryLimits.ttlMs - 5_000);
  expect(ttl).toBeLessThanOrEqual(retryLimits.ttlMs);
  const bytesTtl = await redis.pttl(keys.retries('orders'));
  expect(bytesTtl).toBeGreaterThan(ttl);
  const window = Math.floor(Date.now() / retryLimits.windowMs);
  await redis.hset(keys.retries('orders'), window - 1, cacheBudgets().retries.orders);
  expect((await store.begin(keyOf('e'))).kind).toBe('fresh');
  expect(await countedBytes('orders')).toBe(2 * retryLimits.recordBytes);
});

test('a wallet fills its part alone, all of them fill no more than all, and no key is forgotten for another', async () => {
  const full: string[] = [];
  const { recordBytes, roomBytes, walletPart } = retryLimits;
  const ofWallet = 8;
  const bytes = (roomBytes + ofWallet * recordBytes) / walletPart;
  const store = new IdempotencyKeys(redis, keys, {
    budgets: { orders: bytes, actions: bytes },
    onFull: (kind, of) => void full.push(`${kind} ${of}`),
  });
  const key = (wallet: number, count: number) =>
    keyOf(`${wallet} ${count}`, { wallet: walletOf(wallet) });
  const all = Math.floor((bytes - roomBytes) / recordBytes);
  for (let made = 0; made < all; made += 1) {
    const [wallet, count] = [Math.floor(made / ofWallet), made % ofWallet];
    expect((await store.begin(key(wallet, count))).kind).toBe('fresh');
    if (count + 1 < ofWallet || made + 1 === all) continue;
    expect((await store.begin(key(wallet, ofWallet))).kind).toBe('full');
  }
  expect((await store.begin(key(99, 0))).kind).toBe('fullForAll');
  expect((await store.begin({ ...key(99, 0), kind: 'actions' })).kind).toBe('fresh');
  expect(full.filter((one) => one === 'orders wallet')).toHaveLength(
    Math.floor((all - 1) / ofWallet),
  );
  expect(full.at(-1)).toBe('orders all');
  // Neither what is about to be sent nor a response grows beyond it.
  const long = 'x'.repeat(roomBytes);
  await expect(store.record(key(0, 0), long)).rejects.toMatchObject({ code: 'retries_full' });
  await store.finish(key(0, 0), long);
  expect((await store.begin(key(0, 0))).kind).toBe('resumed');
  expect((await store.begin(key(0, 1))).kind).toBe('running');
  await store.forget(key(0, 1));
  expect((await store.begin(key(0, 1))).kind).toBe('fresh');
  expect(await countedBytes('orders')).toBe(all * recordBytes);
});
