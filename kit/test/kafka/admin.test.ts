import type { Admin, Kafka } from 'kafkajs';
import { KafkajsAdmin } from '../../src/kafka/admin.io.ts';
import { defaultLimits } from '../../src/kafka/limits.ts';

const limits = { ...defaultLimits, maxRetryMs: 1, sendTimeoutMs: 300, requestTimeoutMs: 100 };
const moved = () => Object.assign(new Error('moved'), { type: 'NOT_LEADER_FOR_PARTITION' });
const offsets = [{ partition: 0, offset: '7', low: '2', high: '7' }];

/** An admin whose connections answer in turn; the last answer is given again and again. */
function adminOf(answers: (() => Promise<typeof offsets>)[]) {
  let asked = 0;
  const topic = { partitions: [{ replicas: [1] }] };
  const connections: string[] = [];
  const connection = () =>
    ({
      connect: async () => void connections.push('open'),
      disconnect: async () => void connections.push('closed'),
      fetchTopicMetadata: async () => ({ topics: [topic] }),
      fetchTopicOffsets: () => {
        const answer = answers[Math.min(asked, answers.length - 1)];
        asked += 1;
        return answer?.() ?? Promise.reject(new Error('no answer'));
      },
    }) as unknown as Admin;
  const kafka = { admin: connection } as unknown as Kafka;
  const shared = { admin: connection(), leave: async () => {} };
  const admin = new KafkajsAdmin(shared, kafka, limits);
  return { admin, connections, topic, asked: () => asked };
}

const lost = () => Promise.reject(moved());

test('asks for bounds again, with new metadata, where a partition has moved', async () => {
  const { admin, connections } = adminOf([lost, lost, async () => offsets]);
  expect([...(await admin.bounds('t'))]).toEqual([[0, { low: 2, high: 7 }]]);
  expect(connections).toEqual(['open', 'closed', 'open', 'closed']);
});

test('asks the same connection again while its metadata lack the topic', async () => {
  const lacking = () => Promise.reject(new TypeError("Cannot destructure property 'partitions'"));
  const unknown = () =>
    Promise.reject(Object.assign(new Error('x'), { name: 'KafkaJSTopicMetadataNotLoaded' }));
  const { admin, connections } = adminOf([lacking, unknown, async () => offsets]);
  expect([...(await admin.bounds('t'))]).toEqual([[0, { low: 2, high: 7 }]]);
  expect(connections).toEqual([]);
});

test('gives up on bounds of a partition without a leader', async () => {
  const { admin, asked } = adminOf([lost]);
  await expect(admin.bounds('t')).rejects.toMatchObject({
    code: 'leader_unknown',
    reaction: 'retry',
  });
  expect(asked()).toBe(limits.maxMetadataTries);
});

test('passes on any other failure of bounds at once', async () => {
  const { admin, asked } = adminOf([() => Promise.reject(new Error('no such topic'))]);
  await expect(admin.bounds('t')).rejects.toThrow('no such topic');
  expect(asked()).toBe(1);
});

test('gives up on bounds that a new connection does not answer', async () => {
  const { admin, connections } = adminOf([lost, () => new Promise(() => {})]);
  const passes = { code: 'log_away', reaction: 'retry' };
  await expect(admin.bounds('t')).rejects.toMatchObject(passes);
  expect(connections).toEqual(['open', 'closed']);
});

test('asks an admin with new metadata for partitions that were added, at most 5 s later', async () => {
  const added = [...offsets, { partition: 1, offset: '0', low: '0', high: '0' }];
  const known = async () => offsets;
  const { admin, connections, topic } = adminOf([known, known, async () => added]);
  const numbers = async () => [...(await admin.bounds('t')).keys()];
  expect(await numbers()).toEqual([0]);
  topic.partitions.push({ replicas: [1] });
  const nowMs = performance.now();
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs + 5_001);
  expect(await numbers()).toEqual([0, 1]);
  clock.mockRestore();
  expect(connections).toEqual(['open', 'closed']);
});
