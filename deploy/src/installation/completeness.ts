import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas/tables/tables';

/** A row of table `completeness`: the tables have all rows of one partition up to here. */
export interface CompletePartition {
  readonly partition: number;
  /** Offset in `executions` of the first record that may be missing. */
  readonly throughOffset: number;
  /** Offset in `orders` of the first record whose results may be missing. */
  readonly nextInOffset: number;
  /** Clock of the partition up to which the tables are complete, Unix milliseconds. */
  readonly throughMs: number;
}

/** The one reader of table `completeness`. Partitions that the projection has not begun are absent. */
export async function readCompleteness(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  database: string,
): Promise<readonly CompletePartition[]> {
  const rows = await clickhouse.selectRows<{
    readonly partition: number;
    readonly through_offset: string;
    readonly next_in_offset: string;
    readonly through_ms: string;
  }>(
    `SELECT partition, through_offset, next_in_offset, toUnixTimestamp64Milli(through) AS through_ms
     FROM \`${database}\`.${tables.completeness.name} FINAL
     WHERE projection = 'tables'
     ORDER BY partition`,
  );
  return rows.map((row) => ({
    partition: row.partition,
    throughOffset: Number(row.through_offset),
    nextInOffset: Number(row.next_in_offset),
    throughMs: Number(row.through_ms),
  }));
}

/** By partition the offset in `executions` of the first record that may be missing in the tables. */
export async function completeOffsets(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  database: string,
): Promise<ReadonlyMap<number, number>> {
  const rows = await readCompleteness(clickhouse, database);
  return new Map(rows.map(({ partition, throughOffset }) => [partition, throughOffset]));
}
