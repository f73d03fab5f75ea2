import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { problemsOf } from './source-rules.ts';

/**
 * Part of `npm run check`: the rules of `source-rules.ts` for all sources and documents, one line per problem.
 */
const root = fileURLToPath(new URL('../../', import.meta.url));
const byEnding = JSON.parse(
  readFileSync(join(root, 'tools/rooms-by-ending.json'), 'utf8'),
) as readonly string[];
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
  for (const { line, message } of problemsOf(path, text, byEnding.includes(room))) {
    console.error(`${path}:${line}  ${message}`);
    count += 1;
  }
}
if (count > 0) {
  console.error(`${count} problems`);
  process.exit(1);
}
