import { silentLog } from '@pm/kit/log';
import { redisKeys } from '@pm/schemas';
import { type StandingParts, StandingRunner } from '../../src/io/standing-runner.ts';

/** One partition of which everything is stored, until the tables say something else. */
const complete = { projection: 'tables', partition: 0, offset: '100', momentMs: '1800000000000' };

test('the moment of completeness outlives a silent store, and not the loss of its tables', async () => {
  let answer: () => Promise<readonly object[]> = async () => [complete];
  let asked = 0;
  const parts: StandingParts = {
    client: {
      admin: async () => ({
        bounds: async () => new Map([[0, { low: 0, high: 100 }]]),
        close: async () => {},
      }),
    },
    clickhouse: {
      async selectRows<T>() {
        asked += 1;
        return (await answer()) as readonly T[];
      },
    },
    redis: { hmget: async (_key, ...fields) => fields.map(() => '1') },
    ...{ keys: redisKeys('t-'), topic: 't', log: silentLog, askEveryMs: 1 },
    nowMs: () => 1_800_000_001_000,
  };
  const runner = new StandingRunner(parts);
  const afterTheNext = async () => {
    const before = asked;
    while (asked < before + 2) await new Promise((resolve) => setTimeout(resolve, 1));
    return runner.completeThroughMs();
  };
  runner.start();
  expect(await afterTheNext()).toBe(1_800_000_000_000);
  answer = () => Promise.reject(new Error('away'));
  expect(await afterTheNext()).toBe(1_800_000_000_000);
  answer = async () => [];
  expect(await afterTheNext()).toBeNull();
  await runner.close();
});
