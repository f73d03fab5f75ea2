import type { BreakingChange } from './breaking-changes.ts';

const mark = '- **Breaking:**';

/**
 * The changes that the section Unreleased of a changelog does not announce: by a line with the mark that names the
 * route.
 */
export function unannounced(
  changes: readonly BreakingChange[],
  changelog: string,
): readonly BreakingChange[] {
  const [, unreleased = ''] =
    /^## Unreleased\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(changelog) ?? [];
  const lines = unreleased.split('\n').filter((line) => line.startsWith(mark));
  return changes.filter(({ route }) => !lines.some((line) => names(line, route)));
}

/** Whether a line has the route, and not only the beginning of its path. */
function names(line: string, route: string): boolean {
  const at = line.indexOf(route);
  if (at < 0) return false;
  return !/[\w/{-]/.test(line.charAt(at + route.length)) || names(line.slice(at + 1), route);
}
