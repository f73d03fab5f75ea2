import { setTimeout as wait } from 'node:timers/promises';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { redisKeys } from '@pm/schemas/redis/keys';
import { engineUrl } from '../../../kit/test/engines.ts';
import { takeRebuildLock } from '../../src/rebuild/rebuild-lock.ts';

const keys = redisKeys(`rebuild_lock_${process.pid}`);
const never = 3_600_000;
let redis: RedisClient;

beforeAll(() => {
  redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
});

afterEach(async () => {
  await redis.del(keys.rebuild);
});

afterAll(async () => {
  await redis.quit();
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await wait(10);
}

describe('the lock of a rebuild', () => {
  test('is held by one run, and free when that has ended', async () => {
    const lock = await takeRebuildLock({ redis, keys });
    expect(lock.isHeld()).toBe(true);
    await expect(takeRebuildLock({ redis, keys })).rejects.toThrow(
      `another rebuild works on these tables (process ${process.pid} on`,
    );
    await lock.release();
    const next = await takeRebuildLock({ redis, keys });
    await lock.release();
    expect([lock.isHeld(), next.isHeld()]).toEqual([false, true]);
    expect(await redis.exists(keys.rebuild)).toBe(1);
    await next.release();
  });

  test('of a run that died on this host is taken over at once, and of one on another host when its lease ends', async () => {
    const times = { leaseMs: 200, renewEveryMs: never };
    const lock = await takeRebuildLock({ redis, keys }, times);
    const holder = JSON.parse((await redis.get(keys.rebuild)) ?? '');
    await lock.release();
    const dead = JSON.stringify({ ...holder, startMark: 'long ago' });
    await redis.set(keys.rebuild, dead, 'PX', 30_000);
    const heir = await takeRebuildLock({ redis, keys });
    await heir.release();
    const elsewhere = JSON.stringify({ ...holder, host: 'elsewhere', startMark: 'long ago' });
    await redis.set(keys.rebuild, elsewhere, 'PX', 2_000);
    await expect(takeRebuildLock({ redis, keys })).rejects.toThrow('on elsewhere');
    while ((await redis.exists(keys.rebuild)) === 1) await wait(10);
    await (await takeRebuildLock({ redis, keys })).release();
  });

  test('of a run on another host is free when the clock of Redis was set back by an hour', async () => {
    const lock = await takeRebuildLock({ redis, keys });
    const holder = JSON.parse((await redis.get(keys.rebuild)) ?? '');
    await lock.release();
    const elsewhere = JSON.stringify({ ...holder, host: 'elsewhere' });
    await redis.set(keys.rebuild, elsewhere, 'PX', 30_000);
    await expect(takeRebuildLock({ redis, keys })).rejects.toThrow('on elsewhere');
    // An end in time is the farther away, the farther the clock goes back.
    await redis.pexpire(keys.rebuild, 30_000 + 3_600_000);
    await (await takeRebuildLock({ redis, keys })).release();
  });

  test('lasts as long as it is renewed', async () => {
    const lock = await takeRebuildLock({ redis, keys }, { leaseMs: 2_000, renewEveryMs: 20 });
    for (let longest = 0; longest <= 1_990; longest = await redis.pttl(keys.rebuild)) await wait(5);
    expect(lock.isHeld()).toBe(true);
    await lock.release();
  });

  test('is lost for good when it was not renewed in time, or another run has it', async () => {
    const late = await takeRebuildLock({ redis, keys }, { leaseMs: 50, renewEveryMs: never });
    await until(() => !late.isHeld());
    await redis.del(keys.rebuild);
    const robbed = await takeRebuildLock({ redis, keys }, { leaseMs: 60_000, renewEveryMs: 10 });
    await redis.set(keys.rebuild, 'another run', 'PX', 60_000);
    await until(() => !robbed.isHeld());
    await redis.del(keys.rebuild);
    await wait(50);
    expect(robbed.isHeld()).toBe(false);
    await robbed.release();
    await late.release();
  });
});
