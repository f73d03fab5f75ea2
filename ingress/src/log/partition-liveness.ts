import type { NewestInput } from '@pm/domain/executions/input-sequence';
import { silenceMaxMs } from '@pm/domain/executions/owner-silence';
import { Fault } from '@pm/kit/fault';
import { clockLeapMaxMs } from '@pm/schemas';

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

/** Keeps the progress of each partition and the rule that input offsets follow each other without a gap. */
export class PartitionLiveness {
  readonly count: number;
  readonly #clock: Clocks;
  readonly #progress: PartitionProgress[];

  constructor(count: number, clock: Clocks) {
    this.count = count;
    this.#clock = clock;
    this.#progress = Array.from({ length: count }, () => unseen);
  }

  at(partition: number): PartitionProgress {
    return this.#progress[partition] ?? unseen;
  }

  /** Whether orders can be booked: its owner is heard, and its clock is not as far back as before a witness. */
  isReady(partition: number): boolean {
    const { seenAtMs, clockMs } = this.at(partition);
    if (seenAtMs === null || this.#clock.monotonicMs() - seenAtMs > silenceMaxMs) return false;
    return this.#clock.nowMs() - clockMs <= clockLeapMaxMs;
  }

  /** What is in front of the first execution that will be taken in; a partition without it begins anywhere. */
  begin(newest: ReadonlyMap<number, NewestInput>): void {
    for (const [partition, { inOffset, clockMs }] of newest)
      this.#progress[partition] = { inOffset, clockMs, seenAtMs: null };
  }

  /**
   * Takes an execution in. False when it was read before: owners that overlap repeat themselves byte by byte. Throws
   * the `Fault` `execution_gap` (stop) when one is missing (architecture.md).
   */
  observe(partition: number, inOffset: number, clockMs: number): boolean {
    const before = this.at(partition);
    const isFirst = before === unseen;
    this.#progress[partition] = {
      inOffset: Math.max(before.inOffset, inOffset),
      clockMs: Math.max(before.clockMs, clockMs),
      seenAtMs: this.#clock.monotonicMs(),
    };
    if (isFirst) return true;
    if (inOffset > before.inOffset + 1) {
      const facts = { partition, expected: before.inOffset + 1, found: inOffset };
      throw new Fault('execution_gap', 'stop', { facts });
    }
    return inOffset > before.inOffset;
  }
}
