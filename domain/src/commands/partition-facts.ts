import type { PartitionLiveness, PartitionProgress } from './partition-liveness.ts';

type Partitions = Pick<PartitionLiveness, 'numbers' | 'at' | 'isReady'>;

/** One partition in the status of a process. */
export interface PartitionFacts {
  readonly partition: number;
  readonly ready: boolean;
  /** Commands that are not durable yet. */
  readonly queuedCommands: number;
  readonly inOffset: number;
  readonly clockMs: number;
  /** Time since its last execution was read, milliseconds; null before the first. */
  readonly silentMs: number | null;
}

/** All partitions at a moment of the monotonic clock, milliseconds. */
export function partitionFacts(
  partitions: Partitions,
  queued: (partition: number) => number,
  nowMs: number,
): readonly PartitionFacts[] {
  return partitions.numbers.map((partition) => ({
    partition,
    ready: partitions.isReady(partition),
    queuedCommands: queued(partition),
    ...progressFacts(partitions.at(partition), nowMs),
  }));
}

export function isSomeReady(partitions: Partitions): boolean {
  return partitions.numbers.some((partition) => partitions.isReady(partition));
}

export function silentCount(partitions: Partitions): number {
  return partitions.numbers.filter((partition) => !partitions.isReady(partition)).length;
}

function progressFacts({ inOffset, clockMs, seenAtMs }: PartitionProgress, nowMs: number) {
  const silentMs = seenAtMs === null ? null : Math.round(nowMs - seenAtMs);
  return { inOffset, clockMs, silentMs };
}
