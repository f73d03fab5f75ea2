import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { agentDocuments, withToolsTable } from '../../src/documents/agent-documents.ts';

const textOf = (name: string) => readFileSync(join(repositoryRoot, name), 'utf8');

test.each(Object.keys(agentDocuments))('%s says what the documents say (npm run docs)', (name) => {
  const text = agentDocuments[name]?.() ?? '';
  expect(text.length).toBeGreaterThan(200);
  expect(textOf(name)).toBe(text);
});

test('docs/trading/agents.md lists the tools (npm run docs)', () => {
  const page = textOf('docs/trading/agents.md');
  expect(withToolsTable(page)).toBe(page);
});
