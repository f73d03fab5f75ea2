import { toAvroJson } from '@pm/schemas/avro/schema';
import type { ListedSchema } from '@pm/schemas/log/service-keys';
import { topics } from '@pm/schemas/log/topics';
import { Schemas } from '../../src/registry/index.ts';

/** The schemas of this version under ids from 1 in the order of the topics, as set-up lists them on a fresh log. */
export const ownListings: readonly ListedSchema[] = Object.values(topics).map((topic, at) => ({
  topic: topic.name,
  schemaId: at + 1,
  schema: JSON.stringify(toAvroJson(topic.value)),
}));

/** They are known without a log and without a registry. */
export function ownSchemas(): Schemas {
  const schemas = new Schemas();
  for (const listing of ownListings) schemas.learn(listing);
  return schemas;
}
