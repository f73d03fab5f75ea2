import { Fault } from '@pm/kit/fault';

/** What is known of one partition from its executions. */
export interface PartitionHearing {
  /** Input offset of the newest execution; -1 before the first. */
  readonly inOffset: number;
  /** Clock of the partition, Unix milliseconds; 0 before the first. */
  readonly clockMs: number;
  /** When it was last heard, on this process's monotonic clock; null before the first. */
  readonly heardAtMs: number | null;
}

/** A partition is ready while its owner's ticks, two a second, are heard (architecture.md). */
export const silenceMaxMs = 2_000;

const unheard: PartitionHearing = { inOffset: -1, clockMs: 0, heardAtMs: null };

/** Keeps the newest of each partition and the rule that input offsets follow each other without a gap. */
export class PartitionHearings {
  readonly count: number;
  readonly #now: () => number;
  readonly #hearings: PartitionHearing[];

  constructor(count: number, monotonicMs: () => number) {
    this.count = count;
    this.#now = monotonicMs;
    this.#hearings = Array.from({ length: count }, () => unheard);
  }

  at(partition: number): PartitionHearing {
    return this.#hearings[partition] ?? unheard;
  }

  isReady(partition: number): boolean {
    const { heardAtMs } = this.at(partition);
    return heardAtMs !== null && this.#now() - heardAtMs <= silenceMaxMs;
  }

  /**
   * Takes an execution in. False when it was heard before: owners that overlap repeat themselves byte by byte. Throws the
   * `Fault` `execution_gap` (stop) when one is missing (architecture.md).
   */
  hear(partition: number, inOffset: number, clockMs: number): boolean {
    const before = this.at(partition);
    const isFirst = before.heardAtMs === null;
    this.#hearings[partition] = {
      inOffset: Math.max(before.inOffset, inOffset),
      clockMs: Math.max(before.clockMs, clockMs),
      heardAtMs: this.#now(),
    };
    if (isFirst) return true;
    if (inOffset > before.inOffset + 1) {
      const facts = { partition, expected: before.inOffset + 1, found: inOffset };
      throw new Fault('execution_gap', 'stop', { facts });
    }
    return inOffset > before.inOffset;
  }
}
