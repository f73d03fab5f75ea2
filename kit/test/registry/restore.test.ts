import { topics } from '@pm/schemas/log/topics';
import { silentLog } from '../../src/log/index.ts';
import { openRegistry, type Registry } from '../../src/registry/open.io.ts';
import { FakeRegistry } from './fake-registry.ts';
import { ownListings } from './own-schemas.ts';

let fake: FakeRegistry;

afterEach(async () => await fake.stop());

async function openAt(path?: string): Promise<Registry> {
  fake = new FakeRegistry();
  return openRegistry({
    url: await fake.start(path),
    topicPrefix: 'x-',
    log: silentLog,
    maxTries: 1,
  });
}

/** The ids begin elsewhere than those that an empty registry gives. */
const listed = ownListings.map((one) => ({ ...one, schemaId: one.schemaId + 40 }));

describe('schemas that the log lists', () => {
  test('go back into an empty registry under their ids, and no subject stays open for ids', async () => {
    const registry = await openAt('');
    expect(await registry.restore(listed)).toBe(listed.length);
    for (const { schemaId, schema } of listed) expect(fake.schemas.get(schemaId)).toBe(schema);
    expect(new Set(fake.modes.values())).toEqual(new Set(['READWRITE']));
    const [orders] = await registry.register([topics.orders]);
    expect(orders).toEqual(listed[0]);
  });

  test('are only looked for where all are there', async () => {
    const registry = await openAt('');
    await registry.restore(listed);
    fake.requests.length = 0;
    expect(await registry.restore(listed)).toBe(0);
    expect(fake.requests.filter((request) => !request.startsWith('GET'))).toEqual([]);
  });

  test('are refused by a registry that has another schema under an id of theirs', async () => {
    const registry = await openAt('');
    fake.store('"int"');
    await expect(registry.restore(ownListings)).rejects.toMatchObject({
      code: 'registry_foreign',
      reaction: 'stop',
      facts: { subject: 'x-orders-value', schemaId: 1 },
    });
    expect(fake.schemas.size).toBe(1);
  });

  test('are not said to be there by a registry that gives ids of its own', async () => {
    const registry = await openAt('');
    Object.defineProperty(fake.modes, 'get', { value: () => 'READWRITE' });
    const failed = { code: 'registry_not_restored', reaction: 'stop' };
    await expect(registry.restore(listed)).rejects.toMatchObject(failed);
  });

  test('wait for a registry that is away', async () => {
    const registry = await openAt('');
    fake.failures.push(...listed.map(() => 503));
    const failed = { code: 'registry_unavailable', reaction: 'retry' };
    await expect(registry.restore(listed)).rejects.toMatchObject(failed);
  });
});
