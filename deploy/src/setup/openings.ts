import { keyIdOf, verifierFor } from '@pm/domain/signoff/keys';
import { verifySealed } from '@pm/domain/signoff/records';
import { type LogClient, type PartitionBounds, readRange } from '@pm/kit/kafka';
import type { RecordCodec } from '@pm/kit/registry';
import { AvroError } from '@pm/schemas/avro/bytes';
import { type Envelope, envelopeSignatureBytes } from '@pm/schemas/log/orders';
import { registryHeaderBytes } from '@pm/schemas/log/topics';

/** The topic `orders`, and the key that opens its partitions. */
export interface OpeningsPlace {
  readonly client: LogClient;
  readonly codec: RecordCodec<Envelope>;
  /** Name of the topic on the broker. */
  readonly ordersTopic: string;
  /** Raw Ed25519, hex. */
  readonly openingKey: string;
}

const keyIdFrom = registryHeaderBytes + envelopeSignatureBytes;

/**
 * The bytes of the record that opens a partition, by the rule of its matcher: the first one that the opening key has
 * signed as such. Others before it were rejected. Null when there is none. Rejects with the faults of the client.
 */
export async function findOpening(
  place: OpeningsPlace,
  partition: number,
  { low, high }: PartitionBounds,
): Promise<Buffer | null> {
  const first = await findIn(place, partition, { low, high: Math.min(low + 1, high) });
  // For a partition that is in use the first record is the opening, and nothing else is read.
  return first ?? (await findIn(place, partition, { low: low + 1, high }));
}

async function findIn(
  place: OpeningsPlace,
  partition: number,
  { low: from, high: to }: PartitionBounds,
): Promise<Buffer | null> {
  if (from >= to) return null;
  let found: Buffer | null = null;
  await readRange(place.client, {
    topic: place.ordersTopic,
    partition,
    from,
    to,
    onBatch: async ({ records }) => {
      for (const { value } of records)
        if (found === null && (await isOpening(place, partition, value))) found = value;
    },
  });
  return found;
}

/** Only a record that names the opening key is decoded. */
async function isOpening(
  { codec, openingKey }: OpeningsPlace,
  partition: number,
  value: Buffer | null,
): Promise<boolean> {
  const key = Buffer.from(openingKey, 'hex');
  const keyId = keyIdOf(key);
  if (value === null || !value.subarray(keyIdFrom, keyIdFrom + keyId.length).equals(keyId))
    return false;
  if (!codec.knows(value)) await codec.prepare(value);
  const verifier = verifierFor(key);
  const fingerprint = codec.fingerprintOf(value);
  const isSigned =
    (fingerprint !== null && verifySealed(value, verifier, fingerprint)) ||
    verifySealed(value, verifier, null);
  const envelope = isSigned ? decoded(codec, value) : null;
  const first = envelope?.commands[0];
  return (
    envelope?.partition === partition &&
    first?.kind === 'OpenPartition' &&
    first.operatorKey.equals(key)
  );
}

function decoded(codec: RecordCodec<Envelope>, value: Buffer): Envelope | null {
  try {
    return codec.decode(value);
  } catch (error) {
    if (error instanceof AvroError) return null;
    throw error;
  }
}
