import { type Column, type Table, tables, type WorkedQuery, workedQueries } from '@pm/schemas';

const marks = {
  tables: ['<!-- tables:begin (npm run docs) -->', '<!-- tables:end -->'],
  queries: ['<!-- queries:begin (npm run docs) -->', '<!-- queries:end -->'],
} as const;

/** Which events of `executions` the rows of a table come from; tables that are not here say so in their comment. */
const sources: Readonly<Record<string, string>> = {
  fills: '`Fill`',
  wallet_fills: '`Fill`, once for each side',
  wallet_moves: '`PositionMoved`, once for each token',
  tape: '`Fill`, once for each side',
  builder_fills: '`Fill`, once for each side that names a builder',
  resolutions: '`MarketResolved`',
  order_events:
    '`OrderPlaced`, `OrderDelayed`, `OrderRefused`, `OrderCanceled`; `Fill`, once for each side',
  open_orders: '`OrderPlaced` that rests; `Fill` and `OrderCanceled` that end an order',
  wallet_cancels: '`OrderCanceled`',
  book_events: '`LevelChanged`',
  positions: '`Fill`, `PositionMoved`; payouts of `MarketResolved`',
  holders: 'as `positions`',
  midpoints_1m: '`TopChanged`; 0 while a side is empty',
  book_orders: '`OrderPlaced` that rests, `Fill`, `OrderCanceled`',
  market_rules: '`MarketSet`',
  candles_1m: '`Fill`; a mint or merge is a trade of both tokens',
  completeness: 'every record',
};

/** An example by the form of a value; a column with a name of its own stands in front. */
const examplesByName: Readonly<Record<string, string>> = {
  partition: '3',
  in_offset: '48211',
  event_index: '2',
  version: '48211',
  through_offset: '48230',
  next_in_offset: '48230',
  market: '17',
  outcome: '0',
  fee_rate_bps: '441',
  projection: 'tables',
  reason: 'USER',
  midpoint: '0.525000',
  mode: 'OPEN',
};
const examplesByType: readonly (readonly [RegExp, string])[] = [
  [/^FixedString\(42\)$/, '0x…42 characters'],
  [/^FixedString\(66\)$/, '0x…66 characters'],
  [/^FixedString\(36\)$/, '6f1c0b5e-…36 characters'],
  [/^DateTime64/, '2026-06-01 12:00:00.123'],
  [/^DateTime/, '2026-06-01 12:00:00'],
  [/^Decimal\(9, ?4\)$/, '0.5200'],
  [/^Decimal/, '12.340000'],
  [/^U?Int/, '1'],
];

function exampleOf({ name, type }: Column): string {
  const named = examplesByName[name];
  if (named !== undefined) return named;
  const symbol = /^Enum8\('(\w+)'/.exec(type)?.[1];
  return symbol ?? examplesByType.find(([form]) => form.test(type))?.[1] ?? '';
}

function tableText(table: Table): string {
  const rows = table.columns.map((column) => {
    const type = column.type.replaceAll('|', '\\|');
    return `| \`${column.name}\` | \`${type}\` | ${column.comment} | ${exampleOf(column)} |`;
  });
  const source = sources[table.name];
  return [
    `### ${table.name}`,
    '',
    table.comment,
    '',
    `Source: ${source === undefined ? 'see above' : `events ${source}`}. Engine \`${table.engine}\`, ordered by \`${table.orderBy.join(', ')}\`.`,
    '',
    '| column | type | meaning, unit | example |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** Every table and column of the contracts as Markdown. */
export function dictionary(): string {
  return Object.values(tables).map(tableText).join('\n\n');
}

function queryText({ title, about, sql, example }: WorkedQuery): string {
  const given = Object.entries(example).map(([name, value]) => `\`${name}\` = \`${value}\``);
  const params = given.length === 0 ? '' : ` Parameters: ${given.join(', ')}.`;
  return [`### ${title}`, '', `${about}${params}`, '', '```sql', sql, '```'].join('\n');
}

/** The worked queries as Markdown. */
export function queries(): string {
  return workedQueries.map(queryText).join('\n\n');
}

/** The text with what lies between its marks renewed. Throws a `RangeError` when marks are missing. */
export function withDataDictionary(text: string): string {
  return renewed(renewed(text, marks.tables, dictionary()), marks.queries, queries());
}

/** The text with what lies between two marks replaced. Throws a `RangeError` when they are missing. */
export function renewed(
  text: string,
  [begin, end]: readonly [string, string],
  content: string,
): string {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new RangeError(`${begin} and ${end} mark what is generated`);
  return `${text.slice(0, from + begin.length)}\n\n${content}\n\n${text.slice(to)}`;
}
