import { AvroError } from '@pm/schemas/avro/bytes';
import { type Codec, compileCodec, compileResolver } from '@pm/schemas/avro/codec';
import { type AvroSchema, type Infer, toAvroJson } from '@pm/schemas/avro/schema';
import { registryHeaderBytes } from '@pm/schemas/log/topics';
import { assert } from '../assert/index.ts';
import { fingerprintOf } from './fingerprint.ts';
import { fitToReader } from './fit.ts';
import { writerSchemaFrom } from './writer-schema.ts';

/** Reads and writes the values of one topic: 5 bytes of registry header, then Avro. */
export interface RecordCodec<T> {
  /** Id of the schema that is written. */
  readonly schemaId: number;
  /** SHA-256 of the canonical form of the schema that is written, 32 bytes. */
  readonly fingerprint: Buffer;
  /** A record value of its own memory. Throws `AvroError` for a value that is not of the schema. */
  encode(value: T): Buffer;
  /**
   * The value. Buffers in it are views of `bytes`. Throws `AvroError` for bytes that cannot be read, ever; a `Fault`
   * (stop) when the writer's schema was not looked up by `prepare` before.
   */
  decode(bytes: Buffer): T;
  /** Whether `decode` needs no look for these bytes. */
  knows(bytes: Buffer): boolean;
  /** Fingerprint of the schema that the bytes were written with; null when it was not looked up or is not listed. */
  fingerprintOf(bytes: Buffer): Buffer | null;
  /**
   * Looks up the writer's schema when it is not known yet; cached for ever. An id that is not listed, or one of another
   * kind of record, makes `decode` throw `AvroError`; the former is looked up again by the next call, since a later
   * version may be listed under it. Rejects with the faults of the look.
   */
  prepare(bytes: Buffer): Promise<void>;
}

/** The part of a codec that reads. */
export type RecordReader<T> = Pick<RecordCodec<T>, 'decode' | 'knows' | 'prepare'>;

/** Looks up a schema by its id: Avro JSON, or `null` when none of that id is listed. */
export type FetchSchema = (id: number) => Promise<unknown>;

const magicByte = 0;

/**
 * Ids kept per topic, and as many that no listed schema has; a schema changes a few times a year, so more are
 * forged, and the oldest is dropped.
 */
const maxWriters = 256;

/** The schema of another version. */
interface Writer {
  readonly fingerprint: Buffer | null;
  readonly decode: (bytes: Buffer) => unknown;
}

/**
 * The codec of a schema registered under `schemaId`. Branches named in `reuse` live until the next decode
 * (`compileCodec`).
 */
export function openRecordCodec<const S extends AvroSchema>(
  schema: S,
  schemaId: number,
  fetchSchema: FetchSchema,
  reuse: readonly string[] = [],
): RecordCodec<Infer<S>> {
  const own = compile(schema, reuse);
  const codec = openUntyped({ schema, own }, schemaId, fetchSchema);
  return codec as unknown as RecordCodec<Infer<S>>;
}

/** The value type of "any schema" is endless to the compiler, so inside a value is unknown. */
const compile = compileCodec as unknown as (
  schema: AvroSchema,
  reuse: readonly string[],
) => Codec<unknown>;
const resolverFor = compileResolver as unknown as (
  writer: AvroSchema,
  reader: AvroSchema,
) => Pick<Codec<unknown>, 'decode'>;

function openUntyped(
  { schema, own }: { readonly schema: AvroSchema; readonly own: Codec<unknown> },
  schemaId: number,
  fetchSchema: FetchSchema,
): RecordCodec<unknown> {
  const header = headerOf(schemaId);
  const others = new Map<number, Writer>();
  const unregistered = new Map<number, Writer>();
  const fingerprint = fingerprintOf(toAvroJson(schema));
  const writer = {
    fingerprint,
    decode: (bytes: Buffer) => own.decode(bytes, registryHeaderBytes),
  };
  const writerOf = (id: number): Writer | undefined =>
    id === schemaId ? writer : (others.get(id) ?? unregistered.get(id));
  return {
    schemaId,
    fingerprint,
    encode(value) {
      const bytes = own.encode(value, registryHeaderBytes);
      header.copy(bytes);
      return bytes;
    },
    decode(bytes) {
      const id = idOf(bytes);
      const known = writerOf(id);
      assert(known !== undefined, `the writer schema ${id} was prepared`);
      return known.decode(bytes);
    },
    knows(bytes) {
      const id = idOrNull(bytes);
      return id === null || writerOf(id) !== undefined;
    },
    fingerprintOf(bytes) {
      const id = idOrNull(bytes);
      return id === null ? null : (writerOf(id)?.fingerprint ?? null);
    },
    async prepare(bytes) {
      const id = idOrNull(bytes);
      if (id === null || id === schemaId || others.has(id)) return;
      const json = await fetchSchema(id);
      const into = json === null ? unregistered : others;
      const [oldest] = into.keys();
      if (into.size >= maxWriters && oldest !== undefined) into.delete(oldest);
      unregistered.delete(id);
      into.set(id, writerFor(json, id, { schema, writer }));
    },
  };
}

/** The schema of the reader, and how what was written with it is read. */
interface Reader {
  readonly schema: AvroSchema;
  readonly writer: Writer & { readonly fingerprint: Buffer };
}

/** A schema that differs from that of the reader in its documentation alone is the same. */
function writerFor(json: unknown, id: number, { schema, writer }: Reader): Writer {
  try {
    if (json === null) throw new AvroError('not listed');
    const fingerprint = fingerprintOf(json);
    if (fingerprint.equals(writer.fingerprint)) return writer;
    const resolver = resolverFor(writerSchemaFrom(json, schema), schema);
    const decode = (bytes: Buffer) =>
      fitToReader(resolver.decode(bytes, registryHeaderBytes), schema);
    return { decode, fingerprint };
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    const decode = () => {
      throw new AvroError(`written under schema ${id}: ${reason}`);
    };
    return { decode, fingerprint: null };
  }
}

function headerOf(id: number): Buffer {
  const header = Buffer.alloc(registryHeaderBytes);
  header.writeUInt8(magicByte, 0);
  header.writeUInt32BE(id, 1);
  return header;
}

function idOf(bytes: Buffer): number {
  if (bytes.length < registryHeaderBytes) throw new AvroError('shorter than a registry header');
  if (bytes[0] !== magicByte) throw new AvroError(`unknown magic byte ${bytes[0]}`);
  return bytes.readUInt32BE(1);
}

function idOrNull(bytes: Buffer): number | null {
  return bytes.length < registryHeaderBytes || bytes[0] !== magicByte
    ? null
    : bytes.readUInt32BE(1);
}
