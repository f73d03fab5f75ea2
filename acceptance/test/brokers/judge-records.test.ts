import { judgeRecords, type WrittenRecord } from './judge-records.ts';

function record(number: number, outcome: WrittenRecord['outcome'], offset: number | null = null) {
  return { writer: 'w', partition: 0, number, value: `v${number}`, outcome, offset };
}

const judged = (records: readonly WrittenRecord[], ...values: readonly string[]) =>
  judgeRecords(records, new Map([[0, values]]));

test('what was acknowledged is there once and in order, and unknown records are there or not', () => {
  const records = [
    record(1, 'acknowledged', 0),
    record(2, 'unknown'),
    record(3, 'certainly not written'),
    record(4, 'acknowledged', 2),
  ];
  expect(judged(records, 'v1', 'v2', 'v4')).toEqual([]);
  expect(judged([record(1, 'acknowledged', 0), record(2, 'unknown')], 'v1')).toEqual([]);
});

test.each([
  ['lost', [record(1, 'acknowledged', 0)], [], 'v1 was lost'],
  ['doubled', [record(1, 'acknowledged')], ['v1', 'v1'], 'v1 is 2 times on the log'],
  [
    'reported as not written and written',
    [record(1, 'certainly not written')],
    ['v1'],
    'v1 is on the log, and was reported as not written',
  ],
  [
    'somewhere else',
    [record(1, 'acknowledged', 1), record(2, 'unknown')],
    ['v1', 'v2'],
    'v1 is at 0, and was reported at 1',
  ],
  [
    'after a later one',
    [record(1, 'unknown'), record(2, 'acknowledged')],
    ['v2', 'v1'],
    'v2 is before v1, which was sent earlier',
  ],
  ['not of a writer', [], ['v9'], '0 v9 was never sent'],
])('a record that is %s is named', (_, records, values, line) => {
  expect(judged(records, ...values)).toContain(line);
});
