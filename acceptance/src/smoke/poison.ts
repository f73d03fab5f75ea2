import { randomBytes } from 'node:crypto';
import { addressesOf } from '@pm/deploy/installation/read-addresses';
import { kafkaConnection } from '@pm/kit/config';
import { openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { topicName } from '@pm/kit/registry';
import { topics } from '@pm/schemas/log/topics';
import type { World } from './world.ts';

const recordsPerPartition = 3;
/** A value in the format of the registry begins with 0. */
const notMagicByte = 0xff;

/**
 * Writes records that are no envelopes directly to `orders`: each must get a result, be counted, and stop nothing.
 * Returns how many.
 */
export async function appendPoison({ stack, accessOf }: World): Promise<number> {
  const client = openLogClient({
    ...kafkaConnection(addressesOf(stack.urls, accessOf('ingress'))),
    clientId: 'smoke',
    log: silentLog,
  });
  try {
    const topic = topicName(topics.orders, stack.names.topicPrefix);
    const admin = await client.admin();
    const producer = await client.producer();
    const partitions = [...(await admin.bounds(topic)).keys()];
    await producer.send(
      partitions.flatMap((partition) =>
        Array.from({ length: recordsPerPartition }, (_, index) => ({
          topic,
          partition,
          key: null,
          value: garbage(20 + index * 100),
        })),
      ),
    );
    return partitions.length * recordsPerPartition;
  } finally {
    await client.close();
  }
}

/** Random bytes that never begin like an envelope: those that do are rejected as of another partition or key. */
function garbage(bytes: number): Buffer {
  return Buffer.concat([Buffer.of(notMagicByte), randomBytes(bytes - 1)]);
}
