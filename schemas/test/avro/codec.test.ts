import { Type } from 'avsc';
import fc from 'fast-check';
import { runLength } from '../../../kit/test/long-runs.ts';
import { compileCodec, compileResolver } from '../../src/avro/codec.ts';
import {
  type AvroOneOf,
  type AvroSchema,
  branchField,
  isNullable,
  toAvroJson,
} from '../../src/avro/schema.ts';
import { topics } from '../../src/log/topics.ts';

/** The judge computes zig-zag in doubles and is exact only so far; beyond, our own round trip is tested below. */
const judgeLongMax = 2 ** 52 - 1;

/** Values of each topic that are written and read. */
const values = runLength({ test: 30, deep: 300 });

/** Any value of a schema. */
function anyOf(schema: AvroSchema): fc.Arbitrary<unknown> {
  if (isNullable(schema)) return fc.option(anyOf(schema[1]), { nil: null });
  if (typeof schema === 'string') return primitiveOf(schema);
  switch (schema.type) {
    case 'fixed':
      return bytesOf(schema.size, schema.size);
    case 'enum':
      return fc.constantFrom(...schema.symbols);
    case 'array':
      return fc.array(anyOf(schema.items), { maxLength: 4 });
    case 'record':
      return fc.record(
        Object.fromEntries(schema.fields.map((field) => [field.name, anyOf(field.type)])),
      );
    case 'oneOf':
      return fc.oneof(
        ...schema.branches.map((branch) =>
          anyOf(branch).map((value) => ({ kind: branch.name, ...(value as object) })),
        ),
      );
  }
}

function primitiveOf(type: string): fc.Arbitrary<unknown> {
  if (type === 'int') return fc.integer();
  if (type === 'long') return fc.integer({ min: -judgeLongMax, max: judgeLongMax });
  if (type === 'boolean') return fc.boolean();
  if (type === 'double') return fc.double({ noNaN: true });
  if (type === 'string') return fc.string({ unit: 'binary' });
  return bytesOf(0, 40);
}

function bytesOf(min: number, max: number): fc.Arbitrary<Buffer> {
  return fc.uint8Array({ minLength: min, maxLength: max }).map((bytes) => Buffer.from(bytes));
}

/** Our value as the judge wants it: a `oneOf` as a record of nullable fields, unions wrapped by name. */
function forJudge(value: unknown, schema: AvroSchema): unknown {
  if (isNullable(schema)) return value === null ? null : forJudge(value, schema[1]);
  if (typeof schema === 'string' || schema.type === 'fixed' || schema.type === 'enum') return value;
  if (schema.type === 'array') {
    return (value as unknown[]).map((item) => forJudge(item, schema.items));
  }
  if (schema.type === 'oneOf') return oneOfForJudge(value as { kind: string }, schema);
  const record = value as Record<string, unknown>;
  return Object.fromEntries(
    schema.fields.map((field) => [field.name, forJudge(record[field.name], field.type)]),
  );
}

function oneOfForJudge(value: { kind: string }, schema: AvroOneOf): unknown {
  return Object.fromEntries(
    schema.branches.map((branch) => [
      branchField(branch),
      branch.name === value.kind ? forJudge(value, branch) : null,
    ]),
  );
}

/** The branches of every `oneOf` inside of a schema. */
function branchNames(schema: AvroSchema): string[] {
  if (isNullable(schema)) return branchNames(schema[1]);
  if (typeof schema === 'string') return [];
  if (schema.type === 'array') return branchNames(schema.items);
  if (schema.type === 'record') return schema.fields.flatMap(({ type }) => branchNames(type));
  return schema.type === 'oneOf' ? schema.branches.map(({ name }) => name) : [];
}

describe.each(Object.values(topics))('the codec of topic $name', (topic) => {
  const codec = compileCodec<AvroSchema>(topic.value);
  const judge = Type.forSchema(toAvroJson(topic.value) as never, { wrapUnions: 'never' } as never);

  test('has no empty braces, in which the registry does not recognise a schema', () => {
    expect(JSON.stringify(toAvroJson(topic.value))).not.toContain('{}');
  });

  test('writes byte for byte what avsc writes and reads it back', () => {
    fc.assert(
      fc.property(anyOf(topic.value), (value) => {
        const bytes = codec.encode(value);
        const expected = judge.toBuffer(forJudge(value, topic.value));
        expect(bytes.equals(expected)).toBe(true);
        expect(codec.decode(bytes)).toEqual(value);
      }),
      { numRuns: values },
    );
  });

  test('reads the same into reused memory, also after bytes that were cut short', () => {
    const again = compileCodec<AvroSchema>(topic.value, branchNames(topic.value));
    fc.assert(
      fc.property(fc.array(anyOf(topic.value), { maxLength: 5 }), (values) => {
        for (const value of values) {
          const bytes = codec.encode(value);
          expect(() => again.decode(bytes.subarray(0, bytes.length - 1))).toThrow();
          expect(again.decode(bytes)).toEqual(value);
        }
      }),
      { numRuns: Math.ceil(values / 6) },
    );
  });

  test('refuses bytes that are cut short', () => {
    fc.assert(
      fc.property(
        anyOf(topic.value),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (value, part) => {
          const bytes = codec.encode(value);
          const cut = bytes.subarray(0, Math.floor(bytes.length * part));
          expect(() => codec.decode(cut)).toThrow();
        },
      ),
      { numRuns: Math.ceil(values / 3) },
    );
  });

  test('never fails on any bytes but with an AvroError', () => {
    fc.assert(
      fc.property(bytesOf(0, 300), (bytes) => {
        try {
          codec.decode(bytes);
        } catch (error) {
          expect((error as Error).name).toBe('AvroError');
        }
      }),
      { numRuns: Math.ceil((values * 5) / 3) },
    );
  });
});

test('longs come back exact over the whole range of safe integers', () => {
  const codec = compileCodec('long');
  fc.assert(
    fc.property(fc.maxSafeInteger(), (value) => {
      expect(codec.decode(codec.encode(value))).toBe(value);
    }),
  );
});

describe('a resolver', () => {
  const older = {
    type: 'record',
    name: 'R',
    doc: '',
    fields: [{ name: 'a', type: 'int', doc: '' }],
  } as const;
  const newer = {
    ...older,
    fields: [...older.fields, { name: 'b', type: ['null', 'string'], doc: '', default: null }],
  } as const;

  test('fills what the older writer did not know with its default', () => {
    const bytes = compileCodec(older).encode({ a: 7 });
    expect(compileResolver(older, newer).decode(bytes)).toEqual({ a: 7, b: null });
  });
});

test.each(['a b', '__proto__', "x'];process.exit(1);//", '', '1a', 'a-b'])(
  'a schema with a field called %p is refused, since names become source text',
  (name) => {
    const schema = { type: 'record', name: 'R', doc: '', fields: [{ name, type: 'int', doc: '' }] };
    expect(() => compileCodec(schema as AvroSchema)).toThrow('not a field name');
  },
);
