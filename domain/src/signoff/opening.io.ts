import { Fault } from '@pm/kit/fault';
import type { LogClient } from '@pm/kit/kafka';
import type { RecordReader } from '@pm/kit/registry';
import type { CommandOf, Envelope } from '@pm/schemas/log/orders';
import { type KeptOpenings, readFirstEnvelope } from './first-envelope.io.ts';

/**
 * The command that opened the log: setup opens every partition with the same fee wallet and operator, so that of
 * partition 0 stands for all. Throws the `Fault` `partitions_not_opened` (stop) when setup has not run.
 */
export async function readOpening(
  client: LogClient & KeptOpenings,
  from: {
    /** The broker's name of the topic `orders`. */
    readonly topic: string;
    readonly reader: RecordReader<Envelope>;
  },
): Promise<CommandOf<'OpenPartition'>> {
  const partition = 0;
  const admin = await client.admin();
  const bounds = await admin.bounds(from.topic).finally(() => admin.close());
  const isEmpty = (bounds.get(partition)?.high ?? 0) === 0;
  const place = { ...from, partition, kept: client };
  const first = isEmpty ? null : await readFirstEnvelope(client, place);
  const opening = first?.commands.find((command) => command.kind === 'OpenPartition');
  if (opening === undefined) throw new Fault('partitions_not_opened', 'stop');
  return opening;
}
