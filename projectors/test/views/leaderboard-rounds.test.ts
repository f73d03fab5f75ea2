import type { ClickHouse } from '@pm/kit/clickhouse';
import { silentLog } from '@pm/kit/log';
import { leaderboardTables } from '@pm/schemas/tables/leaderboard-tables';
import { scheduleLeaderboards } from '../../src/views/leaderboard/leaderboards.io.ts';

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

/** Runs rounds on fake timers for some time. `snapshotMs`: durations of the inserts of snapshots, one after another. */
async function roundsOf({
  forMs,
  nowMs,
  newest = 0,
  snapshotMs = [],
}: {
  readonly forMs: number;
  nowMs(): number;
  readonly newest?: number;
  readonly snapshotMs?: readonly number[];
}): Promise<readonly number[]> {
  const made: number[] = [];
  const lengths = [...snapshotMs];
  const clickhouse = {
    selectRows: async (sql: string) =>
      sql.includes('max(snapshot)') ? [{ newest: String(made.at(-1) ?? newest) }] : [],
    insertRows: async () => {},
    command: async (sql: string, values?: { readonly snapshot?: number }) => {
      if (!sql.startsWith(`INSERT INTO ${leaderboardTables.runs.name} (snapshot)`)) return;
      const tookMs = lengths.shift() ?? 0;
      if (tookMs > 0) await new Promise((resolve) => setTimeout(resolve, tookMs));
      made.push(values?.snapshot ?? 0);
    },
  } as unknown as Pick<ClickHouse, 'command' | 'selectRows' | 'insertRows'>;
  const categories = { masks: () => [] };
  const leaderboards = scheduleLeaderboards({ clickhouse, categories, log: silentLog, nowMs });
  await jest.advanceTimersByTimeAsync(forMs);
  leaderboards.close();
  return made;
}

test('a clock that is set back does not stop the leaderboards', async () => {
  const newest = 1_800_000_000_000;
  const made = await roundsOf({ forMs: 20_000, newest, nowMs: () => newest - 3_600_000 });
  expect(made[0]).toBe(newest + 1);
});

test.each([
  ['one long computation does not delay the next', [20_000], [35_000, 15_000]],
  ['two long ones in a row do', [20_000, 20_000], [35_000, 200_000]],
])('%s', async (_, snapshotMs, expected) => {
  const made = await roundsOf({ forMs: 300_000, nowMs: () => Date.now(), snapshotMs });
  const [first = 0, second = 0, third = 0] = made;
  expect([second - first, third - second]).toEqual(expected);
});
