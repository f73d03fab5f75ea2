import { join } from 'node:path';
import { repositoryRoot } from '../local/paths.ts';

/** The program of Jest. */
export const jestProgram: string = join(repositoryRoot, 'node_modules/jest/bin/jest.js');

/**
 * In short runs the second compiler of Java takes more time than it saves: a broker is idle with half as much without.
 * Options that are given stay.
 */
export function compileJavaOnce(): void {
  process.env['JAVA_TOOL_OPTIONS'] ??= '-XX:TieredStopAtLevel=1';
}

/** After many suites in one process Node.js 20 may spin without end while it cleans up. */
export const enginesArgs = ['--forceExit'] as const;
