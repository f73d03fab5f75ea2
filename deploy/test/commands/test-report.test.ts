import {
  emptyReport,
  failuresText,
  failureText,
  jestReport,
  type PartReport,
} from '@pm/deploy/commands/test-report';

const passing = { fullName: 'adds', status: 'passed', failureMessages: [] };
const failing = {
  fullName: 'subtracts',
  status: 'failed',
  failureMessages: ['\u001b[31mError: 1 is not 2\u001b[39m\n\n    at subtract.ts:1'],
};

function reportOf(...suites: readonly object[]): PartReport {
  const totals = { numPassedTests: 1, numFailedTests: 1, numPendingTests: 2, numTodoTests: 3 };
  const report = { ...totals, numRuntimeErrorTestSuites: 1, testResults: suites };
  return jestReport(JSON.stringify(report), '/tree');
}

test('a report of Jest names each failed test with its message, and the time of each suite', () => {
  const assertionResults = [passing, failing];
  const times = { startTime: 1_000, endTime: 3_500 };
  const failed = { name: '/tree/a/a.test.ts', status: 'failed', message: '', ...times };
  const suite = { ...failed, assertionResults };
  expect(reportOf(suite)).toEqual({
    passed: 1,
    failed: 2,
    skipped: 5,
    failures: ['a/a.test.ts: subtracts\n  Error: 1 is not 2\n      at subtract.ts:1'],
    suites: [{ name: 'a/a.test.ts', seconds: 2.5 }],
  });
});

test('a suite that could not run is a failure with its own message; one that passed is none', () => {
  const broken = { name: '/tree/b.test.ts', status: 'failed', message: 'no module' };
  const sound = { name: '/tree/c.test.ts', status: 'passed', message: '' };
  const { failures } = reportOf(
    { ...broken, assertionResults: [] },
    { ...sound, assertionResults: [passing] },
  );
  expect(failures).toEqual(['b.test.ts\n  no module']);
});

test('what is shown of a failure is bounded in lines, in their length and in number', () => {
  const message = Array.from({ length: 50 }, () => 'x'.repeat(1_000)).join('\n');
  const text = failureText('name', message);
  expect(text.split('\n')).toHaveLength(7);
  expect(text.length).toBeLessThan(1_300);
  const failures = Array.from({ length: 45 }, (_, number) => `test ${number}`);
  const shown = failuresText(new Map([['unit', { ...emptyReport, failures }]])).split('\n');
  expect(shown[0]).toBe('FAILED unit: test 0');
  expect(shown).toHaveLength(41);
  expect(shown.at(-1)).toBe('and 5 more');
});
