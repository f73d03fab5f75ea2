import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { withMetrics } from '../../src/documents/metrics-table.ts';
import { metricSections } from '../../src/observability/metrics.ts';

const all = metricSections.flatMap(({ metrics }) => metrics);

test('docs/operating/metrics.md shows the declared metrics (npm run docs)', () => {
  const page = readFileSync(join(repositoryRoot, 'docs/operating/metrics.md'), 'utf8');
  expect(withMetrics(page)).toBe(page);
});

test('no two metrics have one name', () => {
  const names = all.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test('counters end with _total and no other metric does', () => {
  for (const { name, type } of all)
    expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
});

test('no label is a path, an address, a wallet or an id of a client', () => {
  const bounded = new Set<string>(all.flatMap(({ labels = [] }) => labels));
  expect([...bounded].sort()).toEqual([
    'code',
    'dialect',
    'engine',
    'group',
    'kind',
    'method',
    'of',
    'outcome',
    'ownership',
    'package',
    'partition',
    'phase',
    'projection',
    'reason',
    'route',
    'scope',
    'server',
    'stage',
    'state',
    'status',
    'table',
    'target',
    'topic',
    'view',
    'what',
  ]);
});

const rooms = ['kit', 'domain', 'ingress', 'matcher', 'projectors', 'query-api', 'mcp', 'deploy'];

test('every metric that sources name is declared', () => {
  const declared = new Set<string>(all.map(({ name }) => name));
  for (const room of rooms) {
    const folder = join(repositoryRoot, room, 'src');
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts')) continue;
      const text = readFileSync(join(folder, file), 'utf8');
      for (const [, name = ''] of text.matchAll(/name: ['`](pm_[^'`]*)/g))
        expect([file, name, declared.has(name)]).toEqual([file, name, true]);
    }
  }
});
