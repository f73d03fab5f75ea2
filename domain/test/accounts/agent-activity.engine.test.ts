import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { redisKeys } from '@pm/schemas/redis/keys';
import { engineUrl } from '../../../kit/test/engines.ts';
import { AgentActivity, flushIntervalMs } from '../../src/accounts/agent-activity.io.ts';

const keys = redisKeys(`agent_activity_${process.pid}`);
let redis: RedisClient;

beforeAll(() => {
  redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
});

afterEach(async () => {
  await redis.del(keys.agentsSeen, keys.agentsFlush);
});

afterAll(async () => {
  await redis.quit();
});

function open(): AgentActivity {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const onFault = (error: unknown) => {
    throw error;
  };
  return new AgentActivity({ redis, keys, clock, onFault });
}

test('one process brings uses to the log in each interval', async () => {
  const [one, other] = [open(), open()];
  expect(await one.takeAll()).toEqual(new Map());
  expect([await other.takeAll(), await one.takeAll()]).toEqual([null, null]);
  const leftMs = await redis.pttl(keys.agentsFlush);
  expect(leftMs).toBeGreaterThan(0);
  expect(leftMs).toBeLessThan(flushIntervalMs);
  await redis.del(keys.agentsFlush);
  expect(await other.takeAll()).toEqual(new Map());
});

test('the next process brings them when the clock of Redis was set back by an hour', async () => {
  const [one, other] = [open(), open()];
  await one.takeAll();
  // An end in time is the farther away, the farther the clock goes back.
  await redis.pexpire(keys.agentsFlush, (await redis.pttl(keys.agentsFlush)) + 3_600_000);
  expect(await other.takeAll()).toEqual(new Map());
  expect(await one.takeAll()).toBeNull();
});
