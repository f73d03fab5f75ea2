import { type LogAndTables, refuseOlderLog } from '../../src/setup/older-log.ts';

type Ends = ReadonlyMap<number, number>;

/** A log whose ends are these, one answer after the other, and tables that are complete up to `folded`. */
function placeOf(answers: readonly (Ends | null)[], folded: Ends | null) {
  let asked = 0;
  const now = () => answers[Math.min(asked, answers.length - 1)] ?? null;
  const place: LogAndTables = {
    topic: 'executions',
    database: 'pm',
    admin: {
      hasTopic: async () => now() !== null,
      bounds: async () => {
        const ends = now() ?? new Map();
        asked += 1;
        return new Map([...ends].map(([partition, high]) => [partition, { low: 0, high }]));
      },
    },
    clickhouse: {
      selectRows: async <Row>(sql: string): Promise<readonly Row[]> => {
        const isOfTables = sql.includes('system.tables');
        const rows = isOfTables
          ? [{ name: 'completeness' }]
          : [...(folded ?? [])].map(([partition, to]) => ({
              partition,
              through_offset: String(to),
            }));
        return (folded === null ? [] : rows) as readonly unknown[] as readonly Row[];
      },
    },
  };
  return { place, asked: () => asked };
}

const ends = (...highs: readonly number[]): Ends => new Map(highs.entries());

test.each([
  ['ends where the tables do', [ends(10, 20)], ends(10, 20)],
  ['has more', [ends(11, 20)], ends(10, 20)],
  ['has partitions that the tables lack', [ends(10, 20, 30)], ends(10)],
  ['is not there, and there are no tables', [null], null],
  ['is not there, and the tables have nothing', [null], ends()],
] as const)('a log that %s is taken', async (_name, answers, folded) => {
  await expect(refuseOlderLog(placeOf(answers, folded).place, 0)).resolves.toBeUndefined();
});

test.each([
  ['ends before the tables do', [ends(10, 19)], 'partition 1 of executions ends at 19'],
  ['lacks a partition', [ends(10)], 'partition 1 of executions ends at 0'],
  ['is not there', [null], 'partition 0 of executions ends at 0'],
] as const)('a log that %s is refused with the place', async (_name, answers, words) => {
  const refused = refuseOlderLog(placeOf(answers, ends(10, 20)).place, 0);
  await expect(refused).rejects.toThrow(words);
  await expect(refused).rejects.toThrow('the log is older than the tables');
});

test('an end that a broker still raises after its start is waited for', async () => {
  const { place, asked } = placeOf([ends(8, 20), ends(10, 20)], ends(10, 20));
  await refuseOlderLog(place, 60_000);
  expect(asked()).toBe(2);
});
