/** Where a projection stands in one partition of `executions`. */
export interface PartitionProgress {
  readonly partition: number;
  /** Offset of the first record that may be missing. */
  readonly offset: number;
  /** Clock of the partition at the last record that is in, Unix milliseconds; null before the first. */
  readonly momentMs: number | null;
}

/** A projection and its partitions; null while its store does not answer. */
export interface ProjectionProgress {
  readonly projection: string;
  readonly partitions: readonly PartitionProgress[] | null;
}

/** Known progress of all projections, and where the log ends (next offset per partition). */
export interface Progress {
  readonly ends: ReadonlyMap<number, number>;
  readonly projections: readonly ProjectionProgress[];
}

/**
 * The moment through which a projection is complete in every partition, Unix milliseconds: the oldest of theirs.
 * Partitions without records do not count; null when one with records has no moment.
 */
export function completeThroughMs(
  partitions: readonly PartitionProgress[],
  ends: ReadonlyMap<number, number>,
): number | null {
  const known = new Map(partitions.map(({ partition, momentMs }) => [partition, momentMs]));
  let oldest: number | null = null;
  for (const [partition, end] of ends) {
    if (end === 0) continue;
    const moment = known.get(partition) ?? null;
    if (moment === null || moment === 0) return null;
    oldest = Math.min(oldest ?? moment, moment);
  }
  return oldest;
}

/** The body of GET /status (conventions.md 1.5). */
export function wireProgress({ ends, projections }: Progress): object {
  return {
    projections: projections.map(({ projection, partitions }) => ({
      projection,
      known: partitions !== null,
      completeThrough: partitions === null ? null : isoOf(completeThroughMs(partitions, ends)),
      partitions: (partitions ?? []).map(({ partition, offset, momentMs }) => ({
        partition,
        offset,
        moment: isoOf(momentMs),
        lag: Math.max(0, (ends.get(partition) ?? offset) - offset),
      })),
    })),
  };
}

function isoOf(ms: number | null): string | null {
  return ms === null || ms === 0 ? null : new Date(ms).toISOString();
}

/** Marks kept: ten minutes and more of a mark per second. */
const marksMax = 700;

interface Mark {
  readonly knownAtMs: number;
  /** Null from when the tables said that they do not know. */
  readonly throughMs: number | null;
}

/**
 * Through which moment the tables were known to be complete, and since when: so that an answer kept for a while does
 * not say too much.
 */
export class CompletenessMarks {
  readonly #marks: Mark[] = [];

  /** All that happened through `throughMs` is in what is read from `knownAtMs` on. Unix milliseconds. */
  note({ knownAtMs, throughMs }: Mark): void {
    if (this.newest() === throughMs) return;
    this.#marks.push({ knownAtMs, throughMs });
    if (this.#marks.length > marksMax) this.#marks.shift();
  }

  /** The newest mark. */
  newest(): number | null {
    return this.#marks.at(-1)?.throughMs ?? null;
  }

  /** For what was read at `readAtMs`; null when that is not remembered. */
  at(readAtMs: number): number | null {
    return this.#marks.findLast(({ knownAtMs }) => knownAtMs <= readAtMs)?.throughMs ?? null;
  }
}
