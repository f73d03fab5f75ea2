import { defaultLimits } from '../../src/kafka/limits.ts';
import { Membership, type MembershipOptions } from '../../src/kafka/membership.io.ts';
import { silentLog } from '../../src/log/index.ts';
import { createDeferred } from './deferred.ts';
import { ManualKafka } from './manual-consumer.ts';

const sessionMs = 3_000;
const heartbeatMs = 300;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const advance = (ms: number) => jest.advanceTimersByTimeAsync(ms);

function memberOf(
  kafka: ManualKafka,
  hooks: Partial<MembershipOptions> = {},
  maxGroupRestarts = 3,
) {
  const events: string[] = [];
  const limits = { ...defaultLimits, initialRetryMs: 1, maxGroupRestarts };
  const member = new Membership(
    { kafka: kafka.asKafka(), limits, log: silentLog },
    {
      groupId: 'g',
      topic: 't',
      instance: '',
      sessionTimeoutMs: sessionMs,
      standbyTopic: 's',
      placed: () => ({ partitions: [], standbys: [] }),
      onJoined: ({ partitions, standbys }, sameMember) =>
        events.push(`joined ${[partitions, ...standbys].join(' + ')} ${sameMember}`),
      onLost: () => events.push('lost'),
      onFault: (fault) => events.push(fault.code),
      onHeard: () => events.push('heard'),
      ...hooks,
    },
  );
  return { member, events };
}

async function started(
  kafka: ManualKafka,
  hooks: Partial<MembershipOptions> = {},
  maxGroupRestarts = 3,
) {
  const made = memberOf(kafka, hooks, maxGroupRestarts);
  const starting = made.member.start();
  await advance(1);
  await starting;
  return made;
}

/** Heartbeats in their interval for so long. */
async function beat(kafka: ManualKafka, ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += heartbeatMs) {
    await advance(heartbeatMs);
    kafka.newest.heartbeat();
  }
}

const left = ({ calls }: { readonly calls: readonly string[] }) => calls.at(-1) === 'disconnect';

describe('a member', () => {
  test('has a place from the first heartbeat of a generation on', async () => {
    const kafka = new ManualKafka();
    const { member, events } = await started(kafka);
    expect(member.place()).toBeNull();
    kafka.newest.heartbeat(4);
    expect(member.place()).toEqual({ memberId: 'member-1', generation: 4 });
    kafka.newest.join([1]);
    expect(member.place()).toBeNull();
    expect(events).toEqual(['joined 0,1 false', 'joined 1 true']);
    await member.close();
  });

  test('has second replicas as the partitions of the topic that names them', async () => {
    const kafka = new ManualKafka();
    const { member, events } = await started(kafka);
    kafka.newest.join([1, 0], [2]);
    expect(events.at(-1)).toBe('joined 0,1 + 2 true');
    await member.close();
  });

  test('with a new id may not have been the owner all the time', async () => {
    const kafka = new ManualKafka();
    const { member, events } = await started(kafka);
    kafka.newest.join([0, 1], undefined, 'member-9');
    expect(events.at(-1)).toBe('joined 0,1 false');
    await member.close();
  });

  test('does what is due while joining with the first join only', async () => {
    const kafka = new ManualKafka();
    let begun = 0;
    const whileJoining = async () => {
      begun += 1;
    };
    const { member } = await started(kafka, { whileJoining });
    kafka.newest.crash();
    await advance(10);
    expect([kafka.consumers.length, begun]).toEqual([2, 1]);
    await member.close();
  });
});

describe('the start', () => {
  test('resolves after a group that cannot be joined yet was joined', async () => {
    const kafka = new ManualKafka();
    kafka.onRun = async (one) => (kafka.consumers.length < 3 ? one.crash() : one.join());
    const { member, events } = memberOf(kafka);
    const starting = member.start();
    await advance(20);
    await starting;
    expect(events).toEqual(['joined 0,1 false']);
    expect(member.memberId).toBe('member-3');
    await member.close();
  });

  test('is rejected when every run crashes, after a bounded number of them', async () => {
    const kafka = new ManualKafka();
    kafka.onRun = async (one) => one.crash();
    const { member } = memberOf(kafka, {}, 2);
    const starting = expect(member.start()).rejects.toThrow('group_unreachable');
    await advance(100);
    await starting;
    expect(kafka.consumers.length).toBe(3);
  });

  test('is rejected with what refuses the first connection', async () => {
    const kafka = new ManualKafka();
    kafka.onConnect = async () => {
      throw new Error('wrong password');
    };
    const { member } = memberOf(kafka);
    const starting = expect(member.start()).rejects.toThrow('wrong password');
    await advance(1);
    await starting;
  });

  test('is rejected after its limit although the join goes on, and the member leaves once it has joined', async () => {
    const kafka = new ManualKafka();
    const answered = createDeferred();
    kafka.onRun = async (one) => {
      await answered.promise;
      one.join();
    };
    const { member, events } = memberOf(kafka);
    const starting = expect(member.start()).rejects.toThrow('group_unreachable');
    await advance(defaultLimits.rebalanceTimeoutMs + sessionMs + defaultLimits.closeTimeoutMs);
    await starting;
    expect(left(kafka.newest)).toBe(false);
    answered.resolve();
    await advance(1);
    expect(left(kafka.newest)).toBe(true);
    expect([member.memberId, events]).toEqual([null, []]);
  });
});

describe('a silent member', () => {
  test('gives everything up after a session; heartbeats of the same one bring it back', async () => {
    const kafka = new ManualKafka();
    const { member, events } = await started(kafka);
    await advance(sessionMs + heartbeatMs);
    expect(events.at(-1)).toBe('lost');
    expect([member.memberId, member.alive()]).toEqual([null, false]);
    kafka.newest.heartbeat(4);
    kafka.newest.heartbeat(4);
    expect(events.slice(-2)).toEqual(['lost', 'joined 0,1 false']);
    expect(member.place()).toEqual({ memberId: 'member-1', generation: 4 });
    await member.close();
  });

  test('counts the contact of a heartbeat from its sending, not from the answer', async () => {
    const kafka = new ManualKafka();
    const { member, events } = await started(kafka);
    await beat(kafka, heartbeatMs * 2);
    expect(member.alive()).toBe(true);
    // The next one is sent now, and its answer comes when the session that it began is over.
    await advance(sessionMs + heartbeatMs);
    kafka.newest.heartbeat();
    expect(member.alive()).toBe(false);
    await advance(heartbeatMs);
    kafka.newest.heartbeat();
    expect([member.alive(), events.at(-1)]).toEqual([true, 'joined 0,1 false']);
    await member.close();
  });

  test('that is heard before it has given up says so once it counts again', async () => {
    const kafka = new ManualKafka();
    const { member, events } = await started(kafka);
    const look = jest.spyOn(performance, 'now');
    const nowMs = performance.now();
    // No look between the end of the session and the answers, as after a pause of the process.
    look.mockReturnValue(nowMs + sessionMs + 1);
    expect(member.alive()).toBe(false);
    kafka.newest.heartbeat();
    expect([member.alive(), events.includes('heard')]).toEqual([false, false]);
    kafka.newest.heartbeat();
    expect([member.alive(), events]).toEqual([true, ['joined 0,1 false', 'heard']]);
    look.mockRestore();
    await member.close();
  });

  test('is started again after two sessions, whatever the reason, and its former self is removed', async () => {
    const kafka = new ManualKafka();
    const removed: string[] = [];
    const { member, events } = await started(kafka, {
      removeFormer: async (id) => void removed.push(id),
    });
    kafka.onLook = () => Promise.reject(new Error('nobody knows'));
    await beat(kafka, sessionMs);
    expect(kafka.consumers.length).toBe(1);
    await advance(sessionMs * 2 + heartbeatMs);
    await advance(heartbeatMs);
    expect(kafka.consumers.map(left)).toEqual([true, false]);
    expect(events.slice(-2)).toEqual(['lost', 'joined 0,1 false']);
    expect([member.memberId, removed]).toEqual(['member-2', ['member-1']]);
    await member.close();
  });

  test('has more time while it joins again, which waits for the others', async () => {
    const kafka = new ManualKafka();
    const { member } = await started(kafka);
    kafka.newest.rebalancing();
    await advance(sessionMs * 3);
    expect(kafka.consumers.length).toBe(1);
    kafka.newest.join();
    expect(member.alive()).toBe(true);
    kafka.newest.rebalancing();
    kafka.onLook = () => Promise.reject(new Error('nobody knows'));
    await advance(defaultLimits.rebalanceTimeoutMs * 2 + sessionMs);
    expect(kafka.consumers.length).toBe(2);
    await member.close();
  });

  test('joins again once another broker coordinates the group', async () => {
    const kafka = new ManualKafka();
    const removed: string[] = [];
    const { member, events } = await started(kafka, {
      removeFormer: async (id) => void removed.push(id),
    });
    kafka.newest.heartbeat();
    await advance(sessionMs - heartbeatMs * 2);
    expect(kafka.consumers.length).toBe(1);
    kafka.coordinator = 2;
    await advance(heartbeatMs * 2);
    expect(kafka.consumers.length).toBe(2);
    expect(events.slice(-2)).toEqual(['lost', 'joined 0,1 false']);
    expect([member.memberId, removed]).toEqual(['member-2', ['member-1']]);
    await member.close();
  });

  test('looks for its coordinator again as long as it is not known', async () => {
    const kafka = new ManualKafka();
    kafka.onLook = () => Promise.reject(new Error('nobody answers'));
    const { member } = await started(kafka);
    await beat(kafka, sessionMs);
    kafka.onLook = async () => kafka.coordinator;
    await beat(kafka, heartbeatMs * 2);
    kafka.coordinator = 2;
    await advance(sessionMs);
    expect(kafka.consumers.length).toBe(2);
    await member.close();
  });
});

describe('a member that crashes', () => {
  test('loses everything and joins again, a bounded number of times in a row', async () => {
    const kafka = new ManualKafka();
    const { member, events } = await started(kafka, {}, 2);
    for (const consumers of [2, 3]) {
      kafka.newest.crash();
      expect(events.at(-1)).toBe('lost');
      await advance(20);
      expect(kafka.consumers.length).toBe(consumers);
    }
    kafka.newest.crash();
    await advance(20);
    expect(events.at(-1)).toBe('group_crashed');
    expect(kafka.consumers.length).toBe(3);
    await member.close();
  });

  test('reports that it gives up when its owner fails, and does not stand still without a fault', async () => {
    const kafka = new ManualKafka();
    const onLost = () => {
      throw new Error('a bug');
    };
    const { member, events } = await started(kafka, { onLost });
    await advance(sessionMs + heartbeatMs);
    expect(events).toEqual(['joined 0,1 false', 'group_crashed']);
    expect(kafka.consumers.map(left)).toEqual([true]);
    await member.close();
  });

  test('joins again however often while the log is away', async () => {
    const kafka = new ManualKafka();
    const { member, events } = await started(kafka, {}, 2);
    for (let consumers = 2; consumers < 12; consumers += 1) {
      kafka.newest.crash('', 'KafkaJSConnectionError');
      await advance(defaultLimits.maxRetryMs + 1);
      expect(kafka.consumers.length).toBe(consumers);
    }
    expect(events).not.toContain('group_crashed');
    await member.close();
  });

  test('lengthens a session that the broker refuses as too short to its default, once', async () => {
    const kafka = new ManualKafka();
    const { member, events } = await started(kafka);
    kafka.newest.crash('INVALID_SESSION_TIMEOUT');
    await advance(20);
    expect(kafka.consumers.map((one) => one.sessionMs)).toEqual([sessionMs, 6_000]);
    expect(events.at(-1)).toBe('joined 0,1 false');
    kafka.newest.crash('INVALID_SESSION_TIMEOUT');
    await advance(20);
    expect(kafka.newest.sessionMs).toBe(6_000);
    await member.close();
  });

  test('while its coordinator is looked for is replaced by one member, not by two', async () => {
    const kafka = new ManualKafka();
    const { member } = await started(kafka);
    await beat(kafka, heartbeatMs * 2);
    const look = createDeferred();
    kafka.onLook = async () => {
      await look.promise;
      return 2;
    };
    await advance(sessionMs * 0.75);
    kafka.newest.crash('', 'KafkaJSConnectionError');
    look.resolve();
    await advance(sessionMs / 2);
    expect(kafka.consumers.map(left)).toEqual([true, false]);
    expect(member.memberId).toBe('member-2');
    await member.close();
    expect(kafka.consumers.map(left)).toEqual([true, true]);
  });
});

describe('a member that is closed', () => {
  /** A member that has crashed, and whose second consumer waits at this step. */
  async function atStep(step: 'onConnect' | 'onRun') {
    const kafka = new ManualKafka();
    const { member } = await started(kafka);
    const goesOn = createDeferred();
    kafka[step] = async (one) => {
      await goesOn.promise;
      if (step === 'onRun') one.join();
    };
    kafka.newest.crash('', 'KafkaJSConnectionError');
    await advance(20);
    expect(kafka.consumers.length).toBe(2);
    const closing = member.close();
    await advance(defaultLimits.closeTimeoutMs);
    await closing;
    goesOn.resolve();
    await advance(sessionMs);
    return { kafka, member };
  }

  test('while it connects again joins no more', async () => {
    const { kafka, member } = await atStep('onConnect');
    expect(kafka.newest.calls).toEqual(['connect', 'disconnect']);
    expect([kafka.consumers.length, member.memberId]).toEqual([2, null]);
  });

  test('while it joins again leaves once it has joined, and not before', async () => {
    const { kafka, member } = await atStep('onRun');
    expect(kafka.newest.calls).toEqual(['connect', 'subscribe', 'run', 'disconnect']);
    expect([kafka.consumers.length, member.memberId]).toEqual([2, null]);
  });

  test('while it waits for the next try opens no other consumer', async () => {
    const kafka = new ManualKafka();
    const { member } = await started(kafka);
    kafka.newest.crash('', 'KafkaJSConnectionError');
    await member.close();
    await advance(sessionMs);
    expect(kafka.consumers.length).toBe(1);
  });
});

test('a partition that was added is learnt, and only when there is one', async () => {
  const kafka = new ManualKafka();
  let partitions = 2;
  const asked: number[] = [];
  const hasPartition = async (partition: number) => {
    asked.push(partition);
    return partition < partitions;
  };
  const { member } = await started(kafka, { hasPartition });
  await beat(kafka, defaultLimits.metadataMaxAgeMs + sessionMs);
  expect([asked, kafka.learnt]).toEqual([[2], 0]);
  partitions = 3;
  await beat(kafka, defaultLimits.metadataMaxAgeMs);
  expect([asked, kafka.learnt]).toEqual([[2, 2], 1]);
  await member.close();
});

test('a consumer that does not leave holds up no other until there are several', async () => {
  const kafka = new ManualKafka();
  const { member } = await started(kafka);
  const never = new Promise<void>(() => {});
  for (const consumer of kafka.consumers) consumer.disconnect = () => never;
  kafka.onConnect = async (one) => {
    one.disconnect = () => never;
  };
  for (let crashes = 1; crashes <= 4; crashes += 1) {
    kafka.newest.crash('', 'KafkaJSConnectionError');
    await advance(50);
  }
  expect(kafka.consumers.length).toBe(4);
  await advance(defaultLimits.closeTimeoutMs * 2);
  expect(kafka.consumers.length).toBe(5);
  const closing = member.close();
  await advance(defaultLimits.closeTimeoutMs);
  await closing;
});
