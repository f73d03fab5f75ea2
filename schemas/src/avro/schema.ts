/**
 * Avro schemas as constants, and the TypeScript types that follow from them. The subset is what the log needs: int,
 * long, boolean, double, string, bytes, fixed, enum, array, record, a nullable anything, and `oneOf`.
 *
 * A `oneOf` is a record whose fields are all nullable records of which exactly one is set. It represents a union,
 * because a union of records may never gain a branch under FULL_TRANSITIVE, while a record may always gain a nullable
 * field.
 */
export type AvroPrimitive = 'int' | 'long' | 'boolean' | 'double' | 'string' | 'bytes';

export interface AvroFixed {
  readonly type: 'fixed';
  readonly name: string;
  readonly size: number;
  readonly doc?: string;
}

export interface AvroEnum {
  readonly type: 'enum';
  readonly name: string;
  readonly symbols: readonly string[];
  /** Symbol that a reader takes in place of a symbol that it does not know yet. */
  readonly default: string;
  readonly doc?: string;
}

export interface AvroArray {
  readonly type: 'array';
  readonly items: AvroSchema;
}

export interface AvroField {
  readonly name: string;
  readonly type: AvroSchema;
  readonly doc: string;
  readonly default?: unknown;
}

export interface AvroRecord {
  readonly type: 'record';
  readonly name: string;
  readonly doc: string;
  readonly fields: readonly AvroField[];
}

export interface AvroOneOf {
  readonly type: 'oneOf';
  readonly name: string;
  readonly doc: string;
  readonly branches: readonly AvroRecord[];
}

/** `['null', X]`, the only union used. */
export type AvroNullable = readonly ['null', AvroSchema];

export type AvroSchema =
  | AvroPrimitive
  | AvroFixed
  | AvroEnum
  | AvroArray
  | AvroRecord
  | AvroOneOf
  | AvroNullable;

/**
 * The value type of a schema: longs are safe integers, fixed and bytes are Buffers, `oneOf` is a union by `kind`. Of
 * a schema that the compiler does not know, it is `unknown`.
 */
export type Infer<S> = [AvroSchema] extends [S] ? unknown : InferKnown<S>;

type InferKnown<S> = S extends 'int' | 'long' | 'double'
  ? number
  : S extends 'boolean'
    ? boolean
    : S extends 'string'
      ? string
      : S extends 'bytes' | { type: 'fixed' }
        ? Buffer
        : S extends { type: 'enum'; symbols: readonly (infer Symbol)[] }
          ? Symbol
          : S extends { type: 'array'; items: infer Items }
            ? readonly Infer<Items>[]
            : S extends { type: 'record'; fields: infer Fields }
              ? InferFields<Fields>
              : S extends { type: 'oneOf'; branches: readonly (infer Branch)[] }
                ? InferBranch<Branch>
                : S extends readonly ['null', infer Inner]
                  ? Infer<Inner> | null
                  : never;

type InferFields<Fields> = Fields extends readonly (infer Field)[]
  ? {
      readonly [F in Field as F extends { name: infer Name extends string }
        ? Name
        : never]: F extends {
        type: infer Type;
      }
        ? Infer<Type>
        : never;
    }
  : never;

type InferBranch<Branch> = Branch extends { type: 'record'; name: infer Name; fields: infer Fields }
  ? { readonly kind: Name } & InferFields<Fields>
  : never;

/** `PlaceOrder` is carried in the field `placeOrder`. */
export function branchField(branch: AvroRecord): string {
  return branch.name.charAt(0).toLowerCase() + branch.name.slice(1);
}

/** A `oneOf` as the plain Avro record it is on the wire. */
export function oneOfRecord(schema: AvroOneOf): AvroRecord {
  const fields = schema.branches.map((branch) => ({
    name: branchField(branch),
    type: ['null', branch] as const,
    doc: branch.doc,
    default: null,
  }));
  return { type: 'record', name: schema.name, doc: schema.doc, fields };
}

const namespace = 'exchange';

/**
 * The schema as Avro JSON: a named type is written in full the first time and by its name afterwards, as Avro requires.
 */
export function toAvroJson(schema: AvroSchema): unknown {
  return convert(schema, new Set());
}

function convert(schema: AvroSchema, seen: Set<string>): unknown {
  if (typeof schema === 'string') return schema;
  if (isNullable(schema)) return ['null', convert(schema[1], seen)];
  if (schema.type === 'array') return { type: 'array', items: convert(schema.items, seen) };
  if (seen.has(schema.name)) return `${namespace}.${schema.name}`;
  seen.add(schema.name);
  if (schema.type === 'oneOf') return convertRecord(oneOfRecord(schema), seen);
  if (schema.type === 'record') return convertRecord(schema, seen);
  return { ...schema, namespace };
}

function convertRecord(schema: AvroRecord, seen: Set<string>): unknown {
  const fields = schema.fields.map((field) => ({ ...field, type: convert(field.type, seen) }));
  return { type: 'record', name: schema.name, namespace, doc: schema.doc, fields };
}

/** Whether the schema is `['null', X]`. */
export function isNullable(schema: AvroSchema): schema is AvroNullable {
  return Array.isArray(schema);
}
