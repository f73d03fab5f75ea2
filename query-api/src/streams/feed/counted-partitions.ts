import type { FeedPartition } from './feed.io.ts';

/**
 * The partitions that a reader of all has, if each of them is caught up: none is left out silently. One that was added
 * counts once it was caught up; what began before then is closed.
 */
export function countedPartitions(all: readonly FeedPartition[]): readonly number[] | null {
  const counted = all.filter(({ isAdded }) => !isAdded);
  if (counted.length === 0 || counted.some(({ isCaughtUp }) => !isCaughtUp)) return null;
  return counted.map(({ partition }) => partition);
}
