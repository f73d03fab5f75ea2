import { type LogClient, readRange } from '@pm/kit/kafka';
import { type RecordReader, readValue } from '@pm/kit/registry';
import type { Envelope } from '@pm/schemas/log/orders';

/** Openings of partitions that are kept beside the log, under the root key. */
export interface KeptOpenings {
  /** The bytes of one; null when it was not kept. */
  openingOf(partition: number): Buffer | null;
}

/**
 * The partitions of `orders` that are opened, as `service-keys` says and no topic does: topics may have more. No
 * market and no record goes to any other.
 */
export interface OpenedPartitions {
  /** In order; a later look may find more. */
  readonly openedPartitions: readonly number[];
}

/** For readers of a log that is whole. */
export const noKeptOpenings: KeptOpenings & OpenedPartitions = {
  openingOf: () => null,
  openedPartitions: [],
};

interface OrdersPlace {
  /** The broker's name of the topic `orders`. */
  readonly topic: string;
  readonly partition: number;
}

/**
 * The first record of a partition of `orders`, which opens it, also when retention has removed it and it was kept; null
 * when it has no value. Rejects with the faults of the client and of a look for its schema.
 */
export async function readFirstEnvelope(
  client: LogClient,
  from: OrdersPlace & {
    readonly reader: RecordReader<Envelope>;
    readonly kept: KeptOpenings;
  },
): Promise<Envelope | null> {
  const value = from.kept.openingOf(from.partition) ?? (await readFirstValue(client, from));
  if (value === null) return null;
  return await readValue(from.reader, value, (cause) => {
    throw cause;
  });
}

/** The bytes of that record as the log has them. Rejects with `offset_out_of_range` (stop) when it has them no more. */
async function readFirstValue(
  client: LogClient,
  { topic, partition }: OrdersPlace,
): Promise<Buffer | null> {
  let first: Buffer | null = null;
  await readRange(client, {
    topic,
    partition,
    from: 0,
    to: 1,
    onBatch: async ({ records }) => {
      first = records[0]?.value ?? null;
    },
  });
  return first;
}
