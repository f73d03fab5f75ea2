import { repositoryRoot } from '@pm/deploy/local/paths';
import { staleDescriptions, unannouncedChanges } from '../contract/check-contract.ts';
import { asyncApiFile, openApiFiles } from '../documents/openapi-files.ts';

/**
 * Part of `npm run check`: the descriptions of the API are those of the declarations, and what breaks clients of the
 * last release is announced in the changelog. Prints one line per problem; the exit code is 1 with any. A comparison
 * that needs history which the clone does not have is left out, with a line.
 */
const openApi = Object.fromEntries(
  Object.entries(openApiFiles).map(([file, text]) => [file, text()]),
);
const stale = staleDescriptions(repositoryRoot, {
  ...openApi,
  [asyncApiFile.path]: asyncApiFile.text(),
});
const { problems, leftOut } = unannouncedChanges(repositoryRoot, openApi);

for (const line of leftOut) console.log(line);
for (const problem of [...stale, ...problems]) console.error(problem);
if (problems.length > 0) {
  console.error(
    'A breaking change needs a line "- **Breaking:** <METHOD /path> ..." under Unreleased.',
  );
}
if (stale.length + problems.length > 0) process.exitCode = 1;
