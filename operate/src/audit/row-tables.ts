import type { ClickHouse } from '@pm/kit/clickhouse';
import type { Table } from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import type { LogExpectation } from './log-expectation.ts';
import { type Changed, type RowSum, type RowSums, rowSumsSql } from './row-sums.ts';

/** Nothing here writes. */
type Tables = Pick<ClickHouse, 'selectRows'>;

/** Result of the comparison of one table. */
export interface TableResult {
  readonly table: string;
  readonly wrong: readonly string[];
  /** Rows that were judged, counted by the log. */
  readonly rows: number;
  /** Rows that were not, because they changed meanwhile. */
  readonly changed: number;
}

/** Statements on whole tables take long; each is one pass with bounded memory. */
const settings =
  'SETTINGS max_execution_time = 800, max_threads = 2, max_bytes_before_external_group_by = 200000000';

const bound = 'arrayElement({bounds:Array(UInt64)}, partition + 1)';

/**
 * P1 for facts: per partition the rows that the log leads to, equal in count and in every column. Rows after the log
 * that was read are left out.
 */
export async function compareFacts(
  clickhouse: Tables,
  log: LogExpectation,
): Promise<TableResult[]> {
  const { bounds } = log;
  const verdicts: TableResult[] = [];
  for (const owed of log.facts.all) {
    // A partition that the log does not have has no bound.
    const isOurs = `in_offset < ${bound} OR partition >= length({bounds:Array(UInt64)})`;
    const source = `${owed.table.name} FINAL WHERE ${isOurs}`;
    const found = await sumsOf(clickhouse, { table: owed.table, source, bounds });
    verdicts.push({ ...judged(owed, found), changed: 0 });
  }
  return verdicts;
}

/**
 * P1 for rows of buckets of time: per partition the rows that the log leads to, equal in count and in every column. The
 * rows name no partition: theirs is that of the market. A row of an open bucket that was changed after the log that was
 * read is left out.
 */
export async function compareBuckets(
  clickhouse: Tables,
  log: LogExpectation,
): Promise<TableResult[]> {
  const { bounds } = log;
  const verdicts: TableResult[] = [];
  for (const buckets of log.buckets.all) {
    const { table } = buckets.sums;
    const source = `(${withPartition(table, bounds)}) WHERE ${buckets.condition}`;
    const isListed = `bucket <= fromUnixTimestamp(${buckets.lastStartS})`;
    const changed = { isChanged: `version >= ${bound}`, isListed };
    const found = await sumsOf(clickhouse, { table, source, bounds, changed });
    const keys = new Set([...found.values()].flatMap((sum) => sum.changed));
    const left = buckets.end(keys);
    verdicts.push({ ...judged(buckets.sums, found), changed: left });
  }
  return verdicts;
}

interface SumsQuery {
  readonly table: Table;
  /** Rows with the columns of the table and `partition`. */
  readonly source: string;
  readonly bounds: readonly number[];
  readonly changed?: Changed;
}

/** Sums of the rows of a partition, and keys of rows that show more than the log that was read. */
interface FoundRows extends RowSum {
  readonly changed: readonly string[];
}

async function sumsOf(
  clickhouse: Tables,
  { table, source, bounds, changed }: SumsQuery,
): Promise<ReadonlyMap<number, FoundRows>> {
  const rows = await clickhouse.selectRows<{
    readonly partition: number;
    readonly found: string;
    readonly sums: readonly number[];
    readonly changed: readonly string[];
  }>(`${rowSumsSql(table, source, changed)} ${settings}`, { bounds });
  return new Map(rows.map(({ found, ...row }) => [row.partition, { ...row, rows: Number(found) }]));
}

/**
 * Rows of a table with the partition of their market. Rules of a market that was listed after the end of the log may
 * come later than its rows; without rules a row counts for the partition with the smallest bound, and is judged only if
 * it is older than all.
 */
function withPartition({ name, columns }: Table, bounds: readonly number[]): string {
  const named = columns.map((column) => `t.${column.name} AS ${column.name}`);
  const unlisted = Math.max(0, bounds.indexOf(Math.min(...bounds)));
  return `SELECT ${named.join(', ')}, if(p.isListed = 1, p.partition, ${unlisted}) AS partition FROM ${name} AS t FINAL
    LEFT ANY JOIN (SELECT market, any(partition) AS partition, 1 AS isListed FROM ${tables.marketRules.name} GROUP BY market) AS p
    ON t.market = p.market`;
}

function judged(owed: RowSums, found: ReadonlyMap<number, RowSum>): Omit<TableResult, 'changed'> {
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
  // Rows with other keys cannot be compared further.
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
