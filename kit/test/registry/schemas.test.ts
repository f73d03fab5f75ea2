import { AvroError } from '@pm/schemas/avro/bytes';
import { toAvroJson } from '@pm/schemas/avro/schema';
import type { Envelope } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import { Fault } from '../../src/fault/index.ts';
import { readValue } from '../../src/registry/read-value.io.ts';
import { Schemas } from '../../src/registry/schemas.io.ts';
import { ownListings, ownSchemas } from './own-schemas.ts';

const envelope: Envelope = {
  signature: Buffer.alloc(64, 1),
  keyId: Buffer.alloc(8, 2),
  partition: 3,
  sequence: 4,
  commands: [{ kind: 'Tick', term: 0, timeMs: 5 }],
};

describe('a codec', () => {
  test('writes the header of its own id and reads back what it wrote', async () => {
    const codec = await ownSchemas().codecFor(topics.orders);
    const bytes = codec.encode(envelope);
    expect(bytes.subarray(0, 5)).toEqual(Buffer.from([0, 0, 0, 0, 1]));
    expect(codec.schemaId).toBe(1);
    expect(codec.decode(bytes)).toEqual(envelope);
    expect(codec.knows(bytes)).toBe(true);
  });

  test('gives each record its own memory', async () => {
    const codec = await ownSchemas().codecFor(topics.orders);
    const first = codec.encode(envelope);
    const copy = Buffer.from(first);
    codec.encode({ ...envelope, partition: 9, keyId: Buffer.alloc(8, 9) });
    expect(first).toEqual(copy);
  });

  test.each([
    ['nothing', []],
    ['less than a header', [0, 0, 0, 0]],
    ['another magic byte', [1, 0, 0, 0, 1, 0]],
    ['a header alone', [0, 0, 0, 0, 1]],
    ['a body cut short', [0, 0, 0, 0, 1, 7, 7]],
  ])('refuses %s as unreadable, for ever', async (_, bytes) => {
    const codec = await ownSchemas().codecFor(topics.orders);
    const value = Buffer.from(bytes);
    expect(codec.knows(value)).toBe(true);
    expect(() => codec.decode(value)).toThrow(AvroError);
    await expect(codec.prepare(value)).resolves.toBeUndefined();
  });

  test('refuses bytes left over', async () => {
    const codec = await ownSchemas().codecFor(topics.orders);
    const value = Buffer.concat([codec.encode(envelope), Buffer.alloc(1)]);
    expect(() => codec.decode(value)).toThrow(AvroError);
  });

  test('says that an id was never looked up instead of guessing', async () => {
    const codec = await ownSchemas().codecFor(topics.orders);
    const bytes = codec.encode(envelope);
    bytes.writeUInt32BE(77, 1);
    expect(codec.knows(bytes)).toBe(false);
    expect(() => codec.decode(bytes)).toThrow(/broken_assumption.*77/);
  });

  test('refuses an id that is not listed, once it was looked up', async () => {
    const codec = await ownSchemas().codecFor(topics.orders);
    const bytes = codec.encode(envelope);
    bytes.writeUInt32BE(77, 1);
    await codec.prepare(bytes);
    expect(codec.knows(bytes)).toBe(true);
    expect(() => codec.decode(bytes)).toThrow(AvroError);
  });

  test('refuses records of another topic', async () => {
    const schemas = ownSchemas();
    const orders = await schemas.codecFor(topics.orders);
    const executions = await schemas.codecFor(topics.executions);
    const bytes = orders.encode(envelope);
    await executions.prepare(bytes);
    expect(() => executions.decode(bytes)).toThrow(AvroError);
  });

  test('reads a topic whose records name their schema', async () => {
    const bytes = (await ownSchemas().codecFor(topics.orders)).encode(envelope);
    const reader = ownSchemas().readerFor(topics.orders);
    expect(reader.knows(bytes)).toBe(false);
    await reader.prepare(bytes);
    expect(reader.decode(bytes)).toEqual(envelope);
  });

  test('keeps the fault of a look, and looks again', async () => {
    const schemas = ownSchemas();
    const codec = await schemas.codecFor(topics.orders);
    const bytes = codec.encode(envelope);
    bytes.writeUInt32BE(77, 1);
    schemas.onUnknown(() => Promise.reject(new Fault('away', 'retry')));
    await expect(codec.prepare(bytes)).rejects.toMatchObject({ code: 'away' });
    expect(codec.knows(bytes)).toBe(false);
    const schema = JSON.stringify(toAvroJson(topics.orders.value));
    schemas.onUnknown(async () => schemas.learn({ topic: 'orders', schemaId: 77, schema }));
    await codec.prepare(bytes);
    expect(codec.decode(bytes)).toEqual(envelope);
  });

  test('remembers at most 256 other writers', async () => {
    const codec = await ownSchemas().codecFor(topics.orders);
    const bytes = codec.encode(envelope);
    const forged = (id: number) => {
      const copy = Buffer.from(bytes);
      copy.writeUInt32BE(id, 1);
      return copy;
    };
    for (let id = 1_000; id < 1_257; id += 1) await codec.prepare(forged(id));
    expect([codec.knows(forged(1_000)), codec.knows(forged(1_001))]).toEqual([false, true]);
  });
});

describe('reading the value of a record', () => {
  const refuse = (cause: AvroError): never => {
    throw new Fault('order_unreadable', 'stop', { cause });
  };

  test('returns the value itself when its schema is known', async () => {
    const codec = await ownSchemas().codecFor(topics.orders);
    expect(readValue(codec, codec.encode(envelope), refuse)).toEqual(envelope);
  });

  test('waits only when the schema is not known yet', async () => {
    const bytes = (await ownSchemas().codecFor(topics.orders)).encode(envelope);
    const reader = ownSchemas().readerFor(topics.orders);
    const first = readValue(reader, bytes, refuse);
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toEqual(envelope);
    expect(readValue(reader, bytes, refuse)).toEqual(envelope);
  });

  test('hands what can never be read to its caller, who throws or skips', async () => {
    const codec = await ownSchemas().codecFor(topics.orders);
    const short = codec.encode(envelope).subarray(0, 9);
    const foreign = codec.encode(envelope);
    foreign.writeUInt32BE(77, 1);
    for (const value of [null, Buffer.alloc(0), short]) {
      expect(() => readValue(codec, value, refuse)).toThrow('order_unreadable');
      expect(readValue(codec, value, () => 'skipped')).toBe('skipped');
    }
    await expect(readValue(codec, foreign, refuse)).rejects.toThrow('order_unreadable');
    expect(readValue(codec, foreign, () => 'skipped')).toBe('skipped');
  });
});

describe('the list of schemas', () => {
  const [orders, executions] = ['orders', 'executions'].map((name) => {
    const listing = ownListings.find(({ topic }) => topic === name);
    if (listing === undefined) throw new Error(name);
    return listing;
  }) as [(typeof ownListings)[number], (typeof ownListings)[number]];

  test('writes no topic whose schema of this version is not listed', async () => {
    const schemas = new Schemas();
    const refused = schemas.codecFor(topics.orders);
    await expect(refused).rejects.toMatchObject({ code: 'schema_not_listed', reaction: 'retry' });
    schemas.onUnknown(async () => schemas.learn(orders));
    await expect(schemas.codecFor(topics.orders)).resolves.toMatchObject({ schemaId: 1 });
  });

  test('keeps the first schema of an id, and writes under the last id of a schema', async () => {
    const schemas = new Schemas();
    for (const one of [orders, { ...executions, schemaId: orders.schemaId }, executions])
      schemas.learn(one);
    expect(schemas.idOf(topics.orders)).toBe(orders.schemaId);
    expect(schemas.idOf(topics.executions)).toBe(executions.schemaId);
    schemas.learn({ ...orders, schemaId: 99 });
    expect(schemas.idOf(topics.orders)).toBe(99);
    expect(schemas.all().map(({ topic, schemaId }) => `${topic} ${schemaId}`)).toEqual([
      `orders ${orders.schemaId}`,
      `executions ${executions.schemaId}`,
      'orders 99',
    ]);
  });

  test('refuses what is no schema', () => {
    expect(() => new Schemas().learn({ ...orders, schema: '{' })).toThrow(AvroError);
  });
});
