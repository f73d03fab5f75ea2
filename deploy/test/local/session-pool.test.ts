import { setImmediate } from 'node:timers/promises';
import { createDeferred } from '../../../kit/test/kafka/deferred.ts';
import { statusOf } from '../../src/local/clickhouse-front/engine-error.ts';
import { SessionPool } from '../../src/local/clickhouse-front/session-pool.ts';

const limits = {
  dataDir: '/nowhere',
  database: 'pm',
  sessions: 2,
  maxWaiting: 3,
  maxWaitMs: 60_000,
};

test('queries wait for a session up to a limit, and more are refused with a status that clients retry', async () => {
  const pool = new SessionPool(limits);
  const end = createDeferred();
  const begun: number[] = [];
  const queries = Array.from({ length: 5 }, (_, number) =>
    pool.use('reader', async () => {
      begun.push(number);
      await end.promise;
    }),
  );
  await setImmediate();
  expect(begun).toEqual([0, 1]);
  const refused = pool.use('reader', async () => undefined);
  await expect(refused).rejects.toMatchObject({ code: 202 });
  expect(statusOf(202)).toBe(503);
  end.resolve();
  await Promise.all(queries);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  await pool.use('reader', async () => undefined);
  await pool.close();
});
