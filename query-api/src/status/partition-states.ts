import { silenceMaxMs } from '@pm/domain/executions/owner-silence';
import type { Execution } from '@pm/schemas/log/executions';

/** Newest position, clock and counts of the records of a partition since this process follows the log. */
export interface PartitionCount {
  /** The newest input that was applied. */
  readonly inOffset: number;
  /** Clock of the partition after it, Unix milliseconds. */
  readonly clockMs: number;
  /** Orders placed or refused. */
  readonly orders: number;
  readonly fills: number;
  /** When its newest record came, by this process's monotonic clock; null while all that is read is from before. */
  readonly heardMs: number | null;
}

/** Counts what happens on each partition; a record that comes again counts once. */
export class PartitionCounts {
  readonly #counts = new Map<number, PartitionCount>();
  readonly #monotonicMs: () => number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** `isNew`: the record came after reading began. */
  take(partition: number, { inOffset, timeMs, events }: Execution, isNew: boolean): void {
    const before = this.#counts.get(partition);
    if (before !== undefined && inOffset <= before.inOffset) return;
    let { orders = 0, fills = 0 } = before ?? {};
    for (const { kind } of events) {
      if (kind === 'OrderPlaced' || kind === 'OrderRefused') orders += 1;
      else if (kind === 'Fill') fills += 1;
    }
    const heardMs = isNew ? this.#monotonicMs() : (before?.heardMs ?? null);
    this.#counts.set(partition, { inOffset, clockMs: timeMs, orders, fills, heardMs });
  }

  of(partition: number): PartitionCount | null {
    return this.#counts.get(partition) ?? null;
  }

  /** Whether its owner was heard within `silenceMaxMs`. */
  isLive(partition: number): boolean {
    const heardMs = this.#counts.get(partition)?.heardMs ?? null;
    return heardMs !== null && this.#monotonicMs() - heardMs <= silenceMaxMs;
  }
}

/** Inputs, owners and counts of the partitions of `orders`, as far as they are known. */
export interface PartitionFacts {
  /** Next offset of `orders` per partition. */
  readonly inputs: ReadonlyMap<number, number>;
  /** Name of the process that owns a partition; absent while none does. */
  readonly owners: ReadonlyMap<number, string>;
  readonly counts: Pick<PartitionCounts, 'of' | 'isLive'>;
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
export function wirePartitions({ inputs, owners, counts }: PartitionFacts) {
  const partitions = [...inputs.keys()].sort((one, other) => one - other);
  return partitions.map((partition) => {
    const end = inputs.get(partition) ?? 0;
    const owner = owners.get(partition) ?? null;
    const count = counts.of(partition);
    return {
      partition,
      owner,
      state: counts.isLive(partition) ? 'live' : owner === null ? 'unowned' : 'restoring',
      lastOffset: end - 1,
      applied: count?.inOffset ?? null,
      lag: count === null ? null : Math.max(0, end - 1 - count.inOffset),
      clock: count === null ? null : new Date(count.clockMs).toISOString(),
      orders: count?.orders ?? 0,
      fills: count?.fills ?? 0,
    };
  });
}
