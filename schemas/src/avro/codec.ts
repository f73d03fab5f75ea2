import { AvroError, ByteReader, ByteWriter } from './bytes.ts';
import {
  type FieldPart,
  literalReader,
  memberWriter,
  type PooledReader,
  pooledReader,
} from './fields.ts';
import {
  type AvroArray,
  type AvroEnum,
  type AvroOneOf,
  type AvroRecord,
  type AvroSchema,
  type Infer,
  isNullable,
  oneOfRecord,
} from './schema.ts';

/** Encodes and decodes values of one schema; byte for byte what any Avro library writes. */
export interface Codec<T> {
  /** A new Buffer of its own, after `headerBytes` bytes left for the caller. */
  encode(value: T, headerBytes?: number): Buffer;
  /** Writes the bytes of `encode` after the content of the writer. */
  write(value: T, into: ByteWriter): void;
  /**
   * Decodes the bytes from `offset` to the end. Throws `AvroError` when they are too few, too many or not of the
   * schema.
   */
  decode(bytes: Buffer, offset?: number): T;
}

type Part = FieldPart;

/** An array in one record may not be longer than this: a forged count must not exhaust memory. */
const arrayItemsMax = 1_000_000;

/**
 * Compiles a schema once; the codec is then used for every record. Decoded branches of a `oneOf` that are named in
 * `reuse` live until the next decode: their objects and bytes are filled again then, so that a busy reader allocates
 * nothing.
 */
export function compileCodec<const S extends AvroSchema>(
  schema: S,
  reuse: readonly string[] = [],
): Codec<Infer<S>> {
  const pools = new Pools(reuse);
  return codecOf(compile(schema, pools), pools) as unknown as Codec<Infer<S>>;
}

/** The readers of branches that are used again, of one codec. */
class Pools {
  readonly #names: ReadonlySet<string>;
  readonly #readers: PooledReader[] = [];

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  add(reader: PooledReader): PooledReader {
    this.#readers.push(reader);
    return reader;
  }

  rewind(): void {
    for (const reader of this.#readers) reader.rewind();
  }
}

const noPools = new Pools([]);

function codecOf(part: Part, pools: Pools): Codec<unknown> {
  const writer = new ByteWriter();
  return {
    encode(value, headerBytes = 0) {
      writer.position = 0;
      writer.reserve(headerBytes);
      writer.position = headerBytes;
      part.write(value, writer);
      return Buffer.from(writer.buffer.subarray(0, writer.position));
    },
    write: (value, into) => part.write(value, into),
    decode(bytes, offset = 0) {
      pools.rewind();
      const reader = new ByteReader(bytes, offset);
      const value = part.read(reader);
      if (reader.remaining !== 0) throw new AvroError(`${reader.remaining} bytes left over`);
      return value;
    },
  };
}

/**
 * A decoder for records written under another version of the schema: it reads what the writer wrote and fills the
 * fields that the writer did not know with their defaults. FULL_TRANSITIVE allows no other difference.
 */
export function compileResolver<const S extends AvroSchema>(
  writerSchema: AvroSchema,
  readerSchema: S,
): Pick<Codec<Infer<S>>, 'decode'> {
  const codec = codecOf(compile(writerSchema, noPools), noPools);
  const resolver: Pick<Codec<unknown>, 'decode'> = {
    decode: (bytes, offset = 0) => fillDefaults(codec.decode(bytes, offset), readerSchema),
  };
  return resolver as unknown as Pick<Codec<Infer<S>>, 'decode'>;
}

function fillDefaults(value: unknown, schema: AvroSchema): unknown {
  if (value === null || typeof schema === 'string') return value;
  if (isNullable(schema)) return fillDefaults(value, schema[1]);
  if (schema.type === 'array') {
    return (value as readonly unknown[]).map((item) => fillDefaults(item, schema.items));
  }
  if (schema.type === 'oneOf') {
    const branch = schema.branches.find((one) => one.name === (value as { kind: string }).kind);
    return branch === undefined ? value : fillDefaults(value, branch);
  }
  if (schema.type !== 'record') return value;
  const filled: Record<string, unknown> = { ...(value as Record<string, unknown>) };
  for (const field of schema.fields) {
    filled[field.name] =
      field.name in filled ? fillDefaults(filled[field.name], field.type) : field.default;
  }
  return filled;
}

const primitives: Record<string, Part> = {
  int: { write: (value, into) => into.writeLong(value as number), read: (from) => from.readLong() },
  long: {
    write: (value, into) => into.writeLong(value as number),
    read: (from) => from.readLong(),
  },
  double: {
    write: (value, into) => into.writeDouble(value as number),
    read: (from) => from.readDouble(),
  },
  string: {
    write: (value, into) => into.writeText(value as string),
    read: (from) => from.readText(),
  },
  boolean: {
    write(value, into) {
      into.reserve(1);
      into.buffer[into.position++] = value === true ? 1 : 0;
    },
    read(from) {
      const byte = from.readByte();
      if (byte > 1) throw new AvroError(`not a boolean: ${byte}`);
      return byte === 1;
    },
  },
  bytes: {
    write(value, into) {
      into.writeLong((value as Buffer).length);
      into.writeBytes(value as Buffer);
    },
    read: (from) => from.readView(from.readLong()),
  },
};

function compile(schema: AvroSchema, pools: Pools): Part {
  if (typeof schema === 'string') {
    const part = primitives[schema];
    if (part === undefined) throw new AvroError(`no such type: ${schema}`);
    return part;
  }
  if (isNullable(schema)) return compileNullable(compile(schema[1], pools));
  switch (schema.type) {
    case 'fixed':
      return compileFixed(schema.name, schema.size);
    case 'enum':
      return compileEnum(schema);
    case 'array':
      return compileArray(schema, pools);
    case 'record':
      return compileRecord(schema, pools);
    case 'oneOf':
      return compileOneOf(schema, pools);
  }
}

function compileNullable(inner: Part): Part {
  return {
    write(value, into) {
      into.reserve(1);
      into.buffer[into.position++] = value === null ? 0 : 2;
      if (value !== null) inner.write(value, into);
    },
    read(from) {
      const branch = from.readByte();
      if (branch === 0) return null;
      if (branch !== 2) throw new AvroError(`no such branch: ${branch}`);
      return inner.read(from);
    },
  };
}

function compileFixed(name: string, size: number): Part {
  return {
    write(value, into) {
      const bytes = value as Buffer;
      if (bytes.length !== size)
        throw new AvroError(`${name} has ${size} bytes, not ${bytes.length}`);
      into.writeBytes(bytes);
    },
    read: (from) => from.readView(size),
    fill: (from, into) => from.readInto(into),
  };
}

function compileEnum(schema: AvroEnum): Part {
  const indexes = new Map(schema.symbols.map((symbol, index) => [symbol, index]));
  return {
    write(value, into) {
      const index = indexes.get(value as string);
      if (index === undefined) throw new AvroError(`${schema.name} has no ${String(value)}`);
      into.writeLong(index);
    },
    read: (from) => schema.symbols[from.readLong()] ?? schema.default,
  };
}

function compileArray(schema: AvroArray, pools: Pools): Part {
  const inner = compile(schema.items, pools);
  return {
    write(value, into) {
      const items = value as readonly unknown[];
      if (items.length > 0) into.writeLong(items.length);
      for (const item of items) inner.write(item, into);
      into.writeLong(0);
    },
    read(from) {
      const items: unknown[] = [];
      for (let count = from.readLong(); count !== 0; count = from.readLong()) {
        const block = count < 0 ? -count : count;
        if (count < 0) from.readLong();
        if (items.length + block > arrayItemsMax) throw new AvroError('too many items');
        for (let index = 0; index < block; index += 1) items.push(inner.read(from));
      }
      return items;
    },
  };
}

const partsOf = (schema: AvroRecord, pools: Pools) =>
  schema.fields.map((field) => ({ name: field.name, part: compile(field.type, pools) }));

function compileRecord(schema: AvroRecord, pools: Pools): Part {
  const fields = partsOf(schema, pools);
  return { write: memberWriter(fields), read: literalReader(fields, '') };
}

/** On the wire a record of nullable fields; in memory the one that is set, with its name as `kind`. */
function compileOneOf(schema: AvroOneOf, pools: Pools): Part {
  const wire = oneOfRecord(schema);
  const branches = schema.branches.map((branch) => compileBranch(branch, pools));
  const indexes = new Map(schema.branches.map((branch, index) => [branch.name, index]));
  return {
    write(value, into) {
      const chosen = indexes.get((value as { kind: string }).kind);
      if (chosen === undefined) {
        throw new AvroError(`${wire.name} has no ${(value as { kind: string }).kind}`);
      }
      writeZeros(into, chosen);
      into.reserve(1);
      into.buffer[into.position++] = 2;
      branches[chosen]?.write(value, into);
      writeZeros(into, branches.length - chosen - 1);
    },
    read: (from) => readOneOf(wire, branches, from),
  };
}

/** Branches that are not set. */
function writeZeros(into: ByteWriter, count: number): void {
  into.reserve(count);
  for (let index = 0; index < count; index += 1) into.buffer[into.position++] = 0;
}

function readOneOf(wire: AvroRecord, branches: readonly Part[], from: ByteReader): unknown {
  let found: unknown;
  for (const branch of branches) {
    const mark = from.readByte();
    if (mark === 0) continue;
    if (mark !== 2 || found !== undefined) throw new AvroError(`${wire.name} is not exactly one`);
    found = branch.read(from);
  }
  if (found === undefined) throw new AvroError(`${wire.name} is of a kind not known here`);
  return found;
}

/** Like a record, but starting with `kind`, so that all values of one branch share a shape. */
function compileBranch(schema: AvroRecord, pools: Pools): Part {
  const fields = partsOf(schema, pools);
  const head = `kind: ${JSON.stringify(schema.name)}, `;
  const write = memberWriter(fields);
  if (!pools.has(schema.name)) return { write, read: literalReader(fields, head) };
  const pooled = pools.add(pooledReader(fields, head));
  return { write, read: (from) => pooled.read(from) };
}
