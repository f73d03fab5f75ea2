import {
  type Grant,
  judgeDeduplication,
  judgeEngines,
  judgeOwnRights,
  judgeRole,
  judgeServers,
  judgeTables,
  judgeVersion,
} from '../../src/preflight/clickhouse-judges.ts';
import { judgeClock } from '../../src/preflight/clock.ts';
import { judgeIds, judgeLevels } from '../../src/preflight/registry-needs.ts';
import type { ClickHouseRole } from '../../src/roles/roles.ts';

test('a ClickHouse fits whose settings of tables are known', () => {
  expect(judgeVersion({ version: '26.7.1', unknownSettings: [] }).verdict).toBe('yes');
  expect(judgeVersion({ version: '24.3', unknownSettings: ['merge_selector_base'] })).toMatchObject(
    {
      verdict: 'no',
      line: '24.3 does not know merge_selector_base',
    },
  );
});

test('one server fits, and several behind an address do not', () => {
  expect(judgeServers(new Set(['a'])).verdict).toBe('yes');
  expect(judgeServers(new Set(['a', 'b'])).verdict).toBe('no');
});

test.each([
  [{ database: null, isCloud: false }, 'yes'],
  [{ database: 'Atomic', isCloud: false }, 'yes'],
  [{ database: 'Replicated', isCloud: false }, 'no'],
  [{ database: 'Atomic', isCloud: true }, 'no'],
])('a database of %j', (found, verdict) => {
  expect(judgeEngines(found).verdict).toBe(verdict);
});

test('tables of another version, inserts that count twice and lacking rights do not fit', () => {
  expect([judgeTables([]), judgeTables(['fills'])].map(({ verdict }) => verdict)).toEqual([
    'yes',
    'no',
  ]);
  const values = ['1', '0', null].map((value) => judgeDeduplication(value).verdict);
  expect(values).toEqual(['yes', 'no', 'unknown']);
  expect(judgeOwnRights([]).verdict).toBe('yes');
  expect(judgeOwnRights(['DROP TABLE']).line).toContain('DROP TABLE');
});

const role: ClickHouseRole = {
  name: 'pm_writer',
  comment: '',
  rights: [
    { privileges: ['SELECT', 'INSERT'], database: 'exchange', tables: ['fills'] },
    { privileges: ['SELECT'], database: 'system', tables: ['parts'] },
  ],
  settings: {},
  quota: null,
};
const system: Grant = { privilege: 'SELECT', database: 'system', table: 'parts' };
const grant = (
  privilege: string,
  table: string | null = 'fills',
  database: string | null = 'pm',
) => ({
  privilege,
  database,
  table,
});

test.each([
  ['is missing', null, 'unknown'],
  ['has each grant', [grant('SELECT'), grant('INSERT'), system], 'yes'],
  ['has grants on the database', [grant('SELECT', null), grant('INSERT', null), system], 'yes'],
  ['has everything', [grant('ALL', null, null)], 'yes'],
  ['lacks a privilege', [grant('SELECT'), system], 'no'],
  [
    'has grants on another database',
    [grant('SELECT'), grant('INSERT', 'fills', 'x'), system],
    'no',
  ],
])('a role that %s', (_, grants, verdict) => {
  expect(judgeRole({ role, database: 'pm', grants }).verdict).toBe(verdict);
});

test('a clock fits that may be less than a second away', () => {
  const verdicts = [
    { aheadMs: 990, errorMs: 0 },
    { aheadMs: -1_200, errorMs: 300 },
    { aheadMs: -1_200, errorMs: 100 },
  ].map((reading) => judgeClock(reading).verdict);
  expect(verdicts).toEqual(['yes', 'yes', 'no']);
  expect(judgeClock({ aheadMs: -1_200, errorMs: 0 }).line).toBe('1200 ms behind this machine');
});

test.each([
  [{ way: 'archive' as const, found: 'Apicurio 3.0' }, 'yes'],
  [{ way: 'mode' as const, found: 'READWRITE' }, 'yes'],
  [{ way: 'mode' as const, found: 'READONLY' }, 'no'],
  [null, 'unknown'],
])('a registry that says %j of ids', (found, verdict) => {
  expect(judgeIds(found).verdict).toBe(verdict);
});

test('a subject with a level of its own does not fit', () => {
  expect(judgeLevels([['a', null]]).verdict).toBe('yes');
  expect(
    judgeLevels([
      ['a', null],
      ['b', 'NONE'],
    ]),
  ).toMatchObject({ verdict: 'no', line: 'b is NONE' });
});
