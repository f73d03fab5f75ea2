import { AvroError, type Envelope, toAvroJson, topics } from '@pm/schemas';
import { Fault } from '../../src/fault/index.ts';
import { silentLog } from '../../src/log/index.ts';
import { openRegistry, topicName } from '../../src/registry/open.io.ts';
import { readValue } from '../../src/registry/read-value.io.ts';
import { FakeRegistry } from './fake-registry.ts';

let fake: FakeRegistry;
let url: string;

beforeEach(async () => {
  fake = new FakeRegistry();
  url = await fake.start();
});

afterEach(async () => await fake.stop());

const open = (topicPrefix = '', base = url) =>
  openRegistry({ url: base, topicPrefix, log: silentLog, maxTries: 3 });

const envelope: Envelope = {
  signature: Buffer.alloc(64, 1),
  keyId: Buffer.alloc(8, 2),
  partition: 3,
  sequence: 4,
  commands: [{ kind: 'Tick', term: 0, timeMs: 5 }],
};

describe('registering', () => {
  test('puts every topic under its prefixed subject with FULL_TRANSITIVE', async () => {
    await open('t1.').registerAll();
    const subjects = Object.values(topics).map((topic) => `t1.${topic.name}-value`);
    expect([...fake.levels.keys()].sort()).toEqual([...subjects].sort());
    expect(new Set(fake.levels.values())).toEqual(new Set(['FULL_TRANSITIVE']));
    expect([...fake.schemas.values()].map((text) => JSON.parse(text))).toEqual(
      Object.values(topics).map((topic) => toAvroJson(topic.value)),
    );
  });

  test('asks once per topic, also when many want its codec', async () => {
    const registry = open();
    await registry.registerAll();
    const asked = fake.requests.length;
    await Promise.all([registry.codecFor(topics.orders), registry.codecFor(topics.orders)]);
    expect(fake.requests).toHaveLength(asked);
  });

  test('finishes what an earlier start left half done', async () => {
    await open().codecFor(topics.orders);
    fake.levels.clear();
    await open().codecFor(topics.orders);
    expect(fake.levels.get('orders-value')).toBe('FULL_TRANSITIVE');
  });

  test('sets the level of a subject before its first schema', async () => {
    await open().codecFor(topics.orders);
    const written = fake.requests.filter((request) => !request.startsWith('GET'));
    expect(written).toEqual([
      // A look.
      'POST /subjects/orders-value',
      'PUT /config/orders-value',
      'POST /subjects/orders-value/versions',
    ]);
  });

  test('only looks at a later start, and finds the same ids', async () => {
    const first = await open().codecFor(topics.orders);
    fake.requests.length = 0;
    const again = await open().codecFor(topics.orders);
    expect(again.schemaId).toBe(first.schemaId);
    expect(fake.requests).toEqual(['GET /config/orders-value', 'POST /subjects/orders-value']);
  });

  test('registers where looking is not allowed', async () => {
    const first = await open().codecFor(topics.orders);
    for (const status of [403, 405]) {
      fake.failures.push(0, status);
      const again = await open().codecFor(topics.orders);
      expect(again.schemaId).toBe(first.schemaId);
    }
  });

  test('stops at a registered schema whose subject was set to another level', async () => {
    await open().codecFor(topics.orders);
    fake.levels.set('orders-value', 'BACKWARD');
    const refused = open().codecFor(topics.orders);
    await expect(refused).rejects.toMatchObject({ code: 'schema_incompatible', reaction: 'stop' });
  });

  test('tries again when the registry fails, and remembers no failure', async () => {
    fake.failures.push(503, 500);
    const registry = open();
    await expect(registry.codecFor(topics.orders)).resolves.toMatchObject({ schemaId: 1 });
    // Two requests of each of three tries.
    fake.failures.push(503, 503, 503, 503, 503, 503);
    const failed = { code: 'registry_unavailable', reaction: 'retry' };
    await expect(registry.codecFor(topics.catalog)).rejects.toMatchObject(failed);
    await expect(registry.codecFor(topics.catalog)).resolves.toMatchObject({ schemaId: 2 });
  });

  test('gives up with a fault to retry when no server listens', async () => {
    await fake.stop();
    await expect(open().registerAll()).rejects.toMatchObject({
      code: 'registry_unavailable',
      reaction: 'retry',
      facts: { subject: 'orders-value' },
    });
    fake = new FakeRegistry();
    await fake.start();
  });

  test('stops at an incompatible schema and says which', async () => {
    fake.incompatible.add('t.executions-value');
    await expect(open('t.').registerAll()).rejects.toMatchObject({
      code: 'schema_incompatible',
      reaction: 'stop',
      facts: { subject: 't.executions-value' },
    });
  });

  test('stops at a subject that was set to another level', async () => {
    fake.levels.set('orders-value', 'BACKWARD');
    await expect(open().registerAll()).rejects.toMatchObject({
      code: 'schema_incompatible',
      reaction: 'stop',
    });
  });

  test('stops when the registry says no', async () => {
    fake.failures.push(401);
    await expect(open().registerAll()).rejects.toMatchObject({
      code: 'registry_refused',
      reaction: 'stop',
      facts: { status: 401 },
    });
  });

  test('shows the user and password of its URL', async () => {
    const registry = open('', url.replace('//', '//me:pass%20word@'));
    const codec = await registry.codecFor(topics.orders);
    const expected = `Basic ${Buffer.from('me:pass word').toString('base64')}`;
    expect(fake.authorization).toBe(expected);
    fake.authorization = null;
    await codec.prepare(Buffer.from([0, 0, 0, 0, 99]));
    expect(fake.authorization).toBe(expected);
  });

  test('names topics with their prefix', () => {
    expect(topicName(topics.deadLetters, 'test-7.')).toBe('test-7.dead-letters');
  });
});

describe('a codec', () => {
  test('writes the header of its own id and reads back what it wrote, without a request', async () => {
    fake.store('"int"');
    const codec = await open().codecFor(topics.orders);
    const asked = fake.requests.length;
    const bytes = codec.encode(envelope);
    expect(bytes.subarray(0, 5)).toEqual(Buffer.from([0, 0, 0, 0, 2]));
    expect(codec.schemaId).toBe(2);
    expect(codec.decode(bytes)).toEqual(envelope);
    expect(codec.knows(bytes)).toBe(true);
    await codec.prepare(bytes);
    expect(fake.requests).toHaveLength(asked);
  });

  test('gives each record its own memory', async () => {
    const codec = await open().codecFor(topics.orders);
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
    const codec = await open().codecFor(topics.orders);
    const value = Buffer.from(bytes);
    expect(codec.knows(value)).toBe(true);
    expect(() => codec.decode(value)).toThrow(AvroError);
    await expect(codec.prepare(value)).resolves.toBeUndefined();
  });

  test('refuses bytes left over', async () => {
    const codec = await open().codecFor(topics.orders);
    const value = Buffer.concat([codec.encode(envelope), Buffer.alloc(1)]);
    expect(() => codec.decode(value)).toThrow(AvroError);
  });

  test('says that an id was never fetched instead of guessing', async () => {
    const codec = await open().codecFor(topics.orders);
    const bytes = codec.encode(envelope);
    bytes.writeUInt32BE(77, 1);
    expect(codec.knows(bytes)).toBe(false);
    expect(() => codec.decode(bytes)).toThrow(/broken_assumption.*77/);
  });

  test('refuses an id the registry does not know, once asked', async () => {
    const codec = await open().codecFor(topics.orders);
    const bytes = codec.encode(envelope);
    bytes.writeUInt32BE(77, 1);
    await codec.prepare(bytes);
    expect(codec.knows(bytes)).toBe(true);
    expect(() => codec.decode(bytes)).toThrow(AvroError);
  });

  test('refuses records of another topic', async () => {
    const registry = open();
    const orders = await registry.codecFor(topics.orders);
    const executions = await registry.codecFor(topics.executions);
    const bytes = orders.encode(envelope);
    await executions.prepare(bytes);
    expect(() => executions.decode(bytes)).toThrow(AvroError);
  });

  test('reads a topic without registering anything', async () => {
    const bytes = (await open().codecFor(topics.orders)).encode(envelope);
    const reader = open().readerFor(topics.orders);
    const asked = fake.requests.length;
    expect(reader.knows(bytes)).toBe(false);
    await reader.prepare(bytes);
    expect(reader.decode(bytes)).toEqual(envelope);
    expect(fake.requests).toHaveLength(asked + 1);
  });

  test('keeps a fault to retry when the schema cannot be fetched now', async () => {
    const codec = await open().codecFor(topics.orders);
    const bytes = codec.encode(envelope);
    bytes.writeUInt32BE(fake.store(toAvroJson(topics.orders.value)) + 1, 1);
    fake.failures.push(503);
    const failed = { code: 'registry_unavailable', reaction: 'retry' };
    await expect(codec.prepare(bytes)).rejects.toMatchObject(failed);
    expect(codec.knows(bytes)).toBe(false);
  });

  test('remembers at most 256 other writers', async () => {
    const codec = await open().codecFor(topics.orders);
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
    const codec = await open().codecFor(topics.orders);
    expect(readValue(codec, codec.encode(envelope), refuse)).toEqual(envelope);
  });

  test('waits for the registry only when the schema is not known yet', async () => {
    const bytes = (await open().codecFor(topics.orders)).encode(envelope);
    const reader = open().readerFor(topics.orders);
    const first = readValue(reader, bytes, refuse);
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toEqual(envelope);
    expect(readValue(reader, bytes, refuse)).toEqual(envelope);
  });

  test('hands what can never be read to its caller, who throws or skips', async () => {
    const codec = await open().codecFor(topics.orders);
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

  test('leaves a registry that is away to be tried again', async () => {
    const codec = await open().codecFor(topics.orders);
    const bytes = codec.encode(envelope);
    bytes.writeUInt32BE(77, 1);
    fake.failures.push(503);
    const failed = { code: 'registry_unavailable', reaction: 'retry' };
    await expect(readValue(codec, bytes, refuse)).rejects.toMatchObject(failed);
  });
});
