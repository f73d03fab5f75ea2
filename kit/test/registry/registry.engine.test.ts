import { randomUUID } from 'node:crypto';
import { type AvroSchema, toAvroJson } from '@pm/schemas/avro/schema';
import { type Topic, topics } from '@pm/schemas/log/topics';
import { silentLog } from '../../src/log/index.ts';
import { openRegistry } from '../../src/registry/open.io.ts';
import { Schemas } from '../../src/registry/schemas.io.ts';
import { engineUrl } from '../engines.ts';

const url = engineUrl('REGISTRY');
const open = (topicPrefix: string) => openRegistry({ url, topicPrefix, log: silentLog });
const freshPrefix = () => `kit-${randomUUID()}.`;

function topicOf<const S extends AvroSchema>(value: S): Topic<S> {
  const kept = { partitions: 'single', compacted: false, maxMessageBytes: 1_000 } as const;
  return { name: 'thing', value, ...kept };
}

const thing = {
  type: 'record',
  name: 'Thing',
  doc: 'Thing.',
  fields: [{ name: 'count', type: 'long', doc: 'Count.' }],
} as const satisfies AvroSchema;

const laterThing = {
  ...thing,
  fields: [...thing.fields, { name: 'note', type: 'string', doc: 'New.', default: 'none' }],
} as const satisfies AvroSchema;

const brokenThing = {
  ...thing,
  fields: [...thing.fields, { name: 'note', type: 'string', doc: 'Without a default.' }],
} as const satisfies AvroSchema;

describe('the registry', () => {
  test('takes every topic, twice, under FULL_TRANSITIVE', async () => {
    const prefix = freshPrefix();
    await open(prefix).register(Object.values(topics));
    await open(prefix).register(Object.values(topics));
    for (const topic of Object.values(topics)) {
      const answer = await fetch(`${url}/config/${prefix}${topic.name}-value`);
      expect(await answer.json()).toMatchObject({ compatibilityLevel: 'FULL_TRANSITIVE' });
    }
  });

  test('lets both versions of a schema read each other', async () => {
    const prefix = freshPrefix();
    const schemas = new Schemas();
    for (const topic of [topicOf(thing), topicOf(laterThing)])
      for (const listing of await open(prefix).register([topic])) schemas.learn(listing);
    const older = await schemas.codecFor(topicOf(thing));
    const newer = await schemas.codecFor(topicOf(laterThing));
    expect(newer.schemaId).not.toBe(older.schemaId);
    const [first, second] = [older.encode({ count: 1 }), newer.encode({ count: 2, note: 'b' })];
    await newer.prepare(first);
    await older.prepare(second);
    expect(newer.decode(first)).toEqual({ count: 1, note: 'none' });
    expect(older.decode(second)).toEqual({ count: 2 });
  });

  test('stops a version that old records could not be read with', async () => {
    const prefix = freshPrefix();
    await open(prefix).register([topicOf(thing)]);
    await expect(open(prefix).register([topicOf(brokenThing)])).rejects.toMatchObject({
      code: 'schema_incompatible',
      reaction: 'stop',
      facts: { subject: `${prefix}thing-value` },
    });
  });

  test('finishes a subject that an earlier start registered and gave no level', async () => {
    const prefix = freshPrefix();
    const subject = `${prefix}thing-value`;
    const registered = await fetch(`${url}/subjects/${subject}/versions`, {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
      body: JSON.stringify({ schema: JSON.stringify(toAvroJson(thing)) }),
    });
    expect(registered.status).toBe(200);
    await open(prefix).register([topicOf(thing)]);
    const level = await fetch(`${url}/config/${subject}`);
    expect(await level.json()).toMatchObject({ compatibilityLevel: 'FULL_TRANSITIVE' });
  });

  test('takes listed schemas back under ids that it would not give, and finds them there', async () => {
    const prefix = freshPrefix();
    const registry = open(prefix);
    // Contents of its own, so that no other test has registered them.
    const name = `note${randomUUID().slice(0, 8)}`;
    const note = { type: 'string', doc: 'Of this test.', default: 'none' } as const;
    const first = { ...thing, fields: [...thing.fields, { ...note, name }] };
    const fields = [...first.fields, { ...note, name: `${name}b` }];
    const later = { ...first, fields };
    const at = 1_000_000 + (Date.now() % 1_000_000) * 10;
    const listed = [first, later].map((schema, index) => ({
      topic: 'thing',
      schemaId: at + index,
      schema: JSON.stringify(toAvroJson(schema)),
    }));
    expect(await registry.restore(listed)).toBe(2);
    expect(await registry.restore(listed)).toBe(0);
    const found = await fetch(`${url}/subjects/${prefix}thing-value/versions/latest`);
    const [, newest] = listed;
    expect(await found.json()).toMatchObject({ version: 2, id: at + 1, schema: newest?.schema });
    const [next] = await registry.register([topicOf(later)]);
    expect(next?.schemaId).toBe(at + 1);
  });
});
