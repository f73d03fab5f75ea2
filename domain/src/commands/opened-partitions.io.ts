import type { LogClient } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import { type RecordReader, readValue } from '@pm/kit/registry';
import { repeatCheck } from '@pm/kit/rounds';
import type { Envelope } from '@pm/schemas/log/orders';
import type { KeptOpenings, OpenedPartitions } from '../signoff/first-envelope.io.ts';
import type { PartitionLiveness } from './partition-liveness.ts';
import type { RecentResults } from './recent-results-cache.ts';

/** Results that are followed, in partitions of which there may be more later. */
export interface FollowedResults {
  /** Follows partitions that were opened since. Rejects with the faults of the client. */
  followOpened(): Promise<void>;
}

interface AddedPartitions {
  readonly client: Pick<LogClient, 'admin'> & OpenedPartitions;
  /** The topic `executions` on the broker. */
  readonly topic: string;
  readonly partitions: Pick<PartitionLiveness, 'has' | 'add'>;
  readonly recentResults?: Pick<RecentResults, 'begin'>;
  readonly log: Log;
  /** Follows more partitions from these offsets on. */
  follow(positions: ReadonlyMap<number, number>): Promise<unknown>;
}

/**
 * When partitions were added to those of the first set-up, Unix milliseconds of the set-up that opened them; those are
 * absent. Rejects with the faults of a look for a schema.
 */
export async function additionsOf(
  kept: KeptOpenings & OpenedPartitions,
  reader: RecordReader<Envelope>,
): Promise<ReadonlyMap<number, number>> {
  const openedAtMs = new Map<number, number>();
  for (const partition of kept.openedPartitions) {
    const value = kept.openingOf(partition);
    if (value === null) continue;
    const { commands } = await readValue(reader, value, (cause) => {
      throw cause;
    });
    const opening = commands.find((one) => one.kind === 'OpenPartition');
    if (opening !== undefined) openedAtMs.set(partition, opening.timeMs);
  }
  const firstMs = Math.min(...openedAtMs.values());
  return new Map([...openedAtMs].filter(([, timeMs]) => timeMs > firstMs));
}

/** How often a process looks for partitions that were opened, milliseconds. */
const openedEveryMs = 1_000;

/**
 * Follows partitions that were opened since the last call from their first record on; commands go there once they are
 * followed. One that the broker does not show yet waits for the next call.
 */
export async function followAdded(added: AddedPartitions): Promise<void> {
  const { client, topic, partitions, recentResults, log } = added;
  const opened = client.openedPartitions.filter((partition) => !partitions.has(partition));
  if (opened.length === 0) return;
  const admin = await client.admin();
  const bounds = await admin.bounds(topic).finally(() => admin.close());
  const firsts = new Map(
    [...bounds].filter(([one]) => opened.includes(one)).map(([one, { low }]) => [one, low]),
  );
  if (firsts.size === 0) return;
  const numbers = [...firsts.keys()];
  // Nothing was sent there before, so no result is missing.
  recentResults?.begin(new Map(numbers.map((partition) => [partition, 0])));
  await added.follow(firsts);
  for (const partition of numbers) partitions.add(partition);
  log.info({ partitions: numbers }, 'partitions were opened and are followed');
}

/** Looks for them until it is closed. */
export function watchOpened(results: FollowedResults, log: Log): { close(): Promise<void> } {
  const failure = 'partitions that were opened are not followed yet';
  return repeatCheck(() => results.followOpened(), { everyMs: openedEveryMs, log, failure });
}
