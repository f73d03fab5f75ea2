import type { LogClient } from '../../src/kafka/index.ts';
import { engineUrl } from '../engines.ts';
import { createDeferred, until } from './deferred.ts';
import { freshName, freshTopic, naiveKafka, outgoing, testClient } from './engine.ts';
import { FaultProxy } from './fault-proxy.ts';
import { joinRecorded } from './group-member.ts';

jest.setTimeout(30_000);

let client: LogClient;
let other: LogClient;

beforeEach(() => {
  client = testClient();
  other = testClient();
});

afterEach(async () => {
  await Promise.all([client.close(), other.close()]);
});

async function fill(topic: string, partition: number, count: number): Promise<void> {
  const producer = await client.producer();
  await producer.send(
    Array.from({ length: count }, (_, index) => outgoing(topic, partition, `${index}`)),
  );
  await producer.close();
}

const pauseMs = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

test('one member owns all, a second one takes half, the other half is not interrupted', async () => {
  const topic = await freshTopic(client, { partitions: 4 });
  const groupId = freshName('group');
  const slow = createDeferred();
  const first = await joinRecorded(client, {
    groupId,
    topic,
    instance: 'one',
    onBatch: ({ partition }) => (partition === 0 ? slow.promise : Promise.resolve()),
  });
  expect(first.group.owned()).toEqual([0, 1, 2, 3]);
  await fill(topic, 0, 5);
  await until(() => first.events.includes('batch 0: 0..4'), 'the batch runs');
  const second = await joinRecorded(other, { groupId, topic, instance: 'two' });
  await until(
    () => first.group.owned().length === 2 && second.group.owned().length === 2,
    'they share',
  );
  expect(first.group.owned()).toEqual([0, 1]);
  expect(first.events.filter((event) => event.startsWith('revoked'))).toEqual([
    'revoked 2',
    'revoked 3',
  ]);
  await fill(topic, 0, 3);
  slow.resolve();
  await until(() => first.handled.get(0)?.length === 8, 'it goes on where it was');
  expect(first.events.filter((event) => event === 'assigned 0')).toHaveLength(1);
  expect(first.handled.get(0)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  const admin = await client.admin();
  const owners = await admin.groupMembers(groupId, topic);
  expect([...owners].sort().map(([partition, { instance }]) => [partition, instance])).toEqual([
    [0, 'one'],
    [1, 'one'],
    [2, 'two'],
    [3, 'two'],
  ]);
});

test('a graceful leave hands over at once, from the committed position', async () => {
  const topic = await freshTopic(client, { partitions: 2 });
  const groupId = freshName('group');
  const first = await joinRecorded(client, { groupId, topic });
  await fill(topic, 0, 10);
  await until(() => first.handled.get(0)?.length === 10, 'it has read');
  await first.group.commit(0, 7, '7-9');
  expect(await first.group.committed(0)).toEqual({ offset: 7, metadata: '7-9' });
  expect(await first.group.committed(1)).toBeNull();
  const second = await joinRecorded(other, { groupId, topic });
  await until(() => second.group.owned().length === 1, 'they share');
  const startMs = performance.now();
  await first.group.close();
  await until(() => second.group.owned().length === 2, 'it has taken over');
  process.stdout.write(
    `hand-over after a graceful leave: ${Math.round(performance.now() - startMs)} ms\n`,
  );
  expect(first.events.filter((event) => event.startsWith('revoked')).sort()).toEqual([
    'revoked 0',
    'revoked 1',
  ]);
  expect(first.events.at(-1)).toMatch(/^revoked/);
  await until(() => second.handled.get(0)?.length === 3, 'it reads from the commit');
  expect(second.handled.get(0)).toEqual([7, 8, 9]);
  expect(await second.group.committed(0)).toEqual({ offset: 7, metadata: '7-9' });
});

test('a long restore and a long handler lose no session', async () => {
  const topic = await freshTopic(client);
  const groupId = freshName('group');
  const member = await joinRecorded(client, {
    groupId,
    topic,
    sessionTimeoutMs: 3_000,
    onAssigned: async () => {
      await pauseMs(4_500);
      return 0;
    },
    onBatch: () => pauseMs(4_500),
  });
  const id = member.group.memberId;
  await fill(topic, 0, 3);
  await until(() => member.handled.get(0)?.length === 3, 'it has handled');
  await member.group.commit(0, 3, '');
  expect(member.group.memberId).toBe(id);
  expect(member.events).toEqual(['assigned 0', 'batch 0: 0..2']);
});

test('bare kafkajs: a member moves the position of a partition that another member owns', async () => {
  const topic = await freshTopic(client, { partitions: 2 });
  const groupId = freshName('naive');
  const consumers = [0, 1].map(() =>
    naiveKafka().consumer({ groupId, maxWaitTimeInMs: 100, heartbeatInterval: 200 }),
  );
  const owned: number[][] = [];
  await Promise.all(
    consumers.map(async (consumer, index) => {
      consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
        owned[index] = payload.memberAssignment[topic] ?? [];
      });
      await consumer.connect();
      await consumer.subscribe({ topic });
      await consumer.run({ autoCommit: false, eachMessage: async () => {} });
    }),
  );
  await until(() => owned[0]?.length === 1 && owned[1]?.length === 1, 'they share');
  const partition = owned[1]?.[0] ?? -1;
  await consumers[1]?.commitOffsets([{ topic, partition, offset: '9', metadata: 'owner' }]);
  await consumers[0]?.commitOffsets([{ topic, partition, offset: '5', metadata: 'late' }]);
  const admin = naiveKafka().admin();
  await admin.connect();
  const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
  await Promise.all([admin, ...consumers].map((part) => part.disconnect()));
  expect(found?.partitions.find((one) => one.partition === partition)).toMatchObject({
    offset: '5',
    metadata: 'late',
  });
});

test('a commit for a partition that went to another member is refused and moves nothing', async () => {
  const topic = await freshTopic(client, { partitions: 2 });
  const groupId = freshName('group');
  const first = await joinRecorded(client, { groupId, topic });
  const second = await joinRecorded(other, { groupId, topic });
  await until(
    () => first.group.owned().length === 1 && second.group.owned().length === 1,
    'they share',
  );
  const [moved = -1] = second.group.owned();
  await second.group.commit(moved, 0, 'theirs');
  await expect(first.group.commit(moved, 5, 'late')).rejects.toMatchObject({
    code: 'ownership_lost',
    reaction: 'release',
  });
  expect(await second.group.committed(moved)).toEqual({ offset: 0, metadata: 'theirs' });
});

test('a member cut off from the broker stops by itself, its commit is refused, and it comes back', async () => {
  const topic = await freshTopic(client);
  const groupId = freshName('group');
  const proxy = await FaultProxy.open(engineUrl('KAFKA'));
  const cut = testClient({ limits: { requestTimeoutMs: 1_000, commitTimeoutMs: 8_000 } }, proxy);
  const zombie = await joinRecorded(cut, {
    groupId,
    topic,
    sessionTimeoutMs: 1_500,
    onAssigned: async () => 0,
  });
  expect(zombie.group.owned()).toEqual([0]);
  proxy.stall(true);
  const late = zombie.group.commit(0, 0, 'zombie').catch((fault: unknown) => fault);
  const owner = await joinRecorded(other, { groupId, topic, sessionTimeoutMs: 1_500 });
  await until(() => owner.group.owned().length === 1, 'the partition has a new owner');
  await owner.group.commit(0, 0, 'owner');
  await until(() => zombie.group.owned().length === 0, 'the zombie has given up');
  await until(() => zombie.events.at(-1) === 'revoked 0', 'it has ended its work');
  proxy.stall(false);
  expect(await late).toMatchObject({ reaction: 'release' });
  await expect(zombie.group.commit(0, 0, 'zombie')).rejects.toMatchObject({
    code: 'ownership_lost',
  });
  expect(await owner.group.committed(0)).toEqual({ offset: 0, metadata: 'owner' });
  await owner.group.close();
  await until(() => zombie.group.owned().length === 1, 'it takes part again', 15_000);
  await cut.close();
  await proxy.close();
});

test('a fault stops one partition, release and restore start it again', async () => {
  const topic = await freshTopic(client, { partitions: 2 });
  const member = await joinRecorded(client, {
    groupId: freshName('group'),
    topic,
    onAssigned: async () => 0,
    onBatch: async ({ partition }) => {
      if (partition === 0 && member.faults.length === 0) throw new Error('a bug');
    },
  });
  await fill(topic, 0, 3);
  await until(() => member.faults.length === 1, 'the fault is told');
  await fill(topic, 1, 3);
  await until(() => member.handled.get(1)?.length === 3, 'the other partition goes on');
  expect(member.group.owned()).toEqual([0, 1]);
  await member.group.restore(0);
  await until(() => member.handled.get(0)?.length === 3, 'it has started again');
  member.group.release(1);
  await fill(topic, 1, 3);
  await pauseMs(500);
  expect(member.handled.get(1)).toHaveLength(3);
  await member.group.restore(1);
  await until(() => member.handled.get(1)?.length === 9, 'it reads from what onAssigned says');
});
