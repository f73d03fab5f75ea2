import { silentLog } from '@pm/kit/log';
import { redisKeys } from '@pm/schemas/redis/keys';
import { ProgressWatch, type ProgressWatchOptions } from '../../src/status/progress.io.ts';

const keys = redisKeys('t-');

/** One partition of which everything is stored, until the tables say something else. */
const complete = { projection: 'tables', partition: 0, offset: '100', momentMs: '1800000000000' };

test('the moment of completeness outlives a silent store, and not the loss of its tables', async () => {
  let answer: () => Promise<readonly object[]> = async () => [complete];
  let requested = 0;
  const parts: ProgressWatchOptions = {
    client: {
      admin: async () => ({
        bounds: async () => new Map([[0, { low: 0, high: 100 }]]),
        close: async () => {},
      }),
    },
    clickhouse: {
      async selectRows<T>() {
        requested += 1;
        return (await answer()) as readonly T[];
      },
    },
    redis: { hmget: async (_key, ...fields) => fields.map(() => '1') },
    keys,
    topic: 't',
    log: silentLog,
    askEveryMs: 1,
    nowMs: () => 1_800_000_001_000,
  };
  const runner = new ProgressWatch(parts);
  const afterTheNext = async () => {
    const before = requested;
    while (requested < before + 2) await new Promise((resolve) => setTimeout(resolve, 1));
    return [runner.completeThroughMs(), runner.storedOffset(0), runner.storedOffset(1)];
  };
  runner.start();
  expect(await afterTheNext()).toEqual([1_800_000_000_000, 100, null]);
  answer = () => Promise.reject(new Error('away'));
  expect(await afterTheNext()).toEqual([1_800_000_000_000, 100, null]);
  answer = async () => [];
  expect(await afterTheNext()).toEqual([null, null, null]);
  await runner.close();
});

test('nothing is said of what was read before the clock was set back', async () => {
  const clock = { nowMs: 1_800_000_001_000 };
  let requested = 0;
  const runner = new ProgressWatch({
    client: {
      admin: async () => ({
        bounds: async () => new Map([[0, { low: 0, high: 100 }]]),
        close: async () => {},
      }),
    },
    clickhouse: {
      async selectRows<T>() {
        requested += 1;
        const momentMs = String(1_800_000_000_000 + requested);
        return [{ ...complete, momentMs }] as readonly object[] as readonly T[];
      },
    },
    redis: { hmget: async (_key, ...fields) => fields.map(() => '1') },
    keys,
    topic: 't',
    log: silentLog,
    askEveryMs: 1,
    nowMs: () => clock.nowMs,
  });
  runner.start();
  const readAtMs = clock.nowMs;
  while (runner.completeThroughAtMs(readAtMs) === null)
    await new Promise((resolve) => setTimeout(resolve, 1));
  clock.nowMs -= 3_600_000;
  for (const before = requested; requested < before + 3; )
    await new Promise((resolve) => setTimeout(resolve, 1));
  expect(runner.completeThroughAtMs(readAtMs)).toBeNull();
  await runner.close();
});

test('books and ledger say up to which offset and moment they are, where anything of them is there', async () => {
  const stored = new Map([
    [`${keys.bookMarks} 0`, '7'],
    [`${keys.bookMarks} ${keys.bookClockOf(0)}`, '1700000000500'],
    // Books that were lost: the clock of what they were says nothing.
    [`${keys.bookMarks} ${keys.bookClockOf(1)}`, '1700000000000'],
    [`${keys.ledgerMarks} ${keys.ledgerMarkOf(1)}`, '9'],
    [`${keys.ledgerMarks} ${keys.ledgerClockOf(1)}`, '1700000001000'],
  ]);
  const runner = new ProgressWatch({
    client: {
      admin: async () => ({
        bounds: async () => new Map([0, 1].map((partition) => [partition, { low: 0, high: 9 }])),
        close: async () => {},
      }),
    },
    clickhouse: { selectRows: async () => [] },
    redis: {
      hmget: async (key, ...fields) => fields.map((field) => stored.get(`${key} ${field}`) ?? null),
    },
    keys,
    topic: 't',
    log: silentLog,
    askEveryMs: 1,
    nowMs: () => 0,
  });
  runner.start();
  while (runner.progress().projections.length === 0)
    await new Promise((resolve) => setTimeout(resolve, 1));
  expect(runner.progress().projections.slice(1)).toEqual([
    {
      projection: 'books',
      partitions: [
        { partition: 0, offset: 7, momentMs: 1_700_000_000_500 },
        { partition: 1, offset: 0, momentMs: null },
      ],
    },
    {
      projection: 'ledger',
      partitions: [
        { partition: 0, offset: 0, momentMs: null },
        { partition: 1, offset: 9, momentMs: 1_700_000_001_000 },
      ],
    },
  ]);
  await runner.close();
});
