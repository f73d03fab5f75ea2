import { Fault } from '@pm/kit/fault';
import { clockLeapMaxMs } from '@pm/schemas/log/log-rules';
import type { NewestInput } from '../executions/input-sequence.ts';
import { silenceMaxMs } from '../executions/owner-silence.ts';

/** The progress of one partition, from its executions. */
export interface PartitionProgress {
  /** Input offset of the newest execution; -1 before the first, and before anything is known. */
  readonly inOffset: number;
  /** Clock of the partition, Unix milliseconds; 0 before the first. */
  readonly clockMs: number;
  /** When its last execution was read, on this process's monotonic clock; null before the first that was followed. */
  readonly seenAtMs: number | null;
}

const unseen: PartitionProgress = { inOffset: -1, clockMs: 0, seenAtMs: null };

/** The clocks of this machine, in milliseconds: Unix time, and one that never runs backwards. */
interface Clocks {
  nowMs(): number;
  monotonicMs(): number;
}

/** From when a partition was added until markets may be placed there, ms: every process follows it by then. */
const settledAfterMs = 30_000;

/**
 * The partitions that are opened and followed. Keeps the progress of each and the rule that input offsets follow each
 * other without a gap.
 */
export class PartitionLiveness {
  readonly #clock: Clocks;
  /** When each was added, on the monotonic clock; those that were settled at the start have always been there. */
  readonly #addedAtMs: Map<number, number>;
  readonly #progress = new Map<number, PartitionProgress>();

  /**
   * `opened`: the partitions at the start of the process; `additions`: when some of them were added to others, Unix
   * milliseconds.
   */
  constructor(opened: Iterable<number>, clock: Clocks, additions?: ReadonlyMap<number, number>) {
    this.#clock = clock;
    const since = (partition: number) => this.#startOf(additions?.get(partition));
    this.#addedAtMs = new Map([...opened].map((one) => [one, since(one)]));
  }

  /** A clock elsewhere that is ahead makes no partition younger than new. */
  #startOf(addedAtMs = Number.NEGATIVE_INFINITY): number {
    const ageMs = Math.max(0, this.#clock.nowMs() - addedAtMs);
    if (ageMs >= settledAfterMs) return Number.NEGATIVE_INFINITY;
    return this.#clock.monotonicMs() - ageMs;
  }

  /** Their numbers, which may leave some out. */
  get numbers(): readonly number[] {
    return [...this.#addedAtMs.keys()];
  }

  /**
   * Partitions where markets may be placed: a partition that was opened later must first be heard, and be known
   * everywhere.
   */
  get placeable(): readonly number[] {
    const sinceMs = this.#clock.monotonicMs() - settledAfterMs;
    return [...this.#addedAtMs].flatMap(([partition, addedAtMs]) => {
      const isSettled = addedAtMs <= sinceMs && this.isReady(partition);
      return isSettled || addedAtMs === Number.NEGATIVE_INFINITY ? [partition] : [];
    });
  }

  has(partition: number): boolean {
    return this.#addedAtMs.has(partition);
  }

  /** Another one that was opened, and is followed from now on. */
  add(partition: number): void {
    if (!this.has(partition)) this.#addedAtMs.set(partition, this.#clock.monotonicMs());
  }

  at(partition: number): PartitionProgress {
    return this.#progress.get(partition) ?? unseen;
  }

  /** Whether orders can be booked: its owner is heard, and its clock is not as far back as before a witness. */
  isReady(partition: number): boolean {
    const { seenAtMs, clockMs } = this.at(partition);
    if (seenAtMs === null || this.#clock.monotonicMs() - seenAtMs > silenceMaxMs) return false;
    return this.#clock.nowMs() - clockMs <= clockLeapMaxMs;
  }

  /**
   * Sets the newest input of each partition before the first execution that will be read; a partition without one may
   * begin at any input.
   */
  begin(newest: ReadonlyMap<number, NewestInput>): void {
    for (const [partition, { inOffset, clockMs }] of newest)
      this.#progress.set(partition, { inOffset, clockMs, seenAtMs: null });
  }

  /**
   * Takes an execution in. False when it was read before: owners that overlap repeat themselves byte by byte. Throws
   * the `Fault` `execution_gap` (stop) when one is missing (architecture.md).
   */
  observe(partition: number, inOffset: number, clockMs: number): boolean {
    const before = this.at(partition);
    const isFirst = before === unseen;
    this.#progress.set(partition, {
      inOffset: Math.max(before.inOffset, inOffset),
      clockMs: Math.max(before.clockMs, clockMs),
      seenAtMs: this.#clock.monotonicMs(),
    });
    if (isFirst) return true;
    if (inOffset > before.inOffset + 1) {
      const facts = { partition, expected: before.inOffset + 1, found: inOffset };
      throw new Fault('execution_gap', 'stop', { facts });
    }
    return inOffset > before.inOffset;
  }
}
