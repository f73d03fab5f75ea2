import { AvroError } from './bytes.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Schemas nest less deep; a registry may hold anything. */
const depthMax = 64;

/**
 * The Parsing Canonical Form of Avro JSON (Avro 1.12, "Transforming into Parsing Canonical Form"): what decides how
 * bytes are read, without documentation, defaults and spelling. Throws `AvroError` for what is not a schema.
 */
export function canonicalForm(json: unknown): string {
  return formOf(json, { namespace: '', depth: 0 });
}

interface Place {
  readonly namespace: string;
  readonly depth: number;
}

const primitives = new Set([
  'null',
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'bytes',
  'string',
]);

function formOf(json: unknown, place: Place): string {
  if (place.depth > depthMax) throw new AvroError('the schema nests too deep');
  const inside = { ...place, depth: place.depth + 1 };
  if (typeof json === 'string') return JSON.stringify(fullName(json, place));
  if (Array.isArray(json)) return `[${json.map((branch) => formOf(branch, inside)).join(',')}]`;
  if (typeof json !== 'object' || json === null) throw new AvroError('not a schema');
  return objectForm(json as JsonObject, inside);
}

function objectForm(json: JsonObject, place: Place): string {
  switch (json['type']) {
    case 'array':
      return `{"type":"array","items":${formOf(json['items'], place)}}`;
    case 'map':
      return `{"type":"map","values":${formOf(json['values'], place)}}`;
    case 'record':
      return namedForm(json, place, (inside) => {
        const fields = listOf(json['fields']).map((field) => fieldForm(field, inside));
        return `"type":"record","fields":[${fields.join(',')}]`;
      });
    case 'enum':
      return namedForm(json, place, () => {
        const symbols = listOf(json['symbols']).map((symbol) => JSON.stringify(symbol));
        return `"type":"enum","symbols":[${symbols.join(',')}]`;
      });
    case 'fixed':
      return namedForm(json, place, () => `"type":"fixed","size":${Number(json['size'])}`);
    default:
      return formOf(json['type'], place);
  }
}

function namedForm(json: JsonObject, place: Place, rest: (inside: Place) => string): string {
  const own = json['namespace'];
  const namespace = typeof own === 'string' ? own : place.namespace;
  const name = fullName(textOf(json['name']), { ...place, namespace });
  const dot = name.lastIndexOf('.');
  const inside = { ...place, namespace: dot < 0 ? '' : name.slice(0, dot) };
  return `{"name":${JSON.stringify(name)},${rest(inside)}}`;
}

function fieldForm(field: unknown, place: Place): string {
  if (typeof field !== 'object' || field === null) throw new AvroError('not a field');
  const { name, type } = field as JsonObject;
  return `{"name":${JSON.stringify(textOf(name))},"type":${formOf(type, place)}}`;
}

function fullName(name: string, { namespace }: Place): string {
  const isFull = primitives.has(name) || name.includes('.') || namespace === '';
  return isFull ? name : `${namespace}.${name}`;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new AvroError('not a list');
  return value;
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new AvroError('not a name');
  return value;
}
