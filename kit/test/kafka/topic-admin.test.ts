import type { Admin } from 'kafkajs';
import { TopicAdmin } from '../../src/kafka/topic-admin.io.ts';
import { configOf, type TopicSpec } from '../../src/kafka/topic-spec.ts';

const spec: TopicSpec = {
  name: 'orders',
  partitions: 1,
  replicationFactor: 3,
  minInSyncReplicas: 2,
  compacted: false,
  maxMessageBytes: 1 << 20,
  retentionMs: -1,
};
const hiddenNames = ['min.insync.replicas', 'unclean.leader.election.enable'];

type Created = Parameters<Admin['createTopics']>[0];

/** Brokers that refuse these settings in a creation, and show all others of a topic that exists as `changed` says. */
function adminOf({
  refused = [],
  changed = {},
  exists = false,
}: {
  readonly refused?: readonly string[];
  readonly changed?: Readonly<Record<string, string | null>>;
  readonly exists?: boolean;
}) {
  const created: Created[] = [];
  const shown = Object.entries({ ...configOf(spec), ...changed });
  const admin = {
    listTopics: async () => (exists ? [spec.name] : []),
    createTopics: async (asked: Created) => {
      created.push(asked);
      const names = asked.topics.flatMap(({ configEntries = [] }) => configEntries);
      if (!names.some(({ name }) => refused.includes(name))) return true;
      const one = Object.assign(new Error('x'), { type: 'INVALID_CONFIG', topic: spec.name });
      throw Object.assign(new Error('all'), { name: 'KafkaJSAggregateError', errors: [one] });
    },
    fetchTopicMetadata: async () => ({
      topics: [{ name: spec.name, partitions: [{ replicas: [1, 2, 3] }] }],
    }),
    describeConfigs: async () => ({
      resources: [
        {
          configEntries: shown.flatMap(([configName, configValue]) =>
            configValue === null ? [] : [{ configName, configValue }],
          ),
        },
      ],
    }),
  };
  return { admin: admin as unknown as Admin, created };
}

const notShown = Object.fromEntries(hiddenNames.map((name) => [name, null]));

test('refuses a topic whose setting is not shown, and names the variable that allows it', async () => {
  const { admin } = adminOf({ exists: true, changed: notShown });
  await expect(new TopicAdmin(admin, []).hiddenOf([spec])).rejects.toMatchObject({
    code: 'topic_differs',
    facts: {
      field: 'unclean.leader.election.enable',
      found: 'none',
      allowedBy: 'PM_KAFKA_HIDDEN_SETTINGS=unclean.leader.election.enable',
    },
  });
});

test('takes a topic whose settings are not shown and may be left out, and names each once', async () => {
  const { admin } = adminOf({ exists: true, changed: notShown });
  const topics = new TopicAdmin(admin, hiddenNames);
  expect([...(await topics.hiddenOf([spec, spec]))].sort()).toEqual(hiddenNames);
  expect(await topics.durability(spec.name)).toEqual({
    copies: 3,
    minInSync: null,
    electsUnclean: null,
  });
});

test('a setting that is shown with another value is refused, whether it may be left out or not', async () => {
  const { admin } = adminOf({ exists: true, changed: { 'min.insync.replicas': '1' } });
  const topics = new TopicAdmin(admin, hiddenNames);
  const facts = { field: 'min.insync.replicas', wanted: '2', found: '1' };
  await expect(topics.hiddenOf([spec])).rejects.toMatchObject({ code: 'topic_differs', facts });
  expect((await topics.durability(spec.name)).minInSync).toBe(1);
});

test('makes a topic with all settings, and without those that may be left out where brokers refuse them', async () => {
  const { admin, created } = adminOf({ refused: hiddenNames });
  await new TopicAdmin(admin, hiddenNames).createMissing([spec]);
  const names = created.map(({ topics }) =>
    (topics[0]?.configEntries ?? []).map(({ name }) => name),
  );
  expect(names).toEqual([
    Object.keys(configOf(spec)),
    ['cleanup.policy', 'max.message.bytes', 'retention.ms'],
  ]);
});

test('what brokers refuse for another reason is a fault with their answer', async () => {
  const { admin, created } = adminOf({ refused: ['cleanup.policy'] });
  await expect(new TopicAdmin(admin, hiddenNames).createMissing([spec])).rejects.toMatchObject({
    code: 'topic_refused',
    reaction: 'stop',
    facts: { topic: 'orders', answer: 'INVALID_CONFIG' },
  });
  await expect(new TopicAdmin(admin, []).createMissing([spec])).rejects.toThrow('topic_refused');
  expect(created).toHaveLength(3);
});

test('says which creations would be refused, and creates none', async () => {
  const { admin, created } = adminOf({ refused: ['max.message.bytes'] });
  const topics = new TopicAdmin(admin, []);
  expect(await topics.refusedCreations([spec], ['max.message.bytes'])).toEqual(
    new Map([['orders', 'INVALID_CONFIG']]),
  );
  expect(await topics.refusedCreations([spec], ['cleanup.policy'])).toEqual(new Map());
  expect(created.every(({ validateOnly }) => validateOnly === true)).toBe(true);
});

test('restores a setting beside those that the topic has of its own, and writes no default into it', async () => {
  const configs = new Map(Object.entries({ ...configOf(spec), 'max.message.bytes': '100' }));
  configs.set('segment.bytes', '1048576');
  const own = 1;
  const ofBroker = 4;
  const { admin } = adminOf({ exists: true });
  Object.assign(admin, {
    describeConfigs: async () => ({
      resources: [
        {
          configEntries: [
            ...[...configs].map(([configName, configValue]) => ({
              configName,
              configValue,
              configSource: own,
            })),
            { configName: 'retention.bytes', configValue: '-1', configSource: ofBroker },
          ],
        },
      ],
    }),
    alterConfigs: async ({ resources: [resource] }: Altered) => {
      configs.clear();
      for (const { name, value } of resource.configEntries) configs.set(name, value);
    },
  });
  const [found] = await new TopicAdmin(admin, []).restoreSettings([spec], () => true);
  expect(found).toMatchObject({ field: 'max.message.bytes', found: '100' });
  expect(Object.fromEntries(configs)).toEqual({ ...configOf(spec), 'segment.bytes': '1048576' });
});

interface Altered {
  readonly resources: readonly [
    { readonly configEntries: readonly { name: string; value: string }[] },
  ];
}
