import { Brokers } from '../../src/kafka/brokers.io.ts';
import { type OpenBroker, openCluster } from '../../src/kafka/kafkajs-cluster.io.ts';
import { openKafkajs } from '../../src/kafka/kafkajs-connection.io.ts';
import { asFault, LeaderMoved, NoResponse } from '../../src/kafka/kafkajs-errors.ts';
import { defaultLimits, leaderRetryMs } from '../../src/kafka/limits.ts';
import { NotReached } from '../../src/kafka/not-reached.ts';
import { silentLog } from '../../src/log/index.ts';
import { until } from './deferred.ts';
import { type ProduceStep, ScriptedBrokers } from './scripted-brokers.ts';

/** A request ends long after these tests would. */
const limits = {
  ...defaultLimits,
  requestTimeoutMs: 60_000,
  silenceMs: 50,
  leaderLookMs: 20,
};

const nodes = [1, 2, 3];
let scripted: ScriptedBrokers;
let kafka: ReturnType<typeof openKafkajs>;
let brokers: Brokers;

beforeEach(async () => {
  scripted = await ScriptedBrokers.open(nodes);
  scripted.topic('t', [1, 2, 3]);
  const options = { brokers: scripted.addresses, clientId: 'test', log: silentLog };
  kafka = openKafkajs(options, limits);
  brokers = new Brokers(kafka, limits);
  await brokers.connect();
  await brokers.load(['t']);
  // Each is connected.
  await Promise.all(nodes.map((node) => look(node)));
});

afterEach(async () => {
  for (const node of nodes) scripted.goOn(node);
  await brokers.disconnect();
  await scripted.close();
});

function addressOf(node: number) {
  const [host = '', port] = (scripted.addresses[node - 1] ?? '').split(':');
  return { host, port: Number(port) };
}

/** The partition that a broker leads at first. */
const placeAt = (node: number) => ({ topic: 't', partition: node - 1 });
const leaders = () => Object.fromEntries(brokers.leaders('t'));

function look(node: number): Promise<unknown> {
  const send = (broker: OpenBroker) => broker.metadata(['t']);
  return brokers.askLeader({ node: String(node), places: [placeAt(node)], brokerWaitMs: 0, send });
}

test('new leaders are found while a broker that is connected stands still, each time', async () => {
  scripted.standStill(1);
  for (const [at, leader] of [2, 3, 2, 3, 2, 3, 2].entries()) {
    scripted.partition('t', 0).leader = leader;
    await brokers.load(['t']);
    expect([at, brokers.leaderOf('t/0')]).toEqual([at, String(leader)]);
  }
});

test("kafkajs' own look waits for the broker that stands still", async () => {
  scripted.standStill(1);
  const admin = kafka.admin({ retry: { retries: 0 } });
  const asking = async () => {
    await admin.connect();
    for (let looks = 0; looks < 100; looks += 1) await admin.fetchTopicMetadata({ topics: ['t'] });
    return 'answered';
  };
  const asked = asking().catch(() => 'failed');
  await until(() => scripted.heldBy(1) > 0, 'it asks the one that stands still');
  const soon = new Promise((resolve) => setTimeout(() => resolve('waits'), 500));
  expect(await Promise.race([asked, soon])).toBe('waits');
  scripted.goOn(1);
  await asked;
  await admin.disconnect();
});

test('a partition without a leader takes none from the others, and is not the same as one that is unknown', async () => {
  scripted.partition('t', 0).leader = -1;
  scripted.partition('t', 1).leader = 3;
  await brokers.load(['t']);
  expect(leaders()).toEqual({ 1: '3', 2: '3' });
  expect([brokers.leaderOf('t/0'), brokers.leaderOf('t/9')]).toEqual([null, undefined]);
});

test("a new client learns the leaders that there are, which kafkajs' own does not", async () => {
  scripted.partition('t', 0).leader = -1;
  const late = new Brokers(kafka, limits);
  await late.connect();
  await late.load(['t']);
  expect(Object.fromEntries(late.leaders('t'))).toEqual({ 1: '2', 2: '3' });
  await late.disconnect();
  const admin = kafka.admin({ retry: { retries: 0 } });
  await admin.connect();
  const asked = admin.fetchTopicMetadata({ topics: ['t'] });
  await expect(asked).rejects.toThrow('no leader');
  await admin.disconnect();
});

test('a request is given up when its broker leads nothing of it, with another leader or without', async () => {
  for (const leader of [2, -1]) {
    scripted.partition('t', 0).leader = 1;
    await brokers.load(['t']);
    scripted.standStill(1);
    const asked = look(1);
    await until(() => scripted.heldBy(1) > 0, 'the request is there');
    scripted.partition('t', 0).leader = leader;
    await expect(asked).rejects.toMatchObject({ name: 'LeaderMoved' });
    scripted.goOn(1);
  }
});

test('a new leader that the look of a silent request finds is reported, though the request is answered', async () => {
  const found: unknown[] = [];
  brokers.onLeaders(() => found.push(leaders()));
  scripted.standStill(1);
  const send = (broker: OpenBroker) => broker.metadata(['t']);
  // One place stays where it is, so the request is not given up.
  const places = [placeAt(1), { topic: 'unknown', partition: 0 }];
  scripted.partition('t', 0).leader = 2;
  const asked = brokers.askLeader({
    node: '1',
    places: [...places, placeAt(1)],
    brokerWaitMs: 0,
    send,
  });
  asked.catch(() => {});
  await until(() => found.length > 0, 'the new leader is reported');
  expect(found).toEqual([{ 0: '2', 1: '2', 2: '3' }]);
  scripted.goOn(1);
  await Promise.allSettled([asked]);
  await brokers.refresh();
  expect(found).toHaveLength(1);
});

test('a broker that answers nothing is connected again, and what waits for it ends', async () => {
  scripted.standStill(1);
  const waiting = look(1);
  const ended = expect(waiting).rejects.toThrow();
  await until(() => scripted.heldBy(1) > 0, 'the request is there');
  await brokers.renew('1');
  await ended;
  scripted.goOn(1);
  expect(await look(1)).toBeDefined();
});

test('answers that come late end no connection that was opened since', async () => {
  scripted.standStill(1);
  const asked = look(1);
  await until(() => scripted.heldBy(1) > 0, 'the request is there');
  scripted.partition('t', 0).leader = 2;
  await expect(asked).rejects.toMatchObject({ name: 'LeaderMoved' });
  scripted.partition('t', 0).leader = 1;
  await brokers.load(['t']);
  const again = look(1);
  await until(() => scripted.heldBy(1) > 1, 'the next one is there');
  scripted.goOn(1);
  await again;
  await Promise.all([look(1), look(1)]);
});

test('requests on a connection that is given up end with it', async () => {
  scripted.standStill(1);
  const send = (broker: OpenBroker) => broker.metadata(['t']);
  // The partitions of the request keep their leader, so only the end of the connection ends the request.
  const places = [{ topic: 't', partition: 0 }, placeAt(2)];
  await brokers.load(['t']);
  const other = brokers.askLeader({ node: '1', places, brokerWaitMs: 60_000, send });
  const settled = Promise.allSettled([look(1), other]);
  await until(() => scripted.heldBy(1) === 2, 'the requests are there');
  scripted.partition('t', 0).leader = 3;
  for (const one of await settled) expect(one.status).toBe('rejected');
});

test('a question does not wait for appends that all brokers hold back', async () => {
  const held: ProduceStep[] = [];
  scripted.onProduce = (step) => void held.push(step);
  const appends = nodes.map((node) => {
    const { topic, partition } = placeAt(node);
    const messages = [{ value: 'v', timestamp: '0' }];
    const topicData = [{ topic, partitions: [{ partition, firstSequence: 0, messages }] }];
    const send = (broker: OpenBroker) =>
      broker.produce({ topicData, acks: -1, producerId: 1, producerEpoch: 0 });
    const places = [{ topic, partition }];
    return brokers.askLeader({ node: String(node), places, brokerWaitMs: 60_000, send });
  });
  await until(() => held.length === nodes.length, 'each broker has one');
  scripted.partition('t', 0).leader = 2;
  await brokers.load(['t']);
  expect(brokers.leaderOf('t/0')).toBe('2');
  scripted.partition('t', 0).leader = 1;
  for (const step of held) step.answer(step.append());
  await Promise.all(appends);
});

test('a question that is late ends no other request on the connection', async () => {
  const hasty = new Brokers(kafka, { ...limits, requestTimeoutMs: 50, silenceMs: 10_000 });
  await hasty.connect();
  await hasty.load(['t']);
  for (const node of nodes) scripted.standStill(node);
  const send = (broker: OpenBroker) => broker.metadata(['t']);
  const places = [placeAt(1)];
  const asked = hasty.askLeader({ node: '1', places, brokerWaitMs: 60_000, send });
  await expect(hasty.load(['t'])).rejects.toThrow('no answer');
  for (const node of nodes) scripted.goOn(node);
  expect(await asked).toBeDefined();
  await hasty.disconnect();
});

test('all brokers are back at other addresses: one that the client was given leads to them', async () => {
  const given = { host: '127.0.0.1', port: 1 };
  const route = (address: { host: string; port: number }) =>
    address.port === given.port ? addressOf(2) : address;
  const options = { brokers: ['127.0.0.1:1'], clientId: 'test', log: silentLog, route };
  const far = new Brokers(openKafkajs(options, limits), limits);
  await far.connect();
  await far.load(['t']);
  for (const node of nodes) await scripted.move(node);
  scripted.partition('t', 0).leader = 3;
  await far.load(['t']);
  expect(far.leaderOf('t/0')).toBe('3');
  await far.load(['t']);
  await far.disconnect();
});

test('a first address that takes connections and answers nothing is passed over', async () => {
  scripted.standStill(1);
  const quick = { ...limits, requestTimeoutMs: 100 };
  const options = { brokers: scripted.addresses, clientId: 'test', log: silentLog };
  const late = new Brokers(openKafkajs(options, quick), quick);
  await late.connect();
  await late.load(['t']);
  expect(Object.fromEntries(late.leaders('t'))).toEqual({ 0: '1', 1: '2', 2: '3' });
  await late.disconnect();
});

test('requests that find a connection closed open it once', async () => {
  const before = scripted.connectionsOf(1);
  const pool = await openCluster(kafka, limits).connectionPoolBuilder.build({
    ...addressOf(1),
    rack: undefined,
  });
  const opened = await Promise.all([0, 0, 0, 1].map((index) => pool.getConnection(index)));
  await until(() => scripted.connectionsOf(1) >= before + 2, 'both are there');
  expect(new Set(opened).size).toBe(2);
  expect(scripted.connectionsOf(1)).toBe(before + 2);
  for (const connection of opened) await connection.disconnect();
});

test('what is silent or has moved may be met by another attempt', () => {
  const errors = [new NoResponse('no answer'), new LeaderMoved('moved')];
  for (const error of [...errors, ...errors.map((cause) => new NotReached(cause))])
    expect(asFault(error)).toMatchObject({ code: 'log_away', reaction: 'retry' });
});

test('a closed client asks no broker', async () => {
  await brokers.disconnect();
  for (const topic of ['t', 'other'])
    await expect(brokers.load([topic])).rejects.toMatchObject({ code: 'client_closed' });
});

test('a broker that is back at another address is connected there', async () => {
  await scripted.move(2);
  await expect(look(2)).rejects.toThrow();
  await brokers.load(['t']);
  expect(await look(2)).toBeDefined();
});

test('a leader that cannot be reached is tried again at once, and then as often as leaders are looked up', () => {
  const waits = (wasAnswered: boolean) =>
    [0, 1, 2, 5, 100].map((failures) => leaderRetryMs(failures, wasAnswered, defaultLimits));
  expect(waits(false)).toEqual([10, 250, 250, 250, 250]);
  expect(waits(true)).toEqual([10, 20, 40, 250, 250]);
});

test('leaders of all topics are looked up together, and one that is gone takes none from the others', async () => {
  scripted.topic('u', [1]);
  await brokers.load(['u']);
  scripted.partition('u', 0).leader = 2;
  await brokers.load(['t']);
  expect(brokers.leaderOf('u/0')).toBe('2');
  scripted.remove('t');
  scripted.partition('u', 0).leader = 3;
  await brokers.load(['u']);
  expect(brokers.leaderOf('u/0')).toBe('3');
  await expect(brokers.load(['t'])).rejects.toMatchObject({ type: 'UNKNOWN_TOPIC_OR_PARTITION' });
});

test('a topic that does not exist is an error, and one that does is loaded all the same', async () => {
  await expect(brokers.load(['none'])).rejects.toMatchObject({
    type: 'UNKNOWN_TOPIC_OR_PARTITION',
  });
  scripted.partition('t', 2).leader = 1;
  await brokers.load(['t']);
  expect(brokers.leaderOf('t/2')).toBe('1');
});

test('without any broker a question fails', async () => {
  for (const node of nodes) scripted.kill(node);
  await expect(brokers.load(['t'])).rejects.toThrow();
});
