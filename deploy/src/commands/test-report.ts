import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** Test counts of one part of `npm test`, the names of its failed tests and the times of its test files. */
export interface PartReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** One text for each failed test, with the beginning of its message; may be fewer than `failed`. */
  readonly failures: readonly string[];
  readonly suites: readonly SuiteTime[];
}

/** A file of tests and how long it took. */
export interface SuiteTime {
  readonly name: string;
  readonly seconds: number;
}

export const emptyReport: PartReport = {
  passed: 0,
  failed: 0,
  skipped: 0,
  failures: [],
  suites: [],
};

/** Failed tests whose names are shown at the end, and what is shown of each message. */
const failuresShownMax = 40;
const messageLinesMax = 6;
const lineLengthMax = 200;

interface JestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numRuntimeErrorTestSuites: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    /** Unix milliseconds. */
    readonly startTime: number;
    readonly endTime: number;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** The report that Jest writes with `--json`. `root`: the folder that file names are relative to. */
export function jestReport(text: string, root: string): PartReport {
  const report = JSON.parse(text) as JestReport;
  const failures = report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter((result) => result.status === 'failed');
    if (failed.length === 0) return status === 'failed' ? [failureText(file, message)] : [];
    return failed.map(({ fullName, failureMessages }) => {
      return failureText(`${file}: ${fullName}`, failureMessages.join('\n'));
    });
  });
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
    skipped: report.numPendingTests + report.numTodoTests,
    failures,
    suites: report.testResults.map(({ name, startTime, endTime }) => ({
      name: relative(root, name),
      seconds: (endTime - startTime) / 1_000,
    })),
  };
}

/** A name and the beginning of a message, without colours and empty lines. */
export function failureText(name: string, message: string): string {
  const lines = stripVTControlCharacters(message).split('\n').filter(isSaid);
  const shown = lines.slice(0, messageLinesMax).map((line) => line.slice(0, lineLengthMax));
  return [name, ...shown.map((line) => `  ${line.trimEnd()}`)].join('\n');
}

function isSaid(line: string): boolean {
  return line.trim() !== '';
}

/** The failed tests of all parts, as the last thing that is printed before the totals. */
export function failuresText(parts: ReadonlyMap<string, PartReport>): string {
  const all = [...parts].flatMap(([part, { failures }]) =>
    failures.map((text) => `FAILED ${part}: ${text}`),
  );
  const left = all.length - failuresShownMax;
  const more = left > 0 ? [`and ${left} more`] : [];
  return [...all.slice(0, failuresShownMax), ...more].join('\n');
}
