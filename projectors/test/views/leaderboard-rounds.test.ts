import type { ClickHouse } from '@pm/kit/clickhouse';
import { silentLog } from '@pm/kit/log';
import { leaderboardTables } from '@pm/schemas';
import { scheduleLeaderboards } from '../../src/views/leaderboard/leaderboards.io.ts';

test('a clock that is set back does not stop the leaderboards', async () => {
  jest.useFakeTimers();
  const newest = 1_800_000_000_000;
  const made: unknown[] = [];
  const clickhouse = {
    selectRows: async (sql: string) =>
      sql.includes('max(snapshot)') ? [{ newest: String(newest) }] : [],
    insertRows: async () => {},
    command: async (sql: string, values?: { readonly snapshot?: number }) => {
      if (sql.startsWith(`INSERT INTO ${leaderboardTables.runs.name} (snapshot)`))
        made.push(values?.snapshot);
    },
  } as unknown as Pick<ClickHouse, 'command' | 'selectRows' | 'insertRows'>;
  const leaderboards = scheduleLeaderboards({
    clickhouse,
    categories: { masks: () => [] },
    log: silentLog,
    nowMs: () => newest - 3_600_000,
  });
  await jest.advanceTimersByTimeAsync(20_000);
  leaderboards.close();
  jest.useRealTimers();
  expect(made[0]).toBe(newest + 1);
});
