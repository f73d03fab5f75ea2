import type { Execution } from '@pm/schemas';

/** What this process saw of a partition since it follows the log. */
export interface PartitionCount {
  /** The newest input that was applied. */
  readonly inOffset: number;
  /** Clock of the partition after it, Unix milliseconds. */
  readonly clockMs: number;
  /** Orders placed or refused. */
  readonly orders: number;
  readonly fills: number;
}

/** Counts what happens on each partition; a record that comes again counts once. */
export class PartitionCounts {
  readonly #counts = new Map<number, PartitionCount>();

  take(partition: number, { inOffset, timeMs, events }: Execution): void {
    const before = this.#counts.get(partition);
    if (before !== undefined && inOffset <= before.inOffset) return;
    let { orders = 0, fills = 0 } = before ?? {};
    for (const { kind } of events) {
      if (kind === 'OrderPlaced' || kind === 'OrderRefused') orders += 1;
      else if (kind === 'Fill') fills += 1;
    }
    this.#counts.set(partition, { inOffset, clockMs: timeMs, orders, fills });
  }

  of(partition: number): PartitionCount | null {
    return this.#counts.get(partition) ?? null;
  }
}

/** A partition whose clock is older than this is not live: its owner ticks several times a second, milliseconds. */
const liveWithinMs = 3_000;

/** What is known of the partitions of `orders`. */
export interface PartitionFacts {
  /** Next offset of `orders` per partition. */
  readonly inputs: ReadonlyMap<number, number>;
  /** Name of the process that owns a partition; absent while none does. */
  readonly owners: ReadonlyMap<number, string>;
  readonly counts: Pick<PartitionCounts, 'of'>;
}

/**
 * The owner of each partition: the matcher that commits its positions, by name, while it is a member of the group; else
 * the one where the group has placed the partition.
 */
export function ownersOf(
  placed: ReadonlyMap<number, string>,
  committedBy: ReadonlyMap<number, string>,
): ReadonlyMap<number, string> {
  const members = new Set(placed.values());
  return new Map(
    [...placed].map(([partition, member]) => {
      const owner = committedBy.get(partition) ?? '';
      return [partition, members.has(owner) ? owner : member];
    }),
  );
}

/** The partitions of GET /status (conventions.md 1.5). */
export function wirePartitions({ inputs, owners, counts }: PartitionFacts, nowMs: number) {
  const partitions = [...inputs.keys()].sort((one, other) => one - other);
  return partitions.map((partition) => {
    const end = inputs.get(partition) ?? 0;
    const owner = owners.get(partition) ?? null;
    const count = counts.of(partition);
    const isLive = count !== null && nowMs - count.clockMs <= liveWithinMs;
    return {
      partition,
      owner,
      state: isLive ? 'live' : owner === null ? 'unowned' : 'restoring',
      lastOffset: end - 1,
      applied: count?.inOffset ?? null,
      lag: count === null ? null : Math.max(0, end - 1 - count.inOffset),
      clock: count === null ? null : new Date(count.clockMs).toISOString(),
      orders: count?.orders ?? 0,
      fills: count?.fills ?? 0,
    };
  });
}
