import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLimitsTable } from '../documents/limits-table.ts';
import { repositoryRoot } from '../local/paths.ts';

/** `npm run docs`: writes what documents repeat of the contracts. */
const file = join(repositoryRoot, 'docs/limits.md');
writeFileSync(file, withLimitsTable(readFileSync(file, 'utf8')));
