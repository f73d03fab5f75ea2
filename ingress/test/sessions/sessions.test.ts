import { Fault } from '@pm/kit/fault';
import { holderOf, SessionProcess, SessionsTopic } from '../sessions-fixture.ts';

const holder = holderOf(1);
const start = { kind: 'start' } as const;
const processes: SessionProcess[] = [];

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'performance', 'hrtime'] });
});
afterEach(() => {
  for (const process of processes.splice(0)) process.kill();
  jest.useRealTimers();
});

function open(...args: ConstructorParameters<typeof SessionProcess>): SessionProcess {
  const process = new SessionProcess(...args);
  processes.push(process);
  return process;
}

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

/** The outcome of something that needs time to pass. */
async function during<T>(action: Promise<T>, ms = 10): Promise<T> {
  await pass(ms);
  return await action;
}

const phases = (topic: SessionsTopic) => topic.said.map(({ phase }) => phase);

test('silence is recorded 13 to 13.5 s after the last heartbeat, and its orders are canceled everywhere', async () => {
  const sent: string[] = [];
  const topic = new SessionsTopic();
  const process = open(topic, {
    run: async (partition, command) => {
      const facts = command.kind === 'CancelOrders' ? command : null;
      sent.push(`${partition} ${facts?.session} ${facts?.apiKey?.toString('hex')}`);
      return { kind: 'executed', place: { partition, inOffset: 1 }, events: [] };
    },
  });
  await during(process.desk.beat(holder, start));
  await pass(12_900);
  expect(phases(topic)).toEqual(['LIVE']);
  await pass(700);
  expect(phases(topic)).toEqual(['LIVE', 'MISSED', 'ENDED']);
  const key = holder.apiKey.replaceAll('-', '');
  expect(sent.sort()).toEqual([`0 true ${key}`, `1 true ${key}`]);
  expect(process.told.endedAfterMs[0]).toBeGreaterThan(13_000);
  expect(process.told.endedAfterMs[0]).toBeLessThan(13_600);
  await pass(60_000);
  expect(phases(topic)).toHaveLength(3);
});

test('a heartbeat that the watcher has not read yet makes its miss void, and nothing is canceled', async () => {
  const topic = new SessionsTopic();
  let readMs = 0;
  const sent: number[] = [];
  const slow = open(topic, {
    readMs: () => readMs,
    run: async (partition) => {
      sent.push(partition);
      return { kind: 'pending' };
    },
  });
  const other = open(topic);
  await during(other.desk.beat(holder, start));
  await pass(12_000);
  readMs = 2_500;
  const next = await during(other.desk.beat(holder, start));
  expect(next.kind).toBe('accepted');
  await pass(2_000);
  // The slow one wrote a miss of the state before; the state is written once more for who starts later.
  expect(phases(topic).filter((phase) => phase === 'MISSED')).toHaveLength(1);
  expect(phases(topic).at(-1)).toBe('LIVE');
  await pass(3_000);
  expect([slow.told.missed, sent]).toEqual([0, []]);
  expect(open(topic).table.find(holder.apiKey)?.phase).toBe('LIVE');
});

test('who cancels and dies is replaced within seconds, and what it still sends is repeated', async () => {
  const topic = new SessionsTopic();
  const stuck = new Promise<never>(() => {});
  const dying = open(topic, { run: () => stuck });
  await during(dying.desk.beat(holder, start));
  await pass(13_500);
  expect(phases(topic)).toEqual(['LIVE', 'MISSED']);
  const next = open(topic);
  dying.kill();
  await pass(5_900);
  expect(phases(topic)).toEqual(['LIVE', 'MISSED']);
  await pass(1_000);
  expect(phases(topic)).toEqual(['LIVE', 'MISSED', 'MISSED', 'ENDED']);
  expect(next.table.missed.size).toBe(0);
});

test('after an outage of the log every key has a whole period to beat again', async () => {
  const topic = new SessionsTopic();
  const process = open(topic);
  const first = await during(process.desk.beat(holder, start));
  await pass(8_000);
  let goOn = () => {};
  topic.open = new Promise((resolve) => {
    goOn = resolve;
  });
  const lost = process.desk.beat(holder, start);
  await pass(30_000);
  expect(await lost).toEqual({ kind: 'refused', code: 'log_unavailable' });
  goOn();
  topic.open = Promise.resolve();
  await pass(9_000);
  expect(phases(topic)).not.toContain('MISSED');
  expect(first.kind).toBe('accepted');
  await pass(5_000);
  expect(phases(topic)).toContain('ENDED');
});

test('a miss that was written down in an outage is taken back', async () => {
  const topic = new SessionsTopic();
  const process = open(topic);
  const first = await during(process.desk.beat(holder, start));
  await pass(12_600);
  let goOn = () => {};
  topic.open = new Promise((resolve) => {
    goOn = resolve;
  });
  await pass(10_000);
  goOn();
  topic.open = Promise.resolve();
  await pass(700);
  expect(phases(topic).slice(0, 2)).toEqual(['LIVE', 'MISSED']);
  expect(phases(topic).at(-1)).toBe('LIVE');
  expect(phases(topic)).not.toContain('ENDED');
  expect(process.told).toMatchObject({ revived: 1, endedAfterMs: [] });
  if (first.kind !== 'accepted') throw new Error('the chain has begun');
  const next = await during(process.desk.beat(holder, { kind: 'next', id: first.id }));
  expect(next.kind).toBe('accepted');
});

test('after a long outage of all processes silence counts from their return', async () => {
  const topic = new SessionsTopic();
  const before = open(topic);
  await during(before.desk.beat(holder, start));
  await during(before.desk.beat(holderOf(2), start));
  before.kill();
  await pass(600_000);
  const after = open(topic);
  await pass(9_000);
  expect((await during(after.desk.beat(holderOf(2), start))).kind).toBe('accepted');
  await pass(5_000);
  expect(after.table.find(holder.apiKey)?.phase).toBe('ENDED');
  expect(after.table.find(holderOf(2).apiKey)?.phase).toBe('LIVE');
});

test('a partition without an owner holds up the end of the session, not the other partitions', async () => {
  const topic = new SessionsTopic();
  const sent: number[] = [];
  let isReady = false;
  const process = open(topic, {
    partitions: {
      numbers: [0, 1, 2],
      isReady: (partition) => partition !== 1 || isReady,
      at: () => ({ clockMs: 5 }),
    },
    run: async (partition) => {
      sent.push(partition);
      return { kind: 'executed', place: { partition, inOffset: 1 }, events: [] };
    },
  });
  await during(process.desk.beat(holder, start));
  await pass(60_000);
  expect([sent, phases(topic)]).toEqual([
    [0, 2],
    ['LIVE', 'MISSED'],
  ]);
  isReady = true;
  await pass(600);
  expect([sent, phases(topic).at(-1)]).toEqual([[0, 2, 1], 'ENDED']);
});

test('a partition is asked again until nothing is left, and after a refusal for its age', async () => {
  const topic = new SessionsTopic();
  const codes = ['too_many_open_orders', 'too_many_open_orders', 'too_late'] as const;
  let runs = 0;
  const process = open(topic, {
    partitions: { numbers: [0], isReady: () => true, at: () => ({ clockMs: 5 }) },
    run: async () => {
      const code = codes[runs];
      runs += 1;
      const event = { kind: 'CommandRefused', command: 0, requestId: null } as const;
      const events = code === undefined ? [] : [{ index: 0, event: { ...event, code } }];
      return { kind: 'executed', place: { partition: 0, inOffset: 1 }, events };
    },
  });
  await during(process.desk.beat(holder, start));
  await pass(14_500);
  expect([runs, phases(topic).at(-1)]).toEqual([4, 'ENDED']);
});

test('a heartbeat whose record may be on the log or not is not accepted', async () => {
  const topic = new SessionsTopic();
  const process = open(topic, { waitMs: 200 });
  topic.fault = new Fault('send_outcome_unknown', 'release');
  const answer = await during(process.desk.beat(holder, start), 250);
  expect(answer).toEqual({ kind: 'refused', code: 'log_unavailable' });
  expect(process.told.beats).toEqual(['refused']);
});
