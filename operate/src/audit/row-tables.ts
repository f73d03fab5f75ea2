import type { ClickHouse } from '@pm/kit/clickhouse';
import { type Table, tables } from '@pm/schemas';
import type { Buckets } from './bucket-rows.ts';
import type { LogSays } from './log-says.ts';
import { keyColumns, type RowSum, type RowSums, rowSumsSql } from './row-sums.ts';
import { wordSql } from './words.ts';

/** Nothing here writes. */
type Tables = Pick<ClickHouse, 'selectRows'>;

/** What was found of the rows of one table. */
export interface TableVerdict {
  readonly table: string;
  readonly wrong: readonly string[];
  /** Rows that were judged, in the log's words. */
  readonly rows: number;
  /** Rows that were not, because they moved. */
  readonly moved: number;
}

/** Statements on whole tables may take so long; each is one pass with bounded memory. */
const settings =
  'SETTINGS max_execution_time = 800, max_threads = 2, max_bytes_before_external_group_by = 200000000';

const bound = 'arrayElement({bounds:Array(UInt64)}, partition + 1)';

/**
 * P1 for facts: per partition as many rows as the log leads to, and in every column the same. What lies behind the log that was read
 * is left out.
 */
export async function compareFacts(clickhouse: Tables, log: LogSays): Promise<TableVerdict[]> {
  const { bounds } = log;
  const verdicts: TableVerdict[] = [];
  for (const owed of log.facts.all) {
    // A partition that the log does not have has no bound.
    const isOurs = `in_offset < ${bound} OR partition >= length({bounds:Array(UInt64)})`;
    const source = `${owed.table.name} FINAL WHERE ${isOurs}`;
    const found = await sumsOf(clickhouse, { table: owed.table, source, bounds });
    verdicts.push({ ...judged(owed, found), moved: 0 });
  }
  return verdicts;
}

/**
 * The same for rows of buckets of time, which name no partition: theirs is that of the market. A row of the bucket under way that was
 * changed behind the log that was read is left out.
 */
export async function compareBuckets(clickhouse: Tables, log: LogSays): Promise<TableVerdict[]> {
  const { bounds } = log;
  const verdicts: TableVerdict[] = [];
  for (const buckets of log.buckets.all) {
    const { table } = buckets.sums;
    const changed = await changedSince(clickhouse, buckets, bounds);
    const source = `(${withPartition(table)}) WHERE version < ${bound} AND ${buckets.condition}`;
    const found = await sumsOf(clickhouse, { table, source, bounds });
    const moved = buckets.end(changed);
    verdicts.push({ ...judged(buckets.sums, found), moved });
  }
  return verdicts;
}

interface Asked {
  readonly table: Table;
  /** Rows with the columns of the table and `partition`. */
  readonly source: string;
  readonly bounds: readonly number[];
}

async function sumsOf(
  clickhouse: Tables,
  { table, source, bounds }: Asked,
): Promise<ReadonlyMap<number, RowSum>> {
  const rows = await clickhouse.selectRows<{
    readonly partition: number;
    readonly found: string;
    readonly sums: readonly number[];
  }>(`${rowSumsSql(table, source)} ${settings}`, { bounds });
  return new Map(
    rows.map(({ partition, found, sums }) => [partition, { rows: Number(found), sums }]),
  );
}

/** Keys of rows of the last buckets that show more than the log that was read. */
async function changedSince(
  clickhouse: Tables,
  { sums, lastStartS, condition }: Buckets,
  bounds: readonly number[],
): Promise<ReadonlySet<string>> {
  const { table } = sums;
  const key = keyColumns(table).flatMap((index) => table.columns[index] ?? []);
  const rows = await clickhouse.selectRows<{ readonly key: string }>(
    `SELECT arrayStringConcat([${key.map((column) => `toString(${wordSql(column)})`).join(', ')}], ' ') AS key
     FROM (${withPartition(table)})
     WHERE version >= ${bound} AND bucket <= fromUnixTimestamp({last:UInt32}) AND ${condition} ${settings}`,
    { bounds, last: lastStartS },
  );
  return new Set(rows.map((row) => row.key));
}

function withPartition({ name, columns }: Table): string {
  const named = columns.map((column) => `t.${column.name} AS ${column.name}`);
  return `SELECT ${named.join(', ')}, p.partition AS partition FROM ${name} AS t FINAL
    LEFT ANY JOIN (SELECT market, any(partition) AS partition FROM ${tables.marketRules.name} GROUP BY market) AS p
    ON t.market = p.market`;
}

function judged(owed: RowSums, found: ReadonlyMap<number, RowSum>): Omit<TableVerdict, 'moved'> {
  const partitions = [...new Set([...owed.partitions, ...found.keys()])].sort((a, b) => a - b);
  const wrong = partitions.flatMap((partition) => {
    const due = owed.of(partition);
    const problem = differenceOf(owed.table, due, found.get(partition) ?? { rows: 0, sums: [] });
    return problem === null ? [] : [`P1 ${owed.table.name}, partition ${partition}: ${problem}`];
  });
  const rows = partitions.reduce((sum, partition) => sum + owed.of(partition).rows, 0);
  return { table: owed.table.name, wrong, rows };
}

function differenceOf({ columns, orderBy }: Table, due: RowSum, found: RowSum): string | null {
  if (due.rows !== found.rows) return `${found.rows} rows instead of ${due.rows}`;
  const names = columns.map(({ name }) => name).filter((_, i) => due.sums[i] !== found.sums[i]);
  if (due.rows === 0 || names.length === 0) return null;
  // Of rows with other keys nothing else can be said.
  const isOther = names.some((name) => orderBy.includes(name));
  return isOther ? 'other rows than the log leads to' : `other values in ${names.join(', ')}`;
}

/** Closings of months are the last ones of their hours. */
export async function compareMonths(clickhouse: Tables): Promise<string[]> {
  const rows = await clickhouse.selectRows<{ readonly market: number; readonly off: string }>(
    `SELECT market, count() AS off FROM (
       SELECT market, countIf(span = 'month') AS closings, argMaxIf((size, version), version, span = 'hour') AS last,
         anyIf((size, version), span = 'month') AS closing
       FROM ${tables.bookClosings.name} FINAL
       GROUP BY market, side, price, toStartOfMonth(bucket)
       HAVING closings != 1 OR last != closing
     ) GROUP BY market ORDER BY market LIMIT 20 ${settings}`,
  );
  return rows.map(({ market, off }) => `P1 book_closings: ${off} months of market ${market}`);
}
