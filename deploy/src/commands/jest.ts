import { join } from 'node:path';
import { repositoryRoot } from '../local/paths.ts';

/** The program of Jest. */
export const jestProgram: string = join(repositoryRoot, 'node_modules/jest/bin/jest.js');

/** After many suites in one process Node.js 20 may spin without end while it cleans up. */
export const enginesArgs = ['--forceExit'] as const;
