import type { Table } from '@pm/schemas/tables/create-table';
import { leaderboardTables } from '@pm/schemas/tables/leaderboard-tables';
import { rebuildHold } from '@pm/schemas/tables/rebuild-hold';
import { tables } from '@pm/schemas/tables/tables';
import { type WorkedQuery, workedQueries } from '@pm/schemas/tables/worked-queries';
import { exampleOf } from './column-examples.ts';

const marks = {
  tables: ['<!-- tables:begin (npm run docs) -->', '<!-- tables:end -->'],
  queries: ['<!-- queries:begin (npm run docs) -->', '<!-- queries:end -->'],
} as const;

/** Which events of `executions` the rows of a table come from. */
const sources: Readonly<Record<keyof typeof tables, string>> = {
  fills: '`Fill`',
  walletFills: '`Fill`, once for each side',
  walletMoves: '`PositionMoved`, once for each token',
  tape: '`Fill`, once for each side',
  builderFills: '`Fill`, once for each side that names a builder',
  resolutions: '`MarketResolved`',
  orderEvents:
    '`OrderPlaced`, `OrderDelayed`, `OrderRefused`, `OrderCanceled`; `Fill`, once for each side',
  openOrders: '`OrderPlaced` that rests; `Fill` and `OrderCanceled` that end an order',
  walletCancels: '`OrderCanceled`',
  bookEvents: '`LevelChanged`',
  positions: '`Fill`, `PositionMoved`; payouts of `MarketResolved`',
  holders: 'as `positions`',
  midpoints: '`TopChanged`; NULL while a side is empty',
  candles: '`Fill`; a mint or merge is a trade of both tokens',
  completeness: 'every record',
  bookClosings: '`LevelChanged`, the last of a level in each hour and month',
  bookOrders: '`OrderPlaced` that rests, `Fill`, `OrderCanceled`',
  marketRules: '`MarketSet`',
};

/** Sources of the tables of leaderboards; no role of people reads them. */
const computed: Readonly<Record<keyof typeof leaderboardTables, string>> = {
  categories: 'the catalog',
  prices: '`midpoints_1m`, `candles_1m`, `resolutions`, for the markets of `holders`',
  sums: '`positions`, at the prices of `leaderboard_prices`',
  wallets: '`leaderboard_sums`; `wallet_fills` and `wallet_moves` of the periods',
  tops: '`leaderboard_wallets`',
  runs: 'a computation that has come to its end',
};

function tableText(table: Table, source: string): string {
  const rows = table.columns.map((column) => {
    const type = column.type.replaceAll('|', '\\|');
    return `| \`${column.name}\` | \`${type}\` | ${column.comment} | ${exampleOf(table, column)} |`;
  });
  return [
    `### ${table.name}`,
    '',
    wrapped(table.comment),
    '',
    wrapped(
      `Source: ${source}. Engine \`${table.engine}\`, ordered by \`${table.orderBy.join(', ')}\`.`,
    ),
    '',
    '| column | type | meaning, unit | example |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** Every table and column of the contracts as Markdown. */
export function dictionary(): string {
  const folded = names(tables).map((name) => tableText(tables[name], `events ${sources[name]}`));
  const made = names(leaderboardTables).map((name) =>
    tableText(leaderboardTables[name], `computed from ${computed[name]}`),
  );
  const hold = tableText(rebuildHold, '`npm run rebuild`; there only while it runs');
  return [...folded, ...made, hold].join('\n\n');
}

function names<Name extends string>(named: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(named) as Name[];
}

/** Parameters without a value that fits every installation; queries.md says how to pick one. */
const picked = ['market', 'wallet', 'from', 'to', 'at', 'offset'];

function queryText({ title, about, sql, example }: WorkedQuery): string {
  const given = Object.entries(example).map(([name, value]) =>
    picked.includes(name) ? `\`${name}\`` : `\`${name}\` = \`${value}\``,
  );
  const params = given.length === 0 ? '' : ` Parameters: ${given.join(', ')}.`;
  return [`### ${title}`, '', wrapped(`${about}${params}`), '', '```sql', sql, '```'].join('\n');
}

/** Lines of documents end at 120 columns; a code span may be broken. */
function wrapped(text: string): string {
  return text.replace(/(?=\S)(.{1,118})(?:\s+|$)/g, '$1\n').trimEnd();
}

/** The worked queries as Markdown. */
function queries(): string {
  return workedQueries.map(queryText).join('\n\n');
}

/** The page with its tables renewed. Throws a `RangeError` when marks are missing. */
export function withDictionary(text: string): string {
  return renewed(text, marks.tables, dictionary());
}

/** The page with its worked queries renewed. Throws a `RangeError` when marks are missing. */
export function withQueries(text: string): string {
  return renewed(text, marks.queries, queries());
}

/** The text with the part between two marks replaced. Throws a `RangeError` when they are missing. */
export function renewed(
  text: string,
  [begin, end]: readonly [string, string],
  content: string,
): string {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new RangeError(`${begin} and ${end} mark what is generated`);
  return `${text.slice(0, from + begin.length)}\n\n${content}\n\n${text.slice(to)}`;
}
