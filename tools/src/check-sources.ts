import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { problemsOf } from './source-rules.ts';

/**
 * Part of `npm run check`: the rules of `source-rules.ts` for all files of the converted rooms, one line per problem.
 */
const root = fileURLToPath(new URL('../../', import.meta.url));
const rooms = JSON.parse(
  readFileSync(join(root, 'tools/converted-rooms.json'), 'utf8'),
) as readonly string[];

const listed = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', ...rooms],
  { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 },
);
const files = listed.split('\n').filter((path) => /\.(ts|md)$/.test(path));

let count = 0;
for (const path of new Set(files)) {
  if (!existsSync(join(root, path))) continue;
  for (const { line, message } of problemsOf(path, readFileSync(join(root, path), 'utf8'))) {
    console.error(`${path}:${line}  ${message}`);
    count += 1;
  }
}
if (count > 0) {
  console.error(`${count} problems`);
  process.exit(1);
}
