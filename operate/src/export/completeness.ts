import { readCompleteness } from '@pm/deploy/installation/completeness';
import { insist } from '@pm/deploy/installation/retry-budget';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas';
import type { Day } from './day.ts';
import { ExportError } from './export-error.ts';
import type { Complete } from './manifest.ts';

const minuteMs = 60_000;

interface Asked {
  readonly clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly database: string;
  readonly partitions: readonly number[];
  readonly day: Day;
}

/** What may be written of a day. */
export interface CompletePart {
  /** The day, or its first part: up to the last whole minute that all partitions have passed in the tables. */
  readonly day: Day;
  readonly completeness: readonly Complete[];
}

/**
 * How far the tables are complete. A day is when the clock of every partition has passed its end in the tables: clocks never run
 * backwards, so no row of the day is still to come. Throws `NOT_COMPLETE` with the partition that is furthest behind.
 */
export async function requireComplete(asked: Asked): Promise<CompletePart> {
  const { day } = asked;
  const { completeness, slowest } = await standingOf(asked);
  if (slowest.ms >= day.toMs) return { day, completeness };
  const hint = 'wait for the projectors, or write with --partial what is complete of it';
  throw notComplete(day, slowest, `; ${hint}`);
}

/** The same of the part of a day that is complete. Throws `BAD_ARGUMENT` when that is all of it, `NOT_COMPLETE` when nothing is. */
export async function completePart(asked: Asked): Promise<CompletePart> {
  const { day } = asked;
  const { completeness, slowest } = await standingOf(asked);
  if (slowest.ms >= day.toMs)
    throw new ExportError('BAD_ARGUMENT', `${day.name} is complete: write it without --partial`);
  const toMs = slowest.ms - (slowest.ms % minuteMs);
  if (toMs <= day.fromMs) throw notComplete(day, slowest, '');
  return { day: { ...day, toMs }, completeness };
}

interface Slowest {
  readonly partition: number;
  /** Up to where it is complete, Unix milliseconds. */
  readonly ms: number;
}

async function standingOf({ clickhouse, database, partitions, day }: Asked) {
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

/** When the first market was listed, Unix milliseconds: nothing is older. Null while none is. */
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
