import type { ClickHouse } from '@pm/kit/clickhouse';
import { readCompleteness } from '../installation/completeness.ts';
import { insist } from '../installation/patience.ts';
import type { Day } from './day.ts';
import { ExportError } from './export-error.ts';
import type { Complete } from './manifest.ts';

/**
 * How far the tables are complete. A day is when the clock of every partition has passed its end in the tables: clocks never run
 * backwards, so no row of the day is still to come. Throws `NOT_COMPLETE` with the partition that is furthest behind.
 */
export async function requireComplete({
  clickhouse,
  database,
  partitions,
  day,
}: {
  readonly clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly database: string;
  readonly partitions: readonly number[];
  readonly day: Day;
}): Promise<readonly Complete[]> {
  const rows = await insist(() => readCompleteness(clickhouse, database));
  const throughMs = new Map(rows.map((row) => [row.partition, row.throughMs]));
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
  return rows.map(({ throughMs: ms, ...row }) => ({ ...row, through: momentOf(ms) }));
}

function momentOf(ms: number): string {
  return new Date(ms).toISOString();
}
