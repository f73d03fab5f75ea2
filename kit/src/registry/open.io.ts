import { toAvroJson } from '@pm/schemas/avro/schema';
import type { ListedSchema } from '@pm/schemas/log/service-keys';
import { subjectOf, type Topic } from '@pm/schemas/log/topics';
import type { Log } from '../log/index.ts';
import { addressOf, type RegistryAccess } from './address.ts';
import { restoreSchemas } from './restore.io.ts';
import { openRegistrar } from './schema-ids.io.ts';

export interface RegistryOptions {
  /** Base of the Confluent API, e.g. `http://127.0.0.1:8081/apis/ccompat/v7`. */
  readonly url: string;
  readonly access?: RegistryAccess;
  /** The prefix of all topic names. */
  readonly topicPrefix: string;
  readonly log: Log;
  /** Attempts of one registration, with growing waits; default 6, about 6 s without a response. */
  readonly maxTries?: number;
}

/**
 * The schema registry, as set-up uses it: it gives new schemas their ids, and has all schemas for readers that are not
 * of the exchange. Services know ids from the log alone (`Schemas`).
 */
export interface Registry {
  /**
   * Registers the value schemas of topics under `<prefix><name>-value` with FULL_TRANSITIVE; resolves to them with
   * their ids. Rejects with a `Fault`: `schema_incompatible` or `registry_refused` (stop) naming the subject,
   * `registry_unavailable` (retry).
   */
  register(some: readonly Topic[]): Promise<readonly ListedSchema[]>;
  /**
   * Puts listed schemas that the registry lacks back under their ids; resolves to their number. Rejects with a `Fault`:
   * `registry_foreign` (stop) when it has another schema under a listed id, `registry_not_restored` (stop) when it
   * takes no ids, `registry_refused` (stop), `registry_unavailable` (retry).
   */
  restore(listed: readonly ListedSchema[]): Promise<number>;
}

/** The name of a topic on the broker. */
export function topicName(topic: Pick<Topic, 'name'>, prefix: string): string {
  return `${prefix}${topic.name}`;
}

/** Opens nothing yet: the first request connects. */
export function openRegistry(options: RegistryOptions): Registry {
  const address = addressOf(options.url, options.access);
  const registrar = openRegistrar(
    address,
    options.log.child({ part: 'registry' }),
    options.maxTries,
  );
  const subjectFor = (topic: Pick<Topic, 'name'>) =>
    subjectOf(topicName(topic, options.topicPrefix));
  const register = async (topic: Topic): Promise<ListedSchema> => ({
    topic: topic.name,
    schemaId: await registrar.register(subjectFor(topic), topic.value),
    schema: JSON.stringify(toAvroJson(topic.value)),
  });
  return {
    register: (some) => Promise.all(some.map(register)),
    restore: (listed) =>
      restoreSchemas(
        address,
        listed.map((one) => ({ ...one, subject: subjectFor({ name: one.topic }) })),
      ),
  };
}
