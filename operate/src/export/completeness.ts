import { readCompleteness } from '@pm/deploy/installation/completeness';
import { insist } from '@pm/deploy/installation/retry-budget';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas/tables/tables';
import type { Day } from './day.ts';
import { ExportError } from './export-error.ts';
import type { Complete } from './manifest.ts';

const minuteMs = 60_000;

interface PartQuery {
  readonly clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly database: string;
  readonly partitions: readonly number[];
  readonly day: Day;
}

/** The part of a day that may be written. */
export interface CompletePart {
  /** The day, or its first part: up to the last whole minute that all partitions have passed in the tables. */
  readonly day: Day;
  readonly completeness: readonly Complete[];
}

/**
 * Requires that a day is complete: the clock of every partition has passed its end in the tables. Clocks never run
 * backwards, so no row of the day is still to come. Throws `NOT_COMPLETE` with the slowest partition.
 */
export async function requireComplete(asked: PartQuery): Promise<CompletePart> {
  const { day } = asked;
  const { completeness, slowest } = await progressOf(asked);
  if (slowest.ms >= day.toMs) return { day, completeness };
  const hint = 'wait for the projectors, or write the complete part with --partial';
  throw notComplete(day, slowest, `; ${hint}`);
}

/** The complete part of a day. Throws `BAD_ARGUMENT` when that is the whole day, `NOT_COMPLETE` when it is empty. */
export async function completePart(asked: PartQuery): Promise<CompletePart> {
  const { day } = asked;
  const { completeness, slowest } = await progressOf(asked);
  if (slowest.ms >= day.toMs)
    throw new ExportError('BAD_ARGUMENT', `${day.name} is complete: write it without --partial`);
  const toMs = slowest.ms - (slowest.ms % minuteMs);
  if (toMs <= day.fromMs) throw notComplete(day, slowest, '');
  return { day: { ...day, toMs }, completeness };
}

interface Slowest {
  readonly partition: number;
  /** Time up to which it is complete, Unix milliseconds. */
  readonly ms: number;
}

async function progressOf({ clickhouse, database, partitions, day }: PartQuery) {
  const rows = await insist(() => readCompleteness(clickhouse, database));
  const throughMs = new Map(rows.map((row) => [row.partition, row.throughMs]));
  const [slowest] = partitions
    .map((partition): Slowest => ({ partition, ms: throughMs.get(partition) ?? 0 }))
    .sort((one, other) => one.ms - other.ms);
  if (slowest === undefined)
    throw new ExportError('NOT_COMPLETE', `${day.name}: the exchange has no partitions`);
  const completeness = rows.map(({ throughMs: ms, ...row }) => ({ ...row, through: momentOf(ms) }));
  return { slowest, completeness };
}

function notComplete(day: Day, { partition, ms }: Slowest, hint: string): ExportError {
  const upTo = ms === 0 ? 'nothing' : momentOf(ms);
  const so = `partition ${partition} is complete up to ${upTo}`;
  return new ExportError('NOT_COMPLETE', `${day.name} is not complete in the tables: ${so}${hint}`);
}

/** Time of the first listing of a market, Unix milliseconds: no fact is older. Null while there is none. */
export async function firstMoment(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
): Promise<number | null> {
  const [row] = await insist(() =>
    clickhouse.selectRows<{ readonly first: string; readonly found: string }>(
      `SELECT toUnixTimestamp64Milli(min(time)) AS first, count() AS found FROM ${tables.marketRules.name}`,
    ),
  );
  return row === undefined || row.found === '0' ? null : Number(row.first);
}

function momentOf(ms: number): string {
  return new Date(ms).toISOString();
}
