import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type SecretPlaces,
  writeEngineSecrets,
  writeServiceSecrets,
} from '../../src/containers/secrets.ts';
import { loadOrMakeKeys, readAuthority } from '../../src/setup/keys.ts';
import { makeFirstOperator } from '../../src/setup/operators.ts';

let folder: string;
let places: SecretPlaces;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pm-secrets-'));
  places = { installation: join(folder, 'installation'), secrets: join(folder, 'secrets') };
  mkdirSync(places.installation);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const read = (...path: readonly string[]) => readFileSync(join(places.secrets, ...path), 'utf8');

test('passwords of the engines are made once, and every engine and service gets its own', () => {
  writeEngineSecrets(places, 'east');
  const password = read('redis', 'redis.conf').replace('requirepass ', '').trim();
  for (const service of ['setup', 'ingress', 'operator', 'projectors', 'query-api'])
    expect(read(service, 'redis.password').trim()).toBe(password);
  const accounts = ['setup', 'projectors', 'query-api'].map((one) =>
    read(one, 'clickhouse.password'),
  );
  expect(new Set(accounts).size).toBe(accounts.length);
  const users = read('clickhouse', 'exchange.xml');
  for (const account of accounts) expect(users).not.toContain(account.trim());
  expect(users).toContain('<default remove="remove"/>');
  expect(users).toContain('OPTIMIZE ON east.*</query>');
  expect(users).toContain('GRANT SELECT ON east.*</query>');
  writeEngineSecrets(places, 'east');
  expect(read('redis', 'redis.conf')).toContain(password);
});

test('two installations have no password in common', () => {
  writeEngineSecrets(places, 'east');
  const first = read('redis', 'redis.conf');
  rmSync(join(places.installation, 'engine-passwords.json'));
  writeEngineSecrets(places, 'east');
  expect(read('redis', 'redis.conf')).not.toBe(first);
});

test('secrets of a service can be read by its user alone and have no key of another service', () => {
  const keys = loadOrMakeKeys(join(places.installation, 'keys.json'));
  const { rootSeed, openingSeed } = readAuthority(keys, 'this test');
  makeFirstOperator(places.installation, keys);
  writeServiceSecrets(places, keys);
  writeServiceSecrets(places, keys);
  for (const service of readdirSync(places.secrets)) {
    const file = join(places.secrets, service, 'secrets.env');
    expect([service, statSync(file).mode & 0o777]).toEqual([service, 0o400]);
    const text = readFileSync(file, 'utf8');
    const owners: Readonly<Record<string, string>> = {
      [keys.operatorSeed]: 'operator',
      [keys.ownerSeed]: 'matcher',
      [keys.ledgerSeed]: 'projectors',
      [keys.ingressSeed]: 'ingress',
      [keys.operatorToken]: 'demo',
    };
    for (const [secret, owner] of Object.entries(owners))
      expect([service, owner, text.includes(secret)]).toEqual([service, owner, service === owner]);
    for (const secret of [rootSeed, openingSeed])
      expect([service, text.includes(secret)]).toEqual([service, false]);
  }
  expect(read('setup', 'secrets.env')).toBe(`PM_ROOT_KEY=${keys.rootKey}\n`);
});

test('a damaged file of passwords stops set-up before anything is written', () => {
  writeFileSync(join(places.installation, 'engine-passwords.json'), '{');
  expect(() => writeEngineSecrets(places, 'east')).toThrow(SyntaxError);
  expect(() => readdirSync(places.secrets)).toThrow('ENOENT');
});
