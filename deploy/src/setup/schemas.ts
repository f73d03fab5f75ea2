import { listSchemas } from '@pm/domain/authority/publish-service-key.io';
import { Fault } from '@pm/kit/fault';
import type { Registry, Schemas } from '@pm/kit/registry';
import type { ListedSchema } from '@pm/schemas/log/service-keys';
import { type Topic, topics } from '@pm/schemas/log/topics';
import { messageOf } from '../local/stack-error.ts';
import { placeOf, type ServiceKeySetup } from './service-keys.ts';

export interface SchemaSetup extends ServiceKeySetup {
  readonly registry: Registry;
  progress(line: string): void;
}

/**
 * Lists the schemas of this version under the ids that the registry gives them, and puts listed ones that the registry
 * lacks back into it. A repetition changes nothing. Services know the ids from the log: what the registry lacks is
 * missed by readers that are not of the exchange, so its faults are reported and set-up goes on when every schema of
 * this version is listed. Rejects with the faults of the registry when one is not.
 */
export async function setUpSchemas(options: SchemaSetup): Promise<void> {
  const { schemas, progress } = options;
  const unlisted = Object.values(topics).filter((topic) => schemas.idOf(topic) === null);
  try {
    await mirror(options, unlisted);
  } catch (error) {
    if (unlisted.length > 0 || !(error instanceof Fault)) throw error;
    progress(`registry: other programs cannot read records by it: ${messageOf(error)}`);
  }
}

async function mirror(options: SchemaSetup, unlisted: readonly Topic[]): Promise<void> {
  const { registry, schemas, progress } = options;
  const restored = await registry.restore(schemas.all());
  const registered = await registry.register(restored > 0 ? Object.values(topics) : unlisted);
  const isUnlisted = ({ topic }: ListedSchema) => unlisted.some(({ name }) => name === topic);
  for (const one of registered)
    if (schemas.isTaken(one) || !(isUnlisted(one) || isListed(schemas, one)))
      throw new Fault('registry_foreign', 'stop', { facts: factsOf(one) });
  if (unlisted.length > 0) await listSchemas(placeOf(options), registered.filter(isUnlisted));
  const more = restored === 0 ? '' : `, ${restored} put back into the registry`;
  const all = Object.keys(topics).length;
  progress(`schemas: ${all} listed, ${unlisted.length} of them new, FULL_TRANSITIVE${more}`);
}

/** Whether the log lists a schema of this version under the id that the registry has given it. */
function isListed(schemas: Schemas, { topic, schemaId }: ListedSchema): boolean {
  const own = Object.values<Topic>(topics).find(({ name }) => name === topic);
  return own !== undefined && schemas.idOf(own) === schemaId;
}

function factsOf({ topic, schemaId }: ListedSchema): Record<string, string | number> {
  return { topic, schemaId };
}
