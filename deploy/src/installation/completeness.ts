import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas';

/** How far the tables say that they are complete, in one partition. */
export interface CompletePartition {
  readonly partition: number;
  /** Offset in `executions` of the first record that may be missing. */
  readonly throughOffset: number;
  /** The same in `orders`. */
  readonly nextInOffset: number;
  /** Clock of the partition up to which all is there, Unix milliseconds. */
  readonly throughMs: number;
}

/** Partitions that the projection has not begun are absent. */
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
