import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readNames } from '@pm/deploy/installation/read-addresses';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { Session } from 'chdb';
import { accessText } from '../../src/access/output.ts';

const names = readNames({
  PM_TOPIC_PREFIX: 'east.',
  PM_REDIS_PREFIX: 'east',
  PM_CLICKHOUSE_DATABASE: 'east',
});

test.each(['kafka', 'redis', 'clickhouse'] as const)(
  'the output for %s is the stored one',
  (format) => {
    const file = join(repositoryRoot, 'operate/test/access/golden', `${format}.txt`);
    expect(accessText(format, names)).toBe(readFileSync(file, 'utf8'));
  },
);

test('the prefix of an exchange is in the name of every resource', () => {
  const named = [...accessText('kafka', names).matchAll(/--(?:topic|group) (\S+)/g)];
  expect(named.length).toBeGreaterThan(50);
  for (const [, name] of named) expect(name).toMatch(/^east\./);
  const keys = [...accessText('redis', names).matchAll(/ (?:%R)?~(\S+)/g)];
  expect(keys.length).toBeGreaterThan(20);
  for (const [, key] of keys) expect(key).toMatch(/^east:/);
});

test('an exchange without variables has the names that its services use', () => {
  const unnamed = readNames({});
  expect(accessText('kafka', unnamed)).toContain('--topic dead-letters\n');
  expect(accessText('redis', unnamed)).toContain(' ~pm:book:* ');
  expect(accessText('clickhouse', unnamed)).toContain('DEFAULT DATABASE pm;');
});

test('Redis before 7.0 gets the same accounts without keys that are only read', () => {
  const plain = accessText('redis', names).replaceAll('%R~', '~');
  expect(accessText('redis-6', names)).toBe(plain);
});

test('of two servers of Redis each has the accounts that use it, with its own keys alone', () => {
  const [ledger, cache] = [
    accessText('redis', names, 'ledger'),
    accessText('redis', names, 'cache'),
  ];
  const accounts = (text: string) => [...text.matchAll(/^user (\S+) on/gm)].map(([, name]) => name);
  expect(accounts(ledger)).toEqual(accounts(accessText('redis', names)));
  expect(accounts(cache)).toEqual(['pm-ingress', 'pm-query-api']);
  expect(cache).not.toMatch(/~east:(?:ledger|book)/);
  expect(ledger).not.toMatch(/~east:(?:limits|retr|used|agents)/);
});

test('names with other characters are refused', () => {
  const env = { PM_TOPIC_PREFIX: 'a; rm -rf /' };
  expect(() => readNames(env)).toThrow('invalid_config');
});

test('every statement of ClickHouse is read by its parser', async () => {
  const session = new Session();
  const explain = (statement: string) => session.queryAsync(`EXPLAIN AST ${statement}`);
  try {
    const statements = accessText('clickhouse', names).trim().split(';').slice(0, -1);
    expect(statements).toHaveLength(8);
    for (const statement of statements) await explain(statement);
    await expect(explain('GRANT pm_reader FOR pm_export')).rejects.toThrow();
  } finally {
    session.cleanup();
  }
});
