/** A partition of a feed. */
interface Counted {
  readonly partition: number;
  readonly isCaughtUp: boolean;
  /** It was added, and readers do not have it yet. */
  readonly isAdded: boolean;
}

/**
 * The partitions that a reader of all has, if each of them is caught up: none is left out silently. One that was added
 * counts once it was caught up; what began before then is closed.
 */
export function countedPartitions(all: readonly Counted[]): readonly number[] | null {
  const counted = all.filter(({ isAdded }) => !isAdded);
  if (counted.length === 0 || counted.some(({ isCaughtUp }) => !isCaughtUp)) return null;
  return counted.map(({ partition }) => partition);
}
