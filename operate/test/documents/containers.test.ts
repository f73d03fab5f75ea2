import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { parse } from 'yaml';
import { settings } from '../../src/documents/configuration.ts';

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly command?: readonly string[];
        readonly entrypoint?: readonly string[];
        readonly environment?: Readonly<Record<string, string>>;
      }
    >
  >;
}

const text = readFileSync(join(repositoryRoot, 'compose.yaml'), 'utf8');
const { services } = parse(text, { merge: true }) as Compose;

const programOf = ({ command, entrypoint }: Compose['services'][string]) =>
  entrypoint?.at(-1) ?? command?.[0] ?? '';

/** The readers of the reference that a program is; set-up and the tools read what those of the repository read. */
const readersOf = (program: string) =>
  ['setup', 'tools'].includes(program) ? ['tools', 'npm start'] : [program];

test('a container gets no variable that its program does not know', () => {
  const all = settings();
  for (const [name, service] of Object.entries(services)) {
    const { environment = {} } = service;
    const readers = readersOf(programOf(service));
    const known = all
      .filter((one) => one.readers.some((reader) => readers.includes(reader)))
      .map(({ field }) => field.name);
    const given = Object.keys(environment).filter((variable) => variable.startsWith('PM_'));
    const unknown = given.filter((variable) => !known.includes(variable));
    expect([name, unknown]).toEqual([name, []]);
  }
});

test('a container gets every variable that its program needs, or its secrets do', () => {
  for (const [name, service] of Object.entries(services)) {
    const { environment = {} } = service;
    const program = programOf(service);
    const needed = settings().filter(
      ({ field, readers }) => readers.includes(program) && field.fallback === undefined,
    );
    const missing = needed
      .map(({ field }) => field.name)
      .filter((variable) => !(variable in environment) && !isInSecrets(variable));
    expect([name, missing]).toEqual([name, []]);
  }
});

/** Variables that set-up derives from the keys (deploy/src/setup/service-secrets.ts). */
const fromKeys = [
  'PM_ROOT_KEY',
  'PM_KEY_SECRET',
  'PM_BOOK_SECRET',
  'PM_SIGNOFF_SEED',
  'PM_OPERATOR_SEED',
  'PM_OWNER_SEED',
  'PM_OPERATOR_KEY',
  'PM_LEDGER_SEED',
];

function isInSecrets(variable: string): boolean {
  return fromKeys.includes(variable);
}

test('variables that compose.yaml takes from the shell are declared, or begin with EXCHANGE_', () => {
  const declared = settings().map(({ field }) => field.name);
  const taken = [...text.matchAll(/\$\{(\w+)/g)].map(([, variable = '']) => variable);
  const others = taken.filter((one) => !one.startsWith('EXCHANGE_') && !declared.includes(one));
  expect(others).toEqual([]);
});
