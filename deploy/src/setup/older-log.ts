import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '@pm/kit/clickhouse';
import type { LogAdmin } from '@pm/kit/kafka';
import { tables } from '@pm/schemas/tables/tables';
import { completeOffsets } from '../installation/completeness.ts';
import { StackError } from '../local/stack-error.ts';

/** Where the log and what was folded from it are. */
export interface LogAndTables {
  readonly admin: Pick<LogAdmin, 'hasTopic' | 'bounds'>;
  /** `executions` on the broker. */
  readonly topic: string;
  readonly clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly database: string;
}

/** A broker that has just started names an end that is too small until its followers have asked it, milliseconds. */
const settledMs = 10_000;
const askedAgainMs = 500;

/**
 * Throws a `StackError` when the log ends before what the tables were folded from: its disks were lost or an older copy
 * of them was brought back, and new records would take the places of those that are gone. Changes nothing.
 */
export async function refuseOlderLog(
  place: LogAndTables,
  maxMs: number = settledMs,
): Promise<void> {
  const folded = await foldedTo(place);
  if (folded.size === 0) return;
  const untilMs = performance.now() + maxMs;
  for (;;) {
    const ends = await endsOf(place);
    const behind = [...folded].find(([partition, offset]) => offset > (ends.get(partition) ?? 0));
    if (behind === undefined) return;
    if (performance.now() >= untilMs) throw refusal(place, behind, ends);
    await sleep(askedAgainMs);
  }
}

function refusal(
  { topic, database }: LogAndTables,
  [partition, offset]: readonly [number, number],
  ends: ReadonlyMap<number, number>,
): StackError {
  const end = ends.get(partition) ?? 0;
  return new StackError(
    'BAD_DESCRIPTION',
    `the log is older than the tables: partition ${partition} of ${topic} ends at ${end}, and the database ${database} was ` +
      `folded from it up to ${offset}. Bring back the disks of the brokers, or if the newest copy is what there is, begin ` +
      'from it (docs/operating/recovery.md, "An older log"). Nothing was changed.',
  );
}

/** Per partition the offset that its tables are complete up to; none without tables. */
async function foldedTo({
  clickhouse,
  database,
}: LogAndTables): Promise<ReadonlyMap<number, number>> {
  const { name } = tables.completeness;
  const found = await clickhouse.selectRows<{ readonly name: string }>(
    'SELECT name FROM system.tables WHERE database = {database:String} AND name = {name:String}',
    { database, name },
  );
  if (found.length === 0) return new Map();
  return await completeOffsets(clickhouse, database);
}

async function endsOf({ admin, topic }: LogAndTables): Promise<ReadonlyMap<number, number>> {
  if (!(await admin.hasTopic(topic))) return new Map();
  const bounds = await admin.bounds(topic);
  return new Map([...bounds].map(([partition, { high }]) => [partition, high]));
}
