import type { Installation } from '@pm/deploy/installation/open';
import type { RetriedTables } from '@pm/deploy/installation/retry-budget';
import { piecesOf } from '../audit/read-log.ts';

/** Per partition an offset of `executions`: that of the first record that is not in. */
export type Offsets = ReadonlyMap<number, number>;

/** Context of a rebuild. */
export interface Rebuild {
  readonly installation: Installation;
  readonly tables: RetriedTables;
  /** Name of the served database. */
  readonly served: string;
  /** Name of the database that the log is folded into. */
  readonly rebuilt: string;
  /** Name of the database with a snapshot of the served tables, while they are compared. */
  readonly snapshot: string;
  /** Whether this run alone works on the tables. */
  isAlone(): boolean;
  /** Throws when this run must leave the tables as they are: it is broken off, or another may have begun. */
  assertMayGoOn(): void;
}

/** The present end of the log. */
export async function endsOf({ client, addresses }: Installation): Promise<Offsets> {
  const pieces = await piecesOf({ client, topicPrefix: addresses.topicPrefix });
  return new Map(pieces.map(({ partition, to }) => [partition, to]));
}

/** Records between two positions; a partition in which `from` is ahead counts 0. */
export function recordsBetween(from: Offsets, to: Offsets): number {
  let sum = 0;
  for (const [partition, offset] of to) sum += Math.max(0, offset - (from.get(partition) ?? 0));
  return sum;
}

/** The larger of two offsets of every partition. */
export function farther(one: Offsets, other: Offsets): Offsets {
  const both = new Map(one);
  for (const [partition, offset] of other)
    both.set(partition, Math.max(offset, both.get(partition) ?? 0));
  return both;
}
