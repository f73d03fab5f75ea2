import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StackError } from './stack-error.ts';

/**
 * The folder of this package; the same from `src/local` (tests) and from `dist/local` (the stack).
 */
export const deployRoot: string = fileURLToPath(new URL('../../', import.meta.url));

/** The folder of the repository. */
export const repositoryRoot: string = join(deployRoot, '..');

/** Folder of fetched engines, kept between runs; safe to delete. */
export const defaultCacheDir: string = join(repositoryRoot, '.cache');

/**
 * A compiled entry file of this package, for use as `node <file>`. Processes always run compiled
 * files, tests included.
 *
 * @throws StackError NOT_BUILT when the package has not been compiled.
 */
export function builtEntry(pathInDist: string): string {
  const file = join(deployRoot, 'dist', pathInDist);
  if (existsSync(file)) return file;
  throw new StackError('NOT_BUILT', `${file} is missing: run \`npm run build\` first`);
}
