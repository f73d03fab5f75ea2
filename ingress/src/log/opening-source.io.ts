import { readFirstEnvelope } from '@pm/domain/signoff/first-envelope.io';
import { Fault } from '@pm/kit/fault';
import { type WalletAddress, walletFromBytes } from '@pm/schemas';
import type { OpenLog } from './topics.io.ts';

/**
 * The wallet that fees are paid to, as the partitions were opened with it: setup opens all of them with the same one. Throws
 * the `Fault` `partitions_not_opened` (stop) when setup has not run.
 */
export async function readFeeWallet({
  client,
  names,
  codecs,
}: Pick<OpenLog, 'client' | 'names' | 'codecs'>): Promise<WalletAddress> {
  const from = { topic: names.orders, partition: 0, reader: codecs.orders };
  const admin = await client.admin();
  const bounds = await admin.bounds(from.topic).finally(() => admin.close());
  const isEmpty = (bounds.get(from.partition)?.high ?? 0) === 0;
  const first = isEmpty ? null : await readFirstEnvelope(client, from);
  const opening = first?.commands.find((command) => command.kind === 'OpenPartition');
  if (opening === undefined) throw new Fault('partitions_not_opened', 'stop');
  return walletFromBytes(opening.feeWallet);
}
