import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';

const listed = readdirSync(join(repositoryRoot, 'docs'), { recursive: true, encoding: 'utf8' });
const documents = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...listed.filter((name) => name.endsWith('.md')).map((name) => join('docs', name)),
];
const textOf = (name: string) => readFileSync(join(repositoryRoot, name), 'utf8');

test.each(documents)('%s links to files that exist', (name) => {
  const targets = [...textOf(name).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(
    ([, to = '']) => to,
  );
  const local = targets.filter((target) => !/^[a-z]+:/.test(target));
  const missing = local.filter(
    (target) => !existsSync(join(repositoryRoot, normalize(join(dirname(name), target)))),
  );
  expect(missing).toEqual([]);
});

test.each(documents)('%s names commands that exist', (name) => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const named = [...textOf(name).matchAll(/npm run ([a-z]+(?::[a-z]+)?)/g)].map(
    ([, one = '']) => one,
  );
  const known = (one: string) => one in scripts || one === 'bench';
  expect(named.filter((one) => !known(one))).toEqual([]);
});

test('the index names every document, the alarms the runbook, the decisions their domains', () => {
  const index = `${textOf('docs/README.md')}${textOf('docs/decisions.md')}`;
  const alarms = textOf('docs/operating/alarms.md').replaceAll(
    '](runbook/',
    '](operating/runbook/',
  );
  const named = `${index}${alarms}`;
  const unnamed = listed.filter(
    (name) =>
      name.endsWith('.md') &&
      name !== 'README.md' &&
      !named.includes(`](${name})`) &&
      !named.includes(`](${name}#`),
  );
  expect(unnamed).toEqual([]);
});
