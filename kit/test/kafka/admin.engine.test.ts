import { isCompactedByMistake, type LogClient, type TopicSpec } from '../../src/kafka/index.ts';
import { freshName, freshTopic, outgoing, testClient } from './engine.ts';

jest.setTimeout(20_000);

let client: LogClient;

beforeEach(() => {
  client = testClient();
});

afterEach(() => client.close());

function spec(more: Partial<TopicSpec> = {}): TopicSpec {
  return {
    name: freshName('topic'),
    partitions: 3,
    replicationFactor: 1,
    minInSyncReplicas: 1,
    compacted: false,
    maxMessageBytes: 2_000_000,
    retentionMs: 86_400_000,
    ...more,
  };
}

test('creates what is missing, once, also when two do it at the same time', async () => {
  const admin = await client.admin();
  const topics = [spec(), spec({ compacted: true, retentionMs: -1 })];
  await Promise.all([admin.ensureTopics(topics), admin.ensureTopics(topics)]);
  await admin.ensureTopics(topics);
  expect([...(await admin.bounds(topics[0]?.name ?? ''))].sort()).toEqual(
    [0, 1, 2].map((one) => [one, { low: 0, high: 0 }]),
  );
});

test.each([
  ['partitions', { partitions: 4 }],
  ['cleanup.policy', { compacted: true }],
  ['max.message.bytes', { maxMessageBytes: 1_000_000 }],
  ['retention.ms', { retentionMs: 5_000 }],
  ['segment.ms', { compactAfterMs: 60_000 }],
])('refuses a topic that differs in %s, and leaves it as it is', async (field, change) => {
  const admin = await client.admin();
  const topic = spec();
  await admin.ensureTopics([topic]);
  const differing = { ...topic, ...change };
  await expect(admin.ensureTopics([differing])).rejects.toMatchObject({
    code: 'topic_differs',
    reaction: 'stop',
    facts: { field },
  });
  await admin.ensureTopics([topic]);
});

test('ends the compaction of a topic that should keep everything, and of no other', async () => {
  const admin = await client.admin();
  const [kept, compacted, missing] = [spec(), spec({ compacted: true }), spec()];
  const before = { ...kept, compacted: true };
  await admin.ensureTopics([before, compacted]);
  const ended = await admin.restoreSettings([kept, compacted, missing], isCompactedByMistake);
  expect(ended).toMatchObject([{ topic: kept.name, found: 'compact', wanted: 'delete' }]);
  await admin.ensureTopics([kept, compacted]);
  await expect(admin.ensureTopics([before])).rejects.toMatchObject({ code: 'topic_differs' });
  expect(await admin.hasTopic(missing.name)).toBe(false);
});

test('a topic whose compaction is ended keeps everything, whatever retention it had', async () => {
  const admin = await client.admin();
  const kept = spec({ keepsRetention: true, retentionMs: -1 });
  await admin.ensureTopics([{ ...kept, compacted: true, retentionMs: 86_400_000 }]);
  await admin.restoreSettings([kept], isCompactedByMistake);
  await admin.ensureTopics([{ ...kept, keepsRetention: false }]);
});

const all = () => true;

test('restores settings that differ, and leaves other settings and a retention that may differ', async () => {
  const admin = await client.admin();
  const right = spec({ keepsRetention: true, retentionMs: -1 });
  const own = spec({ retentionMs: 86_400_000, maxMessageBytes: right.maxMessageBytes / 2 });
  const wrong = { ...own, name: right.name };
  await admin.ensureTopics([wrong]);
  const found = await admin.restoreSettings([right], all);
  expect(found.map(({ field }) => field)).toEqual(['max.message.bytes']);
  await admin.ensureTopics([right]);
  await admin.ensureTopics([{ ...right, keepsRetention: false, retentionMs: own.retentionMs }]);
});

test.each([
  ['has other copies or partitions', { partitions: 4 }],
  ['would be compacted', { compacted: true }],
])('restores no setting of a topic that %s', async (_why, change) => {
  const admin = await client.admin();
  const topic = spec();
  await admin.ensureTopics([topic]);
  expect(await admin.restoreSettings([{ ...topic, ...change, minInSyncReplicas: 1 }], all)).toEqual(
    [],
  );
  await admin.ensureTopics([topic]);
});

test('returns the bounds of each partition', async () => {
  const topic = await freshTopic(client, { partitions: 2 });
  const producer = await client.producer();
  await producer.send([outgoing(topic, 1, 'a'), outgoing(topic, 1, 'b')]);
  const admin = await client.admin();
  expect((await admin.bounds(topic)).get(1)).toEqual({ low: 0, high: 2 });
  expect(await admin.groupMembers(freshName('nobody'), freshName('nothing'))).toEqual(new Map());
});

test('a closed client refuses', async () => {
  await client.close();
  await expect(client.admin()).rejects.toMatchObject({ code: 'client_closed' });
});
