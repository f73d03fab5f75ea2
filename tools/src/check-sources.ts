import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { problemsOf } from './source-rules.ts';
import { wallClockProblems } from './wall-clock.ts';

/**
 * Part of `npm run check`: the rules of `source-rules.ts` for all sources and documents, and that of `wall-clock.ts`
 * for those that `wall-clock.json` does not name with a reason; one line per problem.
 */
const root = fileURLToPath(new URL('../../', import.meta.url));
const byEnding = listIn('rooms-by-ending.json') as readonly string[];
const wallClockUses = listIn('wall-clock.json') as Readonly<Record<string, string>>;
/** Written by a command, or kept in the form of their authors. */
const isGenerated = /^(deploy\/data\/|acceptance\/clients\/|docs\/(figures|trading\/routes)\.md$)/;

const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 << 20,
});
const files = listed
  .split('\n')
  .filter((path) => /\.(ts|md)$/.test(path) && !isGenerated.test(path));

let count = 0;
for (const path of new Set(files)) {
  if (!existsSync(join(root, path))) continue;
  const [room = ''] = path.split('/');
  const text = readFileSync(join(root, path), 'utf8');
  const wallClock = path in wallClockUses ? [] : wallClockProblems(path, text);
  for (const { line, message } of [
    ...problemsOf(path, text, byEnding.includes(room)),
    ...wallClock,
  ]) {
    console.error(`${path}:${line}  ${message}`);
    count += 1;
  }
}
if (count > 0) {
  console.error(`${count} problems`);
  process.exit(1);
}

function listIn(name: string): unknown {
  return JSON.parse(readFileSync(join(root, 'tools', name), 'utf8'));
}
