import { readCompleteness } from '@pm/deploy/installation/completeness';
import type { Installation } from '@pm/deploy/installation/open';
import type { RetriedTables } from '@pm/deploy/installation/retry-budget';
import { piecesOf } from '../audit/read-log.ts';

/** Per partition an offset of `executions`: that of the first record that is not in. */
export type Offsets = ReadonlyMap<number, number>;

/** What a rebuild works on. */
export interface Rebuild {
  readonly installation: Installation;
  readonly tables: RetriedTables;
  /** The database that is served. */
  readonly served: string;
  /** The one that is folded into. */
  readonly rebuilt: string;
  /** Holds a still picture of the served tables while they are compared. */
  readonly still: string;
  /** Whether this run alone works on the tables. */
  isAlone(): boolean;
  /** Throws when this run must leave the tables as they are: it is broken off, or another may have begun. */
  assertMayGoOn(): void;
}

/** How far the tables of a database say that they are complete. */
export async function completeIn(tablesOf: RetriedTables, database: string): Promise<Offsets> {
  const rows = await readCompleteness(tablesOf, database);
  return new Map(rows.map(({ partition, throughOffset }) => [partition, throughOffset]));
}

/** Where the log ends now. */
export async function endsOf({ client, addresses }: Installation): Promise<Offsets> {
  const pieces = await piecesOf({ client, topicPrefix: addresses.topicPrefix });
  return new Map(pieces.map(({ partition, to }) => [partition, to]));
}

/** Records between two places; what one of them is ahead in a partition makes up for nothing. */
export function recordsBetween(from: Offsets, to: Offsets): number {
  let sum = 0;
  for (const [partition, offset] of to) sum += Math.max(0, offset - (from.get(partition) ?? 0));
  return sum;
}

/** Of every partition the larger offset. */
export function farther(one: Offsets, other: Offsets): Offsets {
  const both = new Map(one);
  for (const [partition, offset] of other)
    both.set(partition, Math.max(offset, both.get(partition) ?? 0));
  return both;
}
