import { silentLog } from '@pm/kit/log';
import { openRedis } from '@pm/kit/redis';
import { redisKeys } from '@pm/schemas/redis/keys';
import { engineUrl } from '../../kit/test/engines.ts';
import { DaySums } from '../src/day-sums.io.ts';

const keys = redisKeys(`deposits-test-${process.pid}`);
const dayMs = 86_400_000;
const redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
afterAll(async () => {
  await redis.del(keys.movedAlone(1), keys.movedAlone(2));
  redis.disconnect();
});

test('deposits and withdrawals alone at several processes at once never pass the limit of the day', async () => {
  const limitMicro = 1_000_000_000_000;
  const processes = Array.from({ length: 4 }, () => new DaySums(redis, keys));
  const alone = {
    way: 'deposit' as const,
    name: 'alice',
    amountMicro: 100_000_000_001,
    limitMicro,
    atMs: dayMs,
  };
  const all = Array.from({ length: 40 }, (_, index) => processes[index % 4]?.add(alone));
  expect((await Promise.all(all)).filter((isAlone) => isAlone)).toHaveLength(9);
  const [first = new DaySums(redis, keys)] = processes;
  expect(await first.add({ ...alone, amountMicro: 99_999_999_991 })).toBe(true);
  expect(await first.add({ ...alone, amountMicro: 1 })).toBe(false);
  expect(await first.add({ ...alone, name: 'bob' })).toBe(true);
  expect(await first.add({ ...alone, way: 'withdrawal' })).toBe(true);
  expect(await first.add({ ...alone, atMs: 2 * dayMs })).toBe(true);
  expect(await redis.pttl(keys.movedAlone(1))).toBeGreaterThan(dayMs);
});
