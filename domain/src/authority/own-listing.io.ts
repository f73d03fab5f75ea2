import { fingerprintOf, openRecordCodec } from '@pm/kit/registry';
import { AvroError } from '@pm/schemas/avro/bytes';
import type { ListedSchema } from '@pm/schemas/log/service-keys';
import { registryHeaderBytes, topics } from '@pm/schemas/log/topics';

/**
 * The schema that a record of `service-keys` lists for its own id, when it is that of this version; null for every
 * other record. So the topic is read with nothing but itself: the first record under each of its ids is such a one. Its
 * seal must have been checked.
 */
export function ownListing(value: Buffer): ListedSchema | null {
  if (value.length < registryHeaderBytes) return null;
  const id = value.readUInt32BE(1);
  const codec = openRecordCodec(topics.serviceKeys.value, id, async () => null);
  try {
    const entry = codec.decode(value);
    const isOwn =
      entry.kind === 'SchemaListed' &&
      entry.schemaId === id &&
      entry.topic === topics.serviceKeys.name &&
      fingerprintOf(JSON.parse(entry.schema)).equals(codec.fingerprint);
    return isOwn ? entry : null;
  } catch (error) {
    if (error instanceof AvroError || error instanceof SyntaxError) return null;
    throw error;
  }
}
