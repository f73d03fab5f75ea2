import { AvroError } from '@pm/schemas/avro/bytes';
import { type AvroSchema, type Infer, toAvroJson } from '@pm/schemas/avro/schema';
import type { ListedSchema } from '@pm/schemas/log/service-keys';
import type { Topic } from '@pm/schemas/log/topics';
import { Fault } from '../fault/index.ts';
import { fingerprintOf } from './fingerprint.ts';
import { openRecordCodec, type RecordCodec, type RecordReader } from './record-codec.io.ts';

/** No record claims to be written under this id: those of a registry begin with 1. */
const noSchemaId = 0;

/** A schema that the log lists, read once. */
interface KnownSchema {
  readonly listed: ListedSchema;
  readonly json: unknown;
  readonly fingerprint: Buffer;
}

/**
 * The schemas of all records by their ids, as the log lists them (`service-keys`). What a registry says does not count:
 * its contents may be lost, or be those of another installation.
 */
export class Schemas {
  readonly #listed = new Map<number, KnownSchema>();
  /** By topic and fingerprint, the id that is written. */
  readonly #written = new Map<string, number>();
  #look: () => Promise<void> = async () => {};

  /**
   * Takes a schema from the log; the first one of an id counts, and of the ids of one schema the last one is written.
   * Throws `AvroError` for one that is no schema.
   */
  learn(listed: ListedSchema): void {
    const json = jsonOf(listed.schema);
    const fingerprint = fingerprintOf(json);
    const known = this.#listed.get(listed.schemaId);
    if (known === undefined) this.#listed.set(listed.schemaId, { listed, json, fingerprint });
    else if (!known.fingerprint.equals(fingerprint)) return;
    this.#written.set(placeOf(listed.topic, fingerprint), listed.schemaId);
  }

  /** Whether the id of a schema stands for another one. Throws as `learn` does. */
  isTaken({ schemaId, schema }: ListedSchema): boolean {
    const known = this.#listed.get(schemaId);
    return known !== undefined && !known.fingerprint.equals(fingerprintOf(jsonOf(schema)));
  }

  /** Has `look` called for an id, or a schema of this version, that is not listed; it learns what is listed by then. */
  onUnknown(look: () => Promise<void>): void {
    this.#look = look;
  }

  /** All listed schemas, by the time of their first listing. */
  all(): readonly ListedSchema[] {
    return [...this.#listed.values()].map(({ listed }) => listed);
  }

  /** The id under which this version writes the records of a topic; null when it is not listed. */
  idOf(topic: Topic): number | null {
    const fingerprint = fingerprintOf(toAvroJson(topic.value));
    return this.#written.get(placeOf(topic.name, fingerprint)) ?? null;
  }

  /**
   * The codec of a topic's values. Decoded branches named in `reuse` live until the next decode. Rejects with the
   * `Fault` `schema_not_listed` (retry): set-up of this version lists it; and with the faults of the look.
   */
  async codecFor<const S extends AvroSchema>(
    topic: Topic<S>,
    reuse?: readonly string[],
  ): Promise<RecordCodec<Infer<S>>> {
    let id = this.idOf(topic);
    if (id === null) {
      await this.#look();
      id = this.idOf(topic);
    }
    if (id === null)
      throw new Fault('schema_not_listed', 'retry', { facts: { topic: topic.name } });
    return openRecordCodec(topic.value, id, (other) => this.#jsonOf(other), reuse);
  }

  /** Reads a topic's values. */
  readerFor<const S extends AvroSchema>(topic: Topic<S>): RecordReader<Infer<S>> {
    return openRecordCodec(topic.value, noSchemaId, (id) => this.#jsonOf(id));
  }

  /** Reads a topic's values without a look for unknown ids: an id that is not listed at that moment is of no schema. */
  listedReader<const S extends AvroSchema>(topic: Topic<S>): RecordReader<Infer<S>> {
    return openRecordCodec(
      topic.value,
      noSchemaId,
      async (id) => this.#listed.get(id)?.json ?? null,
    );
  }

  async #jsonOf(id: number): Promise<unknown> {
    if (!this.#listed.has(id)) await this.#look();
    return this.#listed.get(id)?.json ?? null;
  }
}

/** Reads a topic's values as this version writes them, whatever their ids: for a log whose root key is not known. */
export function ownReader<const S extends AvroSchema>(topic: Topic<S>): RecordReader<Infer<S>> {
  return openRecordCodec(topic.value, noSchemaId, async () => toAvroJson(topic.value));
}

function placeOf(topic: string, fingerprint: Buffer): string {
  return `${topic} ${fingerprint.toString('hex')}`;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AvroError('a schema that is not JSON');
  }
}
