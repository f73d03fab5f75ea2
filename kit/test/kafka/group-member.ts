import type { Fault } from '../../src/fault/index.ts';
import type { GroupOptions, LogClient, PartitionGroup } from '../../src/kafka/index.ts';

/** A member that writes down everything that happens to it. */
export interface RecordedMember {
  readonly group: PartitionGroup;
  /** `assigned 0`, `revoked 0`, `batch 0: 5..9`, in order. */
  readonly events: string[];
  /** Offsets it handled, per partition. */
  readonly handled: Map<number, number[]>;
  readonly faults: Fault[];
}

/** Joins with handlers that only record, unless others are given. */
export async function joinRecorded(
  client: LogClient,
  options: Pick<GroupOptions, 'groupId' | 'topic'> & Partial<GroupOptions>,
): Promise<RecordedMember> {
  const events: string[] = [];
  const handled = new Map<number, number[]>();
  const faults: Fault[] = [];
  const group = await client.group({
    dense: true,
    sessionTimeoutMs: 3_000,
    onFault: (fault) => faults.push(fault),
    ...options,
    onAssigned: async (partition) => {
      events.push(`assigned ${partition}`);
      return options.onAssigned?.(partition) ?? 'committed';
    },
    onRevoked: async (partition) => {
      await options.onRevoked?.(partition);
      events.push(`revoked ${partition}`);
    },
    onBatch: async (batch) => {
      const { partition, records } = batch;
      events.push(`batch ${partition}: ${records[0]?.offset}..${records.at(-1)?.offset}`);
      await options.onBatch?.(batch);
      handled.set(partition, [
        ...(handled.get(partition) ?? []),
        ...records.map((record) => record.offset),
      ]);
    },
  });
  return { group, events, handled, faults };
}
