import { AvroError, type ByteReader, type ByteWriter } from './bytes.ts';

/** Writer and reader of one field. */
export interface FieldPart {
  write(value: unknown, into: ByteWriter): void;
  read(from: ByteReader): unknown;
  /** For bytes of a fixed length: reads them into a Buffer of that length. */
  readonly fill?: (from: ByteReader, into: Buffer) => void;
}

interface NamedPart {
  readonly name: string;
  readonly part: FieldPart;
}

/** Names become source text below; Avro allows no others, and a schema from a registry is not to be trusted. */
const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * A reader of all fields in order, as one object literal. Generated, because filling an empty object by computed
 * names is several times slower and leaves larger objects; a profile of the matcher shows it on top otherwise.
 */
export function literalReader(
  fields: readonly NamedPart[],
  head: string,
): (from: ByteReader) => unknown {
  const members = fields.map(({ name }, index) => `${checked(name)}: p${index}.read(from)`);
  return generated(fields, `return (from) => ({ ${head}${members.join(', ')} });`) as (
    from: ByteReader,
  ) => unknown;
}

/**
 * A reader like `literalReader` that fills objects and Buffers it gave out before, from the first one again after each
 * `rewind`: nothing is allocated once there are enough of them. More than `pooledMax` are objects of their own.
 */
export function pooledReader(fields: readonly NamedPart[], head: string): PooledReader {
  const fresh = literalReader(fields, head) as (from: ByteReader) => Record<string, unknown>;
  const fixed = fields.filter(({ part }) => part.fill !== undefined).map(({ name }) => name);
  const refill = refiller(fields);
  const pool: Record<string, unknown>[] = [];
  let used = 0;
  return {
    read(from) {
      const known = pool[used];
      if (known !== undefined) {
        refill(from, known);
        used += 1;
        return known;
      }
      const made = fresh(from);
      if (used >= pooledMax) return made;
      // The bytes that were read are a view of a record; they are copied into memory that later reads fill.
      for (const name of fixed) made[name] = Buffer.from(made[name] as Buffer);
      used = pool.push(made);
      return made;
    },
    rewind() {
      used = 0;
    },
  };
}

export interface PooledReader {
  read(from: ByteReader): unknown;
  /** Gives up all values that were read. */
  rewind(): void;
}

/** Objects kept for reading: more commands than that are in no envelope of ours. */
const pooledMax = 4_096;

function refiller(fields: readonly NamedPart[]): (from: ByteReader, into: object) => void {
  const steps = fields.map(({ name, part }, index) =>
    part.fill === undefined
      ? `into.${checked(name)} = p${index}.read(from);`
      : `p${index}.fill(from, into.${checked(name)});`,
  );
  return generated(fields, `return (from, into) => { ${steps.join(' ')} };`) as (
    from: ByteReader,
    into: object,
  ) => void;
}

/** A writer of all fields in order. */
export function memberWriter(
  fields: readonly NamedPart[],
): (value: unknown, into: ByteWriter) => void {
  const calls = fields.map(({ name }, index) => `p${index}.write(value.${checked(name)}, into);`);
  return generated(fields, `return (value, into) => { ${calls.join(' ')} };`) as (
    value: unknown,
    into: ByteWriter,
  ) => void;
}

function generated(fields: readonly NamedPart[], body: string): unknown {
  const names = fields.map((_, index) => `p${index}`);
  const make = new Function(...names, `'use strict'; ${body}`);
  return make(...fields.map(({ part }) => part));
}

function checked(name: string): string {
  if (!plainName.test(name) || name === '__proto__')
    throw new AvroError(`not a field name: ${name}`);
  return name;
}
