import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { unannounced } from '../contract/announced.ts';
import { breakingChanges } from '../contract/breaking-changes.ts';
import { asyncApiFile, openApiFiles, releasedFile } from '../documents/openapi-files.ts';

/**
 * Part of `npm run check`: the descriptions of the API are those of the declarations, and what breaks clients of the
 * last release is announced in the changelog. Prints one line per problem; the exit code is 1 with any.
 */
const read = (name: string) => readFileSync(join(repositoryRoot, name), 'utf8');
const changelog = read('CHANGELOG.md');

const problems = Object.entries(openApiFiles).flatMap(([file, text]) => {
  const described = text();
  const stale = read(file) === described ? [] : [`${file} is not up to date: npm run docs`];
  const changes = breakingChanges(JSON.parse(read(releasedFile(file))), JSON.parse(described));
  const open = unannounced(changes, changelog).map((change) => `${change.route}: ${change.text}`);
  return [...stale, ...open];
});
if (read(asyncApiFile.path) !== asyncApiFile.text()) {
  problems.push(`${asyncApiFile.path} is not up to date: npm run docs`);
}

if (problems.length > 0) {
  for (const problem of problems) console.error(problem);
  console.error(
    'A breaking change needs a line "- **Breaking:** <METHOD /path> ..." under Unreleased.',
  );
  process.exitCode = 1;
}
