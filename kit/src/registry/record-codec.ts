import {
  AvroError,
  type AvroSchema,
  type Codec,
  compileCodec,
  compileResolver,
  type Infer,
  registryHeaderBytes,
} from '@pm/schemas';
import { assert } from '../assert/index.ts';
import { fitToReader } from './fit.ts';
import { writerSchemaFrom } from './writer-schema.ts';

/** Reads and writes the values of one topic: 5 bytes of registry header, then Avro. */
export interface RecordCodec<T> {
  /** Id of the schema that is written. */
  readonly schemaId: number;
  /** A record value of its own memory. Throws `AvroError` for a value that is not of the schema. */
  encode(value: T): Buffer;
  /**
   * The value. Buffers in it are views of `bytes`. Throws `AvroError` for bytes that cannot be read, ever; a `Fault`
   * (stop) when the writer's schema was not fetched by `prepare` before.
   */
  decode(bytes: Buffer): T;
  /** Whether `decode` can say what these bytes are without asking the registry. */
  knows(bytes: Buffer): boolean;
  /**
   * Fetches the writer's schema when it is not known yet; cached for ever. An id the registry does not know, or one of
   * another kind of record, makes `decode` throw `AvroError`. Throws a `Fault` `registry_unavailable` (retry).
   */
  prepare(bytes: Buffer): Promise<void>;
}

/** Fetches a schema by its id: Avro JSON, or `null` when the registry has none of that id. */
export type FetchSchema = (id: number) => Promise<unknown>;

const MAGIC = 0;

/** Ids kept per topic; a schema changes a few times a year, so more are forged, and the oldest is forgotten. */
const MAX_WRITERS = 256;

type Decode = (bytes: Buffer) => unknown;

/** The codec of a schema registered under `schemaId`. Branches named in `reuse` live until the next decode (`compileCodec`). */
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
  const others = new Map<number, Decode>();
  return {
    schemaId,
    encode(value) {
      const bytes = own.encode(value, registryHeaderBytes);
      header.copy(bytes);
      return bytes;
    },
    decode(bytes) {
      const id = idOf(bytes);
      if (id === schemaId) return own.decode(bytes, registryHeaderBytes);
      const other = others.get(id);
      assert(other !== undefined, `the writer schema ${id} was prepared`);
      return other(bytes);
    },
    knows(bytes) {
      const id = idOrNull(bytes);
      return id === null || id === schemaId || others.has(id);
    },
    async prepare(bytes) {
      if (this.knows(bytes)) return;
      const id = idOf(bytes);
      const decode = decoderFor(await fetchSchema(id), schema, id);
      const [oldest] = others.keys();
      if (others.size >= MAX_WRITERS && oldest !== undefined) others.delete(oldest);
      others.set(id, decode);
    },
  };
}

function decoderFor(json: unknown, reader: AvroSchema, id: number): Decode {
  try {
    if (json === null) throw new AvroError('not in the registry');
    const resolver = resolverFor(writerSchemaFrom(json, reader), reader);
    return (bytes) => fitToReader(resolver.decode(bytes, registryHeaderBytes), reader);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    return () => {
      throw new AvroError(`written under schema ${id}: ${reason}`);
    };
  }
}

function headerOf(id: number): Buffer {
  const header = Buffer.alloc(registryHeaderBytes);
  header.writeUInt8(MAGIC, 0);
  header.writeUInt32BE(id, 1);
  return header;
}

function idOf(bytes: Buffer): number {
  if (bytes.length < registryHeaderBytes) throw new AvroError('shorter than a registry header');
  if (bytes[0] !== MAGIC) throw new AvroError(`unknown magic byte ${bytes[0]}`);
  return bytes.readUInt32BE(1);
}

function idOrNull(bytes: Buffer): number | null {
  return bytes.length < registryHeaderBytes || bytes[0] !== MAGIC ? null : bytes.readUInt32BE(1);
}
