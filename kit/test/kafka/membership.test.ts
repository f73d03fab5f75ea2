import { EventEmitter } from 'node:events';
import type { ConsumerConfig, Kafka } from 'kafkajs';
import { defaultLimits } from '../../src/kafka/limits.ts';
import { Membership } from '../../src/kafka/membership.io.ts';
import { silentLog } from '../../src/log/index.ts';
import { until } from './deferred.ts';

/** A kafkajs consumer that does nothing but emit what the test says; each run but the first ones joins at once. */
function fakeKafka(crashesFirst = 0) {
  const emitter = new EventEmitter();
  const runs: number[] = [];
  const join = (memberId: string, partitions: readonly number[], standbys?: readonly number[]) =>
    emitter.emit('join', {
      payload: { memberId, memberAssignment: { t: partitions, ...(standbys && { s: standbys }) } },
    });
  const crash = (type = '', name = 'Error') =>
    emitter.emit('crash', {
      payload: { error: Object.assign(new Error('crash'), { type, name }) },
    });
  const sessionsMs: number[] = [];
  const consumer = {
    events: { GROUP_JOIN: 'join', HEARTBEAT: 'heartbeat', CRASH: 'crash' },
    on: (name: string, listener: (event: unknown) => void) => emitter.on(name, listener),
    pause() {},
    connect: async () => {},
    disconnect: async () => {},
    subscribe: async () => {},
    run: async () => {
      runs.push(runs.length);
      if (runs.length <= crashesFirst) crash();
      else join(`member-${runs.length}`, [0, 1]);
    },
  };
  const coordinator = { nodeId: 1 };
  const cluster = {
    findGroupCoordinatorMetadata: async () => ({ coordinator: { ...coordinator } }),
  };
  const made = (options: ConsumerConfig) => {
    sessionsMs.push(options.sessionTimeout ?? 0);
    emitter.removeAllListeners();
    for (const assigner of options.partitionAssigners ?? [])
      assigner({ cluster } as unknown as Parameters<typeof assigner>[0]);
    return { ...consumer };
  };
  return {
    kafka: { consumer: made } as unknown as Kafka,
    runs,
    sessionsMs,
    coordinator,
    join,
    heartbeat: (memberId: string, groupGenerationId: number) =>
      emitter.emit('heartbeat', { payload: { memberId, groupGenerationId } }),
    crash,
  };
}

async function memberOf(
  fake: ReturnType<typeof fakeKafka>,
  maxGroupRestarts = 3,
  whileJoining = async () => {},
  removeFormer = async (_memberId: string) => {},
) {
  const events: string[] = [];
  const limits = { ...defaultLimits, initialRetryMs: 1, maxGroupRestarts };
  const member = new Membership(
    { kafka: fake.kafka, limits, log: silentLog },
    {
      groupId: 'g',
      topic: 't',
      instance: '',
      sessionTimeoutMs: 200,
      standbyTopic: 's',
      placed: () => ({ partitions: [], standbys: [] }),
      onJoined: ({ partitions, standbys }, sameMember) =>
        events.push(`joined ${[partitions, ...standbys].join(' + ')} ${sameMember}`),
      onLost: () => events.push('lost'),
      onFault: (fault) => events.push(fault.code),
      whileJoining,
      removeFormer,
    },
  );
  await member.start();
  return { member, events };
}

test('a place is known from the first heartbeat of a generation on', async () => {
  const fake = fakeKafka();
  const { member, events } = await memberOf(fake);
  expect(member.place()).toBeNull();
  fake.heartbeat('member-1', 4);
  expect(member.place()).toEqual({ memberId: 'member-1', generation: 4 });
  fake.join('member-1', [1]);
  expect(member.place()).toBeNull();
  expect(events).toEqual(['joined 0,1 false', 'joined 1 true']);
  await member.close();
});

test('second replicas are the partitions of the topic that names them', async () => {
  const fake = fakeKafka();
  const { member, events } = await memberOf(fake);
  fake.join('member-1', [1, 0], [2]);
  expect(events.at(-1)).toBe('joined 0,1 + 2 true');
  await member.close();
});

test('a new member id means that others may have owned everything since', async () => {
  const fake = fakeKafka();
  const { member, events } = await memberOf(fake);
  fake.join('member-9', [0, 1]);
  expect(events.at(-1)).toBe('joined 0,1 false');
  await member.close();
});

test('a silent session loses everything; a heartbeat of the same member brings it back', async () => {
  const fake = fakeKafka();
  const { member, events } = await memberOf(fake);
  await until(() => events.includes('lost'), 'it has given up');
  expect(member.memberId).toBeNull();
  expect(member.alive()).toBe(false);
  fake.heartbeat('member-1', 4);
  expect(events.slice(-2)).toEqual(['lost', 'joined 0,1 false']);
  expect(member.place()).toEqual({ memberId: 'member-1', generation: 4 });
  await member.close();
});

test('a crash loses everything and joins again, a bounded number of times in a row', async () => {
  const fake = fakeKafka();
  const { member, events } = await memberOf(fake, 2);
  for (const runs of [2, 3]) {
    fake.crash();
    expect(events.at(-1)).toBe('lost');
    await until(() => fake.runs.length === runs, 'it joins again');
  }
  fake.crash();
  expect(events.at(-1)).toBe('group_crashed');
  await member.close();
});

test('while the log is away a member joins again however often it crashes', async () => {
  const fake = fakeKafka();
  const { member, events } = await memberOf(fake, 2);
  for (let runs = 2; runs < 12; runs += 1) {
    fake.crash('', 'KafkaJSConnectionError');
    await until(() => fake.runs.length === runs, 'it joins again');
  }
  expect(events).not.toContain('group_crashed');
  await member.close();
});

test('a member whose coordinator is silent joins again once another broker coordinates the group', async () => {
  const fake = fakeKafka();
  const removed: string[] = [];
  const { member, events } = await memberOf(
    fake,
    3,
    undefined,
    async (id) => void removed.push(id),
  );
  fake.heartbeat('member-1', 1);
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(fake.runs.length).toBe(1);
  fake.coordinator.nodeId = 2;
  await until(() => fake.runs.length === 2, 'it joins again');
  expect(events.slice(-2)).toEqual(['lost', 'joined 0,1 false']);
  expect([member.memberId, removed]).toEqual(['member-2', ['member-1']]);
  await member.close();
});

test('a group that cannot be joined yet is joined before the start resolves', async () => {
  const fake = fakeKafka(2);
  const { member, events } = await memberOf(fake);
  expect(events).toEqual(['lost', 'lost', 'joined 0,1 false']);
  expect(member.memberId).toBe('member-3');
  await member.close();
});

test('the start is rejected when every run crashes, after a bounded number of them', async () => {
  const fake = fakeKafka(9);
  await expect(memberOf(fake, 2)).rejects.toThrow('group_unreachable');
  expect(fake.runs.length).toBe(3);
});

test('a session that the broker refuses as too short is lengthened to its default, once', async () => {
  const fake = fakeKafka();
  const { member, events } = await memberOf(fake);
  fake.crash('INVALID_SESSION_TIMEOUT');
  await until(() => fake.runs.length === 2, 'it joins again');
  expect(fake.sessionsMs).toEqual([200, 6_000]);
  expect(events.at(-1)).toBe('joined 0,1 false');
  fake.crash('INVALID_SESSION_TIMEOUT');
  await until(() => fake.runs.length === 3, 'it joins again');
  expect(fake.sessionsMs.at(-1)).toBe(6_000);
  await member.close();
});

test('what is done while joining begins with the first join only', async () => {
  const fake = fakeKafka();
  let begun = 0;
  const { member } = await memberOf(fake, 3, async () => {
    begun += 1;
  });
  fake.crash();
  await until(() => fake.runs.length === 2, 'it joins again');
  expect(begun).toBe(1);
  await member.close();
});
