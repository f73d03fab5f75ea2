import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { valueType } from '@pm/schemas/tables/create-table';
import { leaderboardTables } from '@pm/schemas/tables/leaderboard-tables';
import { rebuildHold } from '@pm/schemas/tables/rebuild-hold';
import { tables } from '@pm/schemas/tables/tables';
import { workedQueries } from '@pm/schemas/tables/worked-queries';
import { dictionary, withDictionary, withQueries } from '../../src/documents/data-dictionary.ts';

test.each([
  ['dictionary.md', withDictionary],
  ['queries.md', withQueries],
])('docs/data/%s shows the contracts (npm run docs)', (name, renewed) => {
  const text = readFileSync(join(repositoryRoot, 'docs/data', name), 'utf8');
  expect(renewed(text)).toBe(text);
});

const every = [...Object.values(tables), ...Object.values(leaderboardTables), rebuildHold];

test('the dictionary explains every column of every table, with a valid example', () => {
  const sections = dictionary().split(/^### /m);
  for (const table of every) {
    const lines = sections.find((text) => text.startsWith(`${table.name}\n`))?.split('\n') ?? [];
    for (const column of table.columns) {
      const { name, comment } = column;
      expect(comment.length).toBeGreaterThan(3);
      const line = lines.find((one) => one.startsWith(`| \`${name}\` |`) && one.includes(comment));
      const example = line?.split('|').at(-2)?.trim() ?? '';
      expect([table.name, name, example]).toEqual([
        table.name,
        name,
        expect.stringMatching(formOf(valueType(column))),
      ]);
    }
  }
});

test('every moment of a worked query is Unix milliseconds', () => {
  const moments = workedQueries.flatMap(({ name, sql, example }) =>
    [...sql.matchAll(/(\w*)\(?\{(from|to|at):(\w+)\}/g)].map(([, read, parameter = '', type]) => [
      ...[name, parameter, read, type],
      Number(Object.entries(example).find(([key]) => key === parameter)?.[1]) > 1e12,
    ]),
  );
  expect(moments.length).toBeGreaterThan(4);
  for (const [name, parameter, ...how] of moments)
    expect([name, parameter, ...how]).toEqual([
      ...[name, parameter, 'fromUnixTimestamp64Milli', 'Int64', true],
    ]);
});

/** Pattern of a value of the type as ClickHouse prints it. */
function formOf(type: string): RegExp {
  const [, scale] = /^Decimal\(\d+, (\d)\)$/.exec(type) ?? [];
  if (scale !== undefined) return new RegExp(`^-?\\d+\\.\\d{${scale}}$`);
  const symbols = [...type.matchAll(/'(\w+)' = /g)].map(([, symbol]) => symbol);
  if (symbols.length > 0) return new RegExp(`^(${symbols.join('|')})$`);
  const form = forms.find(([of]) => of.test(type))?.[1];
  if (form === undefined) throw new Error(`${type} has no form`);
  return form;
}

const forms: readonly (readonly [RegExp, RegExp])[] = [
  [/^FixedString\(42\)$/, /^0x[0-9a-f]{40}$/],
  [/^FixedString\(66\)$/, /^0x[0-9a-f]{64}$/],
  [/^FixedString\(36\)$/, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
  [/^DateTime64\(3/, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/],
  [/^DateTime\(/, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/],
  [/^UInt/, /^\d+$/],
  [/^Int/, /^-?\d+$/],
  [/String/, /^\w+$/],
];
