import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { defaultPorts } from '@pm/deploy/local/ports';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { workedQueries } from '@pm/schemas/tables/worked-queries';
import { engineUrl } from '../../../kit/test/engines.ts';
import { project, RealTables } from '../../../projectors/test/tables/real-tables.ts';
import { TradingLog } from '../../../projectors/test/trading-log.ts';

/** The commands of queries.md, as they are there but for address and database. */
const name = `asking_${process.pid}`;
const page = readFileSync(join(repositoryRoot, 'docs/data/queries.md'), 'utf8');
const section = page.slice(page.indexOf('## Asking'), page.indexOf('<!-- queries:begin'));
const real = new RealTables(name);
let clickhouse: ClickHouse;

beforeAll(async () => {
  clickhouse = await real.fresh();
  await project(clickhouse, new TradingLog(9).records(200));
}, 120_000);

afterAll(() => real.close(), 30_000);

/** The address in the function `ask` of the section, before its argument. */
const [, asked = ''] = /"(http:\S+)\$1" --data-binary @-/.exec(section) ?? [];

/** Address and body of every call of it. */
const commands = [
  ...section.matchAll(/ {4}ask (?:'(\S+)' )?<<(?:< '(.+)'|'SQL'\n([\s\S]+?)\n {4}SQL)/g),
].map(([, more = '', short, long]) => ({ address: `${asked}${more}`, sql: short ?? long ?? '' }));

async function ask({ address, sql }: (typeof commands)[number]): Promise<string> {
  const url = address
    .replace(`http://127.0.0.1:${defaultPorts.clickhouse}`, engineUrl('CLICKHOUSE'))
    .replace('database=pm', `database=${name}_0`)
    .replace('param_market=602', 'param_market=1');
  const response = await fetch(url, { method: 'POST', body: sql });
  expect([sql, response.status]).toEqual([sql, 200]);
  return await response.text();
}

test('the commands succeed as they are printed', async () => {
  expect(commands).toHaveLength(3);
  const [count = '', hours = ''] = await Promise.all(commands.map(ask));
  expect(Number(count)).toBeGreaterThan(50);
  expect(hours).toContain('trades');
});

test('their results give rows in every worked query that needs them', async () => {
  const [, , pick] = commands;
  const text = pick === undefined ? '' : await ask(pick);
  const found = Object.fromEntries(
    [...text.matchAll(/^(\w+): +(\S+)/gm)].map(([, k, v]) => [k, v]),
  );
  expect(Object.keys(found).sort()).toEqual(['at', 'from', 'market', 'offset', 'to', 'wallet']);
  for (const { title, sql, example } of workedQueries) {
    const named = Object.keys(example).filter((parameter) => parameter in found);
    const params = {
      ...example,
      ...Object.fromEntries(named.map((one) => [one, found[one] ?? ''])),
    };
    const rows = named.length === 0 ? [{}] : await clickhouse.selectRows(sql, params);
    expect([title, rows.length > 0]).toEqual([title, true]);
  }
});
