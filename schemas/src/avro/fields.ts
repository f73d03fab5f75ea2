import { AvroError, type ByteReader, type ByteWriter } from './bytes.ts';

/** What reads and writes one field. */
export interface FieldPart {
  write(value: unknown, into: ByteWriter): void;
  read(from: ByteReader): unknown;
}

interface NamedPart {
  readonly name: string;
  readonly part: FieldPart;
}

/** Names become source text below; Avro allows no others, and a schema from a registry is not to be trusted. */
const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * A reader of all fields in order, as one object literal. Generated, because filling an empty object by computed names is
 * several times slower and leaves larger objects; a profile of the matcher shows it on top otherwise.
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
