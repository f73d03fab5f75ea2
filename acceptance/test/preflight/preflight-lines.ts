import { preflightOptions } from '@pm/operate/preflight/options';
import { type PreflightLine, runPreflight } from '@pm/operate/preflight/run-preflight';

/** The lines of preflight with these variables, for topics with one copy. `dataDir` may have the keys of the log. */
export async function preflightLines(
  env: Readonly<Record<string, string>>,
  dataDir = '/nonexistent',
): Promise<readonly PreflightLine[]> {
  const lines: PreflightLine[] = [];
  const stack = { dataDir, replicationFactor: 1, partitions: 2 };
  await runPreflight(preflightOptions(stack, env), (line) => lines.push(line));
  return lines;
}
