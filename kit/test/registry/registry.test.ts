import { toAvroJson } from '@pm/schemas/avro/schema';
import { topics } from '@pm/schemas/log/topics';
import { silentLog } from '../../src/log/index.ts';
import { openRegistry, topicName } from '../../src/registry/open.io.ts';
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

const all = Object.values(topics);

describe('registering', () => {
  test('puts every topic under its prefixed subject with FULL_TRANSITIVE', async () => {
    await open('t1.').register(all);
    const subjects = Object.values(topics).map((topic) => `t1.${topic.name}-value`);
    expect([...fake.levels.keys()].sort()).toEqual([...subjects].sort());
    expect(new Set(fake.levels.values())).toEqual(new Set(['FULL_TRANSITIVE']));
    expect([...fake.schemas.values()].map((text) => JSON.parse(text))).toEqual(
      Object.values(topics).map((topic) => toAvroJson(topic.value)),
    );
  });

  test('finishes what an earlier start left half done', async () => {
    await open().register([topics.orders]);
    fake.levels.clear();
    await open().register([topics.orders]);
    expect(fake.levels.get('orders-value')).toBe('FULL_TRANSITIVE');
  });

  test('sets the level of a subject before its first schema', async () => {
    await open().register([topics.orders]);
    const written = fake.requests.filter((request) => !request.startsWith('GET'));
    expect(written).toEqual([
      // A look.
      'POST /subjects/orders-value',
      'PUT /config/orders-value',
      'POST /subjects/orders-value/versions',
    ]);
  });

  test('only looks at a later start, and finds the same ids', async () => {
    const [first] = await open().register([topics.orders]);
    fake.requests.length = 0;
    const [again] = await open().register([topics.orders]);
    expect(again).toEqual(first);
    expect(fake.requests).toEqual(['GET /config/orders-value', 'POST /subjects/orders-value']);
  });

  test('registers where looking is not allowed', async () => {
    const [first] = await open().register([topics.orders]);
    for (const status of [403, 405]) {
      fake.failures.push(0, status);
      const [again] = await open().register([topics.orders]);
      expect(again).toEqual(first);
    }
  });

  test('stops at a registered schema whose subject was set to another level', async () => {
    await open().register([topics.orders]);
    fake.levels.set('orders-value', 'BACKWARD');
    const refused = open().register([topics.orders]);
    await expect(refused).rejects.toMatchObject({ code: 'schema_incompatible', reaction: 'stop' });
  });

  test('tries again when the registry fails, and again when it is asked again', async () => {
    fake.failures.push(503, 500);
    const registry = open();
    await expect(registry.register([topics.orders])).resolves.toMatchObject([{ schemaId: 1 }]);
    // Two requests of each of three tries.
    fake.failures.push(503, 503, 503, 503, 503, 503);
    const failed = { code: 'registry_unavailable', reaction: 'retry' };
    await expect(registry.register([topics.catalog])).rejects.toMatchObject(failed);
    await expect(registry.register([topics.catalog])).resolves.toMatchObject([{ schemaId: 2 }]);
  });

  test('gives up with a fault to retry when no server listens', async () => {
    await fake.stop();
    await expect(open().register(all)).rejects.toMatchObject({
      code: 'registry_unavailable',
      reaction: 'retry',
      facts: { subject: 'orders-value' },
    });
    fake = new FakeRegistry();
    await fake.start();
  });

  test('stops at an incompatible schema and says which', async () => {
    fake.incompatible.add('t.executions-value');
    await expect(open('t.').register(all)).rejects.toMatchObject({
      code: 'schema_incompatible',
      reaction: 'stop',
      facts: { subject: 't.executions-value' },
    });
  });

  test('stops at a subject that was set to another level', async () => {
    fake.levels.set('orders-value', 'BACKWARD');
    await expect(open().register(all)).rejects.toMatchObject({
      code: 'schema_incompatible',
      reaction: 'stop',
    });
  });

  test('stops when the registry says no', async () => {
    fake.failures.push(401);
    await expect(open().register(all)).rejects.toMatchObject({
      code: 'registry_refused',
      reaction: 'stop',
      facts: { status: 401 },
    });
  });

  test('shows the user and password of its URL', async () => {
    const registry = open('', url.replace('//', '//me:pass%20word@'));
    await registry.register([topics.orders]);
    const expected = `Basic ${Buffer.from('me:pass word').toString('base64')}`;
    expect(fake.authorization).toBe(expected);
  });

  test('names topics with their prefix', () => {
    expect(topicName(topics.deadLetters, 'test-7.')).toBe('test-7.dead-letters');
  });
});
