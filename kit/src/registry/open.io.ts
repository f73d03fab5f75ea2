import { type AvroSchema, type Infer, subjectOf, type Topic, topics } from '@pm/schemas';
import { Fault } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import { addressOf, type RegistryAccess, type RegistryAddress } from './address.ts';
import {
  type FetchSchema,
  openRecordCodec,
  type RecordCodec,
  type RecordReader,
} from './record-codec.io.ts';
import { askRegistry } from './request.io.ts';
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

/** The schema registry as this process uses it: at start, and for a record of another version. */
export interface Registry {
  /**
   * Registers the value schema of every topic under `<prefix><name>-value` with FULL_TRANSITIVE. Throws a `Fault`:
   * `schema_incompatible` or `registry_refused` (stop) naming the subject, `registry_unavailable` (retry).
   */
  registerAll(): Promise<void>;
  /**
   * The codec of a topic's values; registers its schema when `registerAll` has not. Same faults. Decoded branches
   * named in `reuse` live until the next decode.
   */
  codecFor<const S extends AvroSchema>(
    topic: Topic<S>,
    reuse?: readonly string[],
  ): Promise<RecordCodec<Infer<S>>>;
  /** Reads a topic's values and registers nothing: every schema is fetched by `prepare`. */
  readerFor<const S extends AvroSchema>(topic: Topic<S>): RecordReader<Infer<S>>;
}

/** Ids of a registry begin with 1, so no record claims to be written under this one. */
const noSchemaId = 0;

/** The name of a topic on the broker. */
export function topicName(topic: Pick<Topic, 'name'>, prefix: string): string {
  return `${prefix}${topic.name}`;
}

/** Opens nothing yet: the first registration connects. */
export function openRegistry(options: RegistryOptions): Registry {
  const address = addressOf(options.url, options.access);
  const log = options.log.child({ part: 'registry' });
  const registrar = openRegistrar(address, log, options.maxTries);
  const fetchSchema = schemaFetcher(address);
  const ids = new Map<string, Promise<number>>();
  const idFor = (topic: Topic): Promise<number> => {
    const subject = subjectOf(topicName(topic, options.topicPrefix));
    const known = ids.get(subject);
    if (known !== undefined) return known;
    const asked = registrar.register(subject, topic.value);
    ids.set(subject, asked);
    // A failure is not cached: the next call asks again.
    asked.catch(() => ids.delete(subject));
    return asked;
  };
  return {
    async registerAll() {
      await Promise.all(Object.values(topics).map(idFor));
    },
    async codecFor(topic, reuse) {
      return openRecordCodec(topic.value, await idFor(topic), fetchSchema, reuse);
    },
    readerFor(topic) {
      return openRecordCodec(topic.value, noSchemaId, fetchSchema);
    },
  };
}

function schemaFetcher(address: RegistryAddress): FetchSchema {
  return async (id) => {
    try {
      const answer = await askRegistry(address, `/schemas/ids/${id}`);
      return answer.status === 404 ? null : schemaIn(JSON.parse(answer.text));
    } catch (cause) {
      throw new Fault('registry_unavailable', 'retry', { facts: { schemaId: id }, cause });
    }
  };
}

function schemaIn(body: unknown): unknown {
  const text: unknown =
    typeof body === 'object' && body !== null ? Reflect.get(body, 'schema') : null;
  if (typeof text !== 'string') throw new Error('an answer without a schema');
  return JSON.parse(text);
}
