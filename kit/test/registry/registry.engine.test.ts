import { randomUUID } from 'node:crypto';
import { type AvroSchema, type Topic, toAvroJson, topics } from '@pm/schemas';
import { silentLog } from '../../src/log/index.ts';
import { openRegistry } from '../../src/registry/open.io.ts';
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
    await open(prefix).registerAll();
    await open(prefix).registerAll();
    for (const topic of Object.values(topics)) {
      const answer = await fetch(`${url}/config/${prefix}${topic.name}-value`);
      expect(await answer.json()).toMatchObject({ compatibilityLevel: 'FULL_TRANSITIVE' });
    }
  });

  test('lets both versions of a schema read each other', async () => {
    const prefix = freshPrefix();
    const older = await open(prefix).codecFor(topicOf(thing));
    const newer = await open(prefix).codecFor(topicOf(laterThing));
    expect(newer.schemaId).not.toBe(older.schemaId);
    const [first, second] = [older.encode({ count: 1 }), newer.encode({ count: 2, note: 'b' })];
    await newer.prepare(first);
    await older.prepare(second);
    expect(newer.decode(first)).toEqual({ count: 1, note: 'none' });
    expect(older.decode(second)).toEqual({ count: 2 });
  });

  test('stops a version that old records could not be read with', async () => {
    const prefix = freshPrefix();
    await open(prefix).codecFor(topicOf(thing));
    await expect(open(prefix).codecFor(topicOf(brokenThing))).rejects.toMatchObject({
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
    await open(prefix).codecFor(topicOf(thing));
    const level = await fetch(`${url}/config/${subject}`);
    expect(await level.json()).toMatchObject({ compatibilityLevel: 'FULL_TRANSITIVE' });
  });

  test('does not know ids that were not registered', async () => {
    const codec = await open(freshPrefix()).codecFor(topicOf(thing));
    const bytes = Buffer.from([0, 0x7f, 0xff, 0xff, 0xff, 2]);
    await codec.prepare(bytes);
    expect(() => codec.decode(bytes)).toThrow(/not in the registry/);
  });
});
