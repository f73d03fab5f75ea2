import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { withDataDictionary } from '../documents/data-dictionary.ts';
import { withErrorsTable } from '../documents/errors-table.ts';
import { withLimitsTable } from '../documents/limits-table.ts';
import { openApiFiles } from '../documents/openapi-files.ts';
import { withRolesTable } from '../documents/roles-table.ts';
import { clickhouseRoles } from '../roles/roles.ts';
import { rolesFile } from '../roles/roles-sql.ts';

/** `npm run docs`: writes what documents repeat of the contracts. */
const documents = [
  ['docs/trading/limits.md', withLimitsTable],
  ['docs/trading/errors.md', withErrorsTable],
  ['docs/data/data.md', withDataDictionary],
  ['docs/operating/clickhouse.md', withRolesTable],
] as const;

for (const [name, renew] of documents) {
  const file = join(repositoryRoot, name);
  writeFileSync(file, renew(readFileSync(file, 'utf8')));
}
for (const [name, text] of Object.entries(openApiFiles)) {
  writeFileSync(join(repositoryRoot, name), text());
}
writeFileSync(
  join(repositoryRoot, 'deploy/clickhouse/roles.sql'),
  rolesFile(clickhouseRoles, 'pm'),
);
