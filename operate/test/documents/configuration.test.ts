import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import {
  configurationTables,
  settings,
  withConfiguration,
} from '../../src/documents/configuration.ts';

test('docs/operating/configuration.md shows the declared variables (npm run docs)', () => {
  const page = readFileSync(join(repositoryRoot, 'docs/operating/configuration.md'), 'utf8');
  expect(withConfiguration(page)).toBe(page);
});

test('every variable has a meaning of one sentence, and every number a unit', () => {
  for (const { field } of settings()) {
    expect([field.name, field.meaning]).toEqual([field.name, expect.stringMatching(/^[A-Z].+\.$/)]);
    const isNumber = /^a (whole|decimal) number/.test(field.allowed);
    expect([field.name, field.unit !== undefined]).toEqual([field.name, isNumber]);
  }
});

test('secrets show no default', () => {
  const secrets = settings().filter(({ field }) => field.secret);
  expect(secrets.length).toBeGreaterThan(5);
  const lines = configurationTables().split('\n');
  for (const { field } of secrets) {
    const [line = ''] = lines.filter((one) => one.startsWith(`| \`${field.name}\` |`));
    expect(line.split('|')[2]).toMatch(/^ (required|optional), secret $/);
  }
});

const rooms = [
  'kit',
  'domain',
  'ingress',
  'matcher',
  'projectors',
  'query-api',
  'mcp',
  'deploy',
  'operate',
  'acceptance',
];

/** Named in sources, and no settings: of the lifecycle, of tests and drills, and starts of names. */
const others = /^PM_(PARENT_PIPE|TEST_\w*|DRILL_NAMESPACE|BASE_URL|CHROMIUM|PORT_|CLICKHOUSE_|)$/;

test('every variable that sources name is in the reference', () => {
  const documented = settings().map(({ field }) => field.name);
  const named = new Set<string>();
  for (const room of rooms) {
    const folder = join(repositoryRoot, room, 'src');
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts')) continue;
      const text = readFileSync(join(folder, file), 'utf8');
      for (const [name] of text.matchAll(/\bPM_[A-Z_]*/g)) named.add(name);
    }
  }
  const missing = [...named].filter((name) => !documented.includes(name) && !others.test(name));
  expect(missing).toEqual([]);
});
