import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { withAccessTable } from '../documents/access-table.ts';
import { agentDocuments, withToolsTable } from '../documents/agent-documents.ts';
import { withAlarms } from '../documents/alarms-table.ts';
import { withConfiguration } from '../documents/configuration.ts';
import { withDictionary, withQueries } from '../documents/data-dictionary.ts';
import { withErrorsTable } from '../documents/errors-table.ts';
import { withLimitsTables } from '../documents/limits-table.ts';
import { withMetrics } from '../documents/metrics-table.ts';
import { asyncApiFile, openApiFiles } from '../documents/openapi-files.ts';
import { withRolesTable } from '../documents/roles-table.ts';
import { withRoutesTable } from '../documents/routes-table.ts';
import { withStreamsTables } from '../documents/streams-tables.ts';
import { dashboardFiles } from '../observability/dashboard-files.ts';
import { rulesFile } from '../observability/rules-file.ts';
import { clickhouseRoles } from '../roles/roles.ts';
import { rolesFile } from '../roles/roles-sql.ts';

/** `npm run docs`: writes the generated parts of the documents and the roles of ClickHouse. */
const documents = [
  ['docs/trading/limits.md', withLimitsTables],
  ['docs/trading/routes.md', withRoutesTable],
  ['docs/trading/access.md', withAccessTable],
  ['docs/trading/errors.md', withErrorsTable],
  ['docs/trading/agents.md', withToolsTable],
  ['docs/trading/streams.md', withStreamsTables],
  ['docs/data/dictionary.md', withDictionary],
  ['docs/data/queries.md', withQueries],
  ['docs/operating/clickhouse.md', withRolesTable],
  ['docs/operating/configuration.md', withConfiguration],
  ['docs/operating/metrics.md', withMetrics],
  ['docs/operating/alarms.md', withAlarms],
] as const;

for (const [name, renew] of documents) {
  const file = join(repositoryRoot, name);
  writeFileSync(file, renew(readFileSync(file, 'utf8')));
}
for (const [name, text] of Object.entries({ ...openApiFiles, ...agentDocuments })) {
  writeFileSync(join(repositoryRoot, name), text());
}
writeFileSync(join(repositoryRoot, asyncApiFile.path), asyncApiFile.text());
for (const [name, text] of Object.entries(dashboardFiles())) {
  writeFileSync(join(repositoryRoot, name), text);
}
writeFileSync(join(repositoryRoot, 'deploy/observability/rules.yml'), rulesFile());
writeFileSync(
  join(repositoryRoot, 'deploy/clickhouse/roles.sql'),
  rolesFile(clickhouseRoles, 'pm'),
);
