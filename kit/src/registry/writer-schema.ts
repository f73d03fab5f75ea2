import { AvroError } from '@pm/schemas/avro/bytes';
import type { AvroSchema } from '@pm/schemas/avro/schema';

type AvroRecord = Extract<AvroSchema, { readonly type: 'record' }>;
type AvroOneOf = Extract<AvroSchema, { readonly type: 'oneOf' }>;
type AvroEnum = Extract<AvroSchema, { readonly type: 'enum' }>;
type JsonObject = Readonly<Record<string, unknown>>;

/** Schemas nest less deep; a registry may hold anything. */
const maxDepth = 32;

const primitives = new Set(['int', 'long', 'boolean', 'double', 'string', 'bytes']);

/**
 * The schema of another version in our form: the registry's Avro JSON, read side by side with the reader's schema,
 * which distinguishes a `oneOf` from a record. Symbols of an enum that the reader does not know become its default,
 * as Avro's resolution says. Throws `AvroError` when the two are not versions of one schema.
 */
export function writerSchemaFrom(json: unknown, reader: AvroSchema): AvroSchema {
  const named = new Map<string, JsonObject>();
  collectNamed(json, named, 0);
  return convert(json, reader, { named, depth: 0 });
}

interface Place {
  readonly named: ReadonlyMap<string, JsonObject>;
  readonly depth: number;
}

function deeper(place: Place): Place {
  if (place.depth >= maxDepth) throw new AvroError('the writer schema nests too deep');
  return { ...place, depth: place.depth + 1 };
}

/** Named types are written in full once and by name afterwards; names are unique, namespaces are ours or none. */
function collectNamed(json: unknown, named: Map<string, JsonObject>, depth: number): void {
  if (depth > maxDepth) throw new AvroError('the writer schema nests too deep');
  if (Array.isArray(json)) {
    for (const branch of json) collectNamed(branch, named, depth + 1);
    return;
  }
  if (!isObject(json)) return;
  const name = json['name'];
  if (typeof name === 'string' && json['type'] !== undefined) named.set(lastName(name), json);
  collectNamed(json['items'], named, depth + 1);
  for (const field of fieldsOf(json)) collectNamed(field['type'], named, depth + 1);
}

function convert(json: unknown, reader: AvroSchema | null, place: Place): AvroSchema {
  if (typeof json === 'string') return convertName(json, reader, place);
  if (Array.isArray(json)) return convertUnion(json, reader, place);
  if (!isObject(json)) throw new AvroError('the writer schema is not Avro');
  switch (json['type']) {
    case 'record':
      return convertRecord(json, reader, deeper(place));
    case 'array':
      return convertArray(json, reader, deeper(place));
    case 'enum':
      return convertEnum(json, reader);
    case 'fixed':
      return convertFixed(json, reader);
    default:
      return convert(json['type'], reader, deeper(place));
  }
}

function convertName(name: string, reader: AvroSchema | null, place: Place): AvroSchema {
  if (primitives.has(name)) {
    const fits = reader === null || name === reader || (name === 'int' && reader === 'long');
    if (!fits) throw new AvroError(`the writer has ${name} where the reader has another type`);
    return name as AvroSchema;
  }
  const found = place.named.get(lastName(name));
  if (found === undefined) throw new AvroError(`the writer schema has no type ${name}`);
  return convert(found, reader, deeper(place));
}

function convertUnion(
  json: readonly unknown[],
  reader: AvroSchema | null,
  place: Place,
): AvroSchema {
  if (json.length !== 2 || json[0] !== 'null') throw new AvroError('a union that is not nullable');
  if (reader !== null && !isNullable(reader)) throw new AvroError('a nullable the reader has not');
  return ['null', convert(json[1], reader === null ? null : reader[1], deeper(place))];
}

function convertRecord(json: JsonObject, reader: AvroSchema | null, place: Place): AvroSchema {
  if (reader === null) return plainRecord(json, () => null, place);
  if (isKind(reader, 'oneOf')) return convertOneOf(json, reader, place);
  if (!isKind(reader, 'record')) throw new AvroError('a record where the reader has none');
  return versionOf(reader, json, place);
}

/** The record as written, next to the reader's of the same name; what only the reader has must have a default. */
function versionOf(reader: AvroRecord, json: JsonObject, place: Place): AvroRecord {
  const types = new Map(reader.fields.map((field) => [field.name, field.type]));
  const record = plainRecord(json, (name) => types.get(name) ?? null, place);
  if (record.name !== reader.name) throw new AvroError(`${record.name} is not ${reader.name}`);
  const written = new Set(record.fields.map((field) => field.name));
  const lacking = reader.fields.find((field) => !written.has(field.name) && !('default' in field));
  if (lacking !== undefined) throw new AvroError(`${record.name} has no ${lacking.name}`);
  return record;
}

function plainRecord(
  json: JsonObject,
  readerOf: (field: string) => AvroSchema | null,
  place: Place,
): AvroRecord {
  const fields = fieldsOf(json).map((field) => {
    const name = textOf(field, 'name');
    return { name, type: convert(field['type'], readerOf(name), place), doc: '' };
  });
  return { type: 'record', name: lastName(textOf(json, 'name')), doc: '', fields };
}

/** On the wire a `oneOf` is a record of nullable records; each of those is a branch under its own name. */
function convertOneOf(json: JsonObject, reader: AvroOneOf, place: Place): AvroOneOf {
  const known = new Map(reader.branches.map((branch) => [branch.name, branch]));
  const branches = fieldsOf(json).map((field) => {
    const branch = branchOf(field['type'], place);
    const reads = known.get(branch.name);
    if (reads === undefined) return plainRecord(branch.json, () => null, place);
    return versionOf(reads, branch.json, place);
  });
  if (lastName(textOf(json, 'name')) !== reader.name) throw new AvroError(`not ${reader.name}`);
  return { type: 'oneOf', name: reader.name, doc: '', branches };
}

function branchOf(
  type: unknown,
  place: Place,
): { readonly name: string; readonly json: JsonObject } {
  const inner: unknown = Array.isArray(type) && type.length === 2 ? type[1] : null;
  const json = typeof inner === 'string' ? place.named.get(lastName(inner)) : inner;
  if (!isObject(json) || json['type'] !== 'record') throw new AvroError('a oneOf of other things');
  return { name: lastName(textOf(json, 'name')), json };
}

function convertArray(json: JsonObject, reader: AvroSchema | null, place: Place): AvroSchema {
  if (reader !== null && !isKind(reader, 'array')) {
    throw new AvroError('an array where the reader has none');
  }
  return { type: 'array', items: convert(json['items'], reader?.items ?? null, place) };
}

function convertEnum(json: JsonObject, reader: AvroSchema | null): AvroEnum {
  if (reader !== null && !isKind(reader, 'enum')) {
    throw new AvroError('an enum where the reader has none');
  }
  const written: unknown = json['symbols'];
  if (!Array.isArray(written)) throw new AvroError('an enum without symbols');
  const symbols = written.map((symbol) => {
    const text = String(symbol);
    return reader === null || reader.symbols.includes(text) ? text : reader.default;
  });
  const fallback = reader?.default ?? symbols[0] ?? '';
  return { type: 'enum', name: lastName(textOf(json, 'name')), symbols, default: fallback };
}

function convertFixed(json: JsonObject, reader: AvroSchema | null): AvroSchema {
  const size = json['size'];
  const sound = typeof size === 'number' && Number.isSafeInteger(size) && size >= 0;
  if (!sound) throw new AvroError('a fixed without a size');
  if (reader !== null && !(isKind(reader, 'fixed') && reader.size === size)) {
    throw new AvroError('a fixed of another size');
  }
  return { type: 'fixed', name: lastName(textOf(json, 'name')), size };
}

type Kind = 'record' | 'array' | 'enum' | 'fixed' | 'oneOf';

function isKind<K extends Kind>(
  schema: AvroSchema,
  kind: K,
): schema is Extract<AvroSchema, { readonly type: K }> {
  return typeof schema === 'object' && 'type' in schema && schema.type === kind;
}

/** Whether the schema is `['null', X]`. */
export function isNullable(schema: AvroSchema): schema is readonly ['null', AvroSchema] {
  return Array.isArray(schema);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldsOf(json: JsonObject): readonly JsonObject[] {
  const fields = json['fields'];
  return Array.isArray(fields) ? fields.filter(isObject) : [];
}

function textOf(json: JsonObject, name: string): string {
  const value = json[name];
  if (typeof value !== 'string') throw new AvroError(`the writer schema lacks a ${name}`);
  return value;
}

function lastName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}
