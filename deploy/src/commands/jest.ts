import { join } from 'node:path';
import { repositoryRoot } from '../local/paths.ts';

/**
 * Jest, as arguments of Node, which its workers get too. Suites make garbage at a high rate: with less room for new
 * objects it takes a twelfth more processor time.
 */
export const jestProgram: readonly string[] = [
  '--max-semi-space-size=64',
  join(repositoryRoot, 'node_modules/jest/bin/jest.js'),
];

/**
 * In short runs the second compiler of Java takes more time than it saves: a broker is idle with half as much without.
 * Options that are given stay.
 */
export function compileJavaOnce(): void {
  process.env['JAVA_TOOL_OPTIONS'] ??= '-XX:TieredStopAtLevel=1';
}

/** After many suites in one process Node.js 20 may spin without end while it cleans up. */
export const enginesArgs = ['--forceExit'] as const;
