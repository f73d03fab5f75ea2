import { type LogClient, readRange } from '@pm/kit/kafka';
import { type RecordReader, readValue } from '@pm/kit/registry';
import type { Envelope } from '@pm/schemas';

/**
 * The first record of a partition of `orders`, which opens it; null when it has no value. Rejects with the
 * faults of the client and of the registry.
 */
export async function readFirstEnvelope(
  client: LogClient,
  from: {
    /** The broker's name of the topic `orders`. */
    readonly topic: string;
    readonly partition: number;
    readonly reader: RecordReader<Envelope>;
  },
): Promise<Envelope | null> {
  const { topic, partition, reader } = from;
  let first: Envelope | null = null;
  await readRange(client, {
    topic,
    partition,
    from: 0,
    to: 1,
    onBatch: async ({ records }) => {
      const value = records[0]?.value ?? null;
      if (value === null) return;
      first = await readValue(reader, value, (cause) => {
        throw cause;
      });
    },
  });
  return first;
}
