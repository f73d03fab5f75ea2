import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../local/paths.ts';

/** Whether this runs in the image, which has no scripts of npm (docs/operating/containers.md). */
export const isInImage: boolean = !existsSync(join(repositoryRoot, 'deploy/bootstrap.mjs'));

/**
 * How an operator calls a command here: `npm run keys -- list`, in the image `docker compose run --rm tools keys list`.
 */
export function toolCall(name: string, ...args: readonly string[]): string {
  if (isInImage) return ['docker compose run --rm tools', name, ...args].join(' ');
  return ['npm run', name, ...(args.length === 0 ? [] : ['--', ...args])].join(' ');
}

/**
 * Command that passes changed keys.json and operators.json on to the services; null where they read the folder itself.
 */
export const handOnCall: string | null = isInImage
  ? 'docker compose run --rm --no-deps setup-exchange'
  : null;

/** Beginning of the usage text of a tool: the command by which an operator calls it here, before its options. */
export function toolUsage(name: string): string {
  return isInImage ? toolCall(name) : `${toolCall(name)} --`;
}
