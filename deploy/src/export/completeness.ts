import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas';
import { insist } from '../installation/patience.ts';
import type { Day } from './day.ts';
import { ExportError } from './export-error.ts';
import type { Complete } from './manifest.ts';

const sql = `
SELECT partition, toString(through_offset) AS through_offset, toString(next_in_offset) AS next_in_offset,
  toString(toUnixTimestamp64Milli(through)) AS through_ms
FROM ${tables.completeness.name} FINAL
WHERE projection = 'tables'
ORDER BY partition`;

interface Row {
  readonly partition: number;
  readonly through_offset: string;
  readonly next_in_offset: string;
  readonly through_ms: string;
}

/**
 * How far the tables are complete. A day is when the clock of every partition has passed its end in the tables: clocks never run
 * backwards, so no row of the day is still to come. Throws `NOT_COMPLETE` with the partition that is furthest behind.
 */
export async function requireComplete({
  clickhouse,
  partitions,
  day,
}: {
  readonly clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly partitions: readonly number[];
  readonly day: Day;
}): Promise<readonly Complete[]> {
  const rows = await insist(() => clickhouse.selectRows<Row>(sql));
  const throughMs = new Map(rows.map((row) => [row.partition, Number(row.through_ms)]));
  const behind = partitions
    .map((partition) => ({ partition, ms: throughMs.get(partition) ?? 0 }))
    .filter(({ ms }) => ms < day.toMs)
    .sort((one, other) => one.ms - other.ms);
  const [first] = behind;
  if (partitions.length === 0 || first !== undefined) {
    const so =
      first === undefined
        ? 'the exchange has no partitions'
        : `partition ${first.partition} is complete up to ${first.ms === 0 ? 'nothing' : momentOf(first.ms)}${behind.length > 1 ? `, ${behind.length - 1} more are behind` : ''}`;
    throw new ExportError('NOT_COMPLETE', `${day.name} is not complete in the tables: ${so}`);
  }
  return rows.map((row) => ({
    partition: row.partition,
    throughOffset: Number(row.through_offset),
    nextInOffset: Number(row.next_in_offset),
    through: momentOf(Number(row.through_ms)),
  }));
}

function momentOf(ms: number): string {
  return new Date(ms).toISOString();
}
