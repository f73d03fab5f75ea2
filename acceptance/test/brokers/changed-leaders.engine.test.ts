import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type LogClient, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { Kafka, logLevel, Partitioners, type Producer } from 'kafkajs';
import { contentsOf, freshTopic } from '../../../kit/test/kafka/engine.ts';
import { runLength } from '../../../kit/test/long-runs.ts';
import {
  partitions as bookPartitions,
  flow,
  openPartitions,
  openWorld,
  readThrough,
  until,
  valuesOf,
  type World,
} from '../../../matcher/test/partition/log-world.ts';
import { keys } from '../../../matcher/test/partition/sealed-records.ts';
import { SpawnedMatcher } from '../../../matcher/test/partition/spawned-matcher.ts';
import { ClusterUnderTest } from './cluster-under-test.ts';
import { judgeRecords, type WrittenRecord } from './judge-records.ts';
import { writeByKafkajs, writeByLanes } from './numbered-writers.ts';

jest.setTimeout(180_000);

const partitions = [0, 1, 2, 3, 4, 5];
/** Leaders that are killed between append and answer, one after the other. */
const rounds = runLength({ test: 1, deep: 12 });
const roundMaxMs = 60_000;
/** A request that is held back or awaited is there within this time, milliseconds. */
const requestMaxMs = 5_000;
/** Longer than the patient client waits for one answer: what the frozen broker has goes to another leader as well. */
const frozenMs = 3_500;
/** One broker of three is left alone for so long. */
const aloneMs = 2_000;
/** Its batches are given up long before a dead broker is replaced. */
const hastyLimits = { requestTimeoutMs: 400, sendTimeoutMs: 700 };

/** Orders wait for a leader as long as a slow machine takes to find one. */
const steadyLimits = { sendTimeoutMs: roundMaxMs };
/** Orders of a partition at a time, and the time between: some are on their way at any time. */
const orderFlow = { perRound: 2, pauseMs: 50 };
/** Records that each client has got acknowledged, so that the run says something. */
const acknowledgedMin = 300;

let cluster: ClusterUnderTest;
let client: LogClient;
const topics: string[] = [];
const records = { patient: [] as WrittenRecord[], hasty: [] as WrittenRecord[] };
const bare: WrittenRecord[] = [];
let topicOf: { readonly patient: string; readonly hasty: string; readonly bare: string };

function openClient(clientId: string, limits = {}): LogClient {
  return openLogClient({ brokers: cluster.addresses, clientId, log: silentLog, limits });
}

function bareProducer(): Producer {
  const kafka = new Kafka({
    brokers: [...cluster.addresses],
    clientId: 'bare',
    logLevel: logLevel.NOTHING,
    requestTimeout: 3_000,
    retry: { initialRetryTime: 20, maxRetryTime: 500, retries: 30 },
  });
  return kafka.producer({ idempotent: true, createPartitioner: Partitioners.DefaultPartitioner });
}

async function makeTopic(): Promise<string> {
  const copies = { replicationFactor: 3, minInSyncReplicas: 2 };
  const topic = await freshTopic(client, { partitions: partitions.length, ...copies });
  topics.push(topic);
  return topic;
}

beforeAll(async () => {
  cluster = await ClusterUnderTest.open();
  client = openClient('setup');
  topicOf = { patient: await makeTopic(), hasty: await makeTopic(), bare: await makeTopic() };
}, 120_000);

afterAll(async () => {
  await client?.close();
  await cluster?.close();
}, 60_000);

/**
 * Resolves when this broker has done it for each of these topics of which it leads a partition, or when the time is
 * over: a client may be busy with what it lost. The topics for which it was done.
 */
async function eachLed(
  node: number,
  of: readonly string[],
  done: (topic: string) => Promise<void>,
): Promise<ReadonlySet<string>> {
  const hit = new Set<string>();
  const waits = of.map(async (topic) => {
    const states = [...(await cluster.partitionsOf(topic)).values()];
    if (!states.some(({ leader }) => leader === node)) return;
    await done(topic);
    hit.add(topic);
  });
  await Promise.race([Promise.all(waits), pause(requestMaxMs)]);
  return hit;
}

/**
 * Broker of this round, in rotation, among those that lead a partition of each topic. A broker whose heartbeats were
 * late on a busy machine leads nothing until another one is lost.
 */
async function leaderInTurn(round: number, of: readonly string[]): Promise<number> {
  await cluster.untilInSync(of);
  const { nodes } = cluster;
  const leadersOf = async (topic: string) =>
    new Set([...(await cluster.partitionsOf(topic)).values()].map(({ leader }) => leader));
  const leaders = await Promise.all(of.map(leadersOf));
  const inTurn = nodes.map((_, index) => nodes[(round + index) % nodes.length] ?? 1);
  const node = inTurn.find((one) => leaders.every((led) => led.has(one)));
  if (node === undefined) throw new Error(`no broker leads a partition of each of ${of.join()}`);
  return node;
}

/** The broker has appended and copied a record of each topic, and its answer never arrives. */
const held = (node: number, of: readonly string[]) =>
  eachLed(node, of, (topic) => cluster.proxy(node).holdProduceResponse(topic));

/** The broker has just got a record of each topic, which it may have appended or not. */
const reached = (node: number, of: readonly string[]) =>
  eachLed(node, of, (topic) => cluster.proxy(node).nextProduceRequest(topic));

/** The leader whose turn it is in this round, and the topics of which it has a record in this way. */
async function stopAtLeader(
  round: number,
  of: readonly string[],
  way: typeof held,
): Promise<{ readonly node: number; readonly hit: ReadonlySet<string> }> {
  const node = await leaderInTurn(round, of);
  const hit = await way(node, of);
  if (hit.has(topicOf.patient) && hit.has(topicOf.hasty)) return { node, hit };
  // It has lost a partition since it was chosen.
  cluster.proxy(node).releaseHeld();
  return stopAtLeader(round, of, way);
}

async function killBetween(
  round: number,
  of: readonly string[],
  way: typeof held,
): Promise<ReadonlySet<string>> {
  const { node, hit } = await stopAtLeader(round, of, way);
  cluster.kill(node);
  await cluster.until('other leaders', of, ({ leader }) => leader > 0 && leader !== node);
  await pause(500);
  cluster.proxy(node).releaseHeld();
  await cluster.start(node);
  return hit;
}

/** The leader is paused after the append, another one leads meanwhile, and the answer comes when it goes on. */
async function freezeBetween(round: number, of: readonly string[]): Promise<ReadonlySet<string>> {
  const { node, hit } = await stopAtLeader(round, of, held);
  cluster.freeze(node);
  await pause(frozenMs);
  await cluster.until('other leaders', of, ({ leader }) => leader > 0 && leader !== node);
  cluster.thaw(node);
  cluster.proxy(node).releaseHeld();
  return hit;
}

async function logOf(topic: string): Promise<Map<number, string[]>> {
  const log = new Map<number, string[]>();
  for (const partition of partitions)
    log.set(partition, await contentsOf(client, topic, partition));
  return log;
}

function counts(written: readonly WrittenRecord[]): Record<WrittenRecord['outcome'], number> {
  const sum = { acknowledged: 0, 'certainly not written': 0, unknown: 0 };
  for (const { outcome } of written) sum[outcome] += 1;
  return sum;
}

test('topics are there for every request once they are made, whichever broker takes it', async () => {
  const copies = { replicationFactor: 3, minInSyncReplicas: 2 };
  for (let made = 0; made < 4; made += 1) {
    const topic = await freshTopic(client, { partitions: 3, ...copies });
    for (const broker of cluster.addresses) {
      const asking = openLogClient({ brokers: [broker], clientId: 'asking', log: silentLog });
      const admin = await asking.admin();
      expect((await admin.bounds(topic)).size).toBe(3);
      await asking.close();
    }
  }
});

describe('leaders are killed and paused between append and answer', () => {
  let world: World;
  let owner: SpawnedMatcher;
  /** Topics of which a request was held back or awaited in each round. */
  const hits: ReadonlySet<string>[] = [];

  beforeAll(
    async () => {
      const topicPrefix = `t-brokers-${process.pid}-`;
      const { addresses: brokers } = cluster;
      world = await openWorld({
        brokers,
        topicPrefix,
        copies: 3,
        limits: steadyLimits,
      });
      await openPartitions(world);
      owner = new SpawnedMatcher({
        PM_KAFKA_BROKERS: cluster.addresses.join(),
        PM_TOPIC_PREFIX: topicPrefix,
        PM_ROOT_KEY: keys.operator.publicKey.toString('hex'),
        PM_OWNER_SEED: Buffer.alloc(32, 2).toString('hex'),
        PM_REPLICATION_MIN: '3',
        PM_OPERATOR_KEY: keys.operator.publicKey.toString('hex'),
        PM_INSTANCE: 'owner',
        PM_SNAPSHOT_DIR: join(cluster.folder, 'snapshots'),
      });
      const isLive = async () =>
        (await owner.partitionsIn('live')).length === bookPartitions.length;
      await until('the owner is live', isLive, roundMaxMs);
      await playScript();
    },
    120_000 + rounds * roundMaxMs,
  );

  afterAll(async () => {
    await owner?.kill('SIGKILL');
    await world?.client.close();
  });

  /** All writers write while the leaders change. */
  async function playScript(): Promise<void> {
    const end = new AbortController();
    const { signal } = end;
    const clients = [openClient('patient'), openClient('hasty', hastyLimits)] as const;
    const kafkajs = bareProducer();
    await kafkajs.connect();
    const options = (name: keyof typeof topicOf, into: WrittenRecord[]) => ({
      topic: topicOf[name],
      partitions,
      signal,
      records: into,
    });
    const writing = Promise.all([
      writeByLanes(await clients[0].producer(), options('patient', records.patient)),
      writeByLanes(await clients[1].producer(), options('hasty', records.hasty)),
      writeByKafkajs(kafkajs, options('bare', bare)),
      flow(world, signal, orderFlow),
    ]);
    const failed = writing.then(() => undefined);
    try {
      await Promise.race([playRounds([...topics, world.names.executions]), failed]);
    } finally {
      end.abort();
    }
    await failed;
    await kafkajs.disconnect();
    for (const one of clients) await one.close();
  }

  async function playRounds(of: readonly string[]): Promise<void> {
    await pause(1_000);
    for (let round = 0; round < rounds; round += 1)
      hits.push(await killBetween(round, of, round % 3 === 2 ? reached : held));
    hits.push(await freezeBetween(rounds, of));
    await cluster.untilInSync(of);
    await pause(500);
  }

  /** Inputs before these ends that have no output yet; throws at a gap and where the chain breaks. */
  async function outputsMissing(ins: ReadonlyMap<number, { readonly high: number }>) {
    const outs = await world.admin.bounds(world.names.executions);
    let missing = 0;
    for (const partition of bookPartitions) {
      const high = outs.get(partition)?.high ?? 0;
      const values = await valuesOf(world.client, world.names.executions, partition, high);
      const inputs = ins.get(partition)?.high ?? 0;
      missing += Math.max(0, inputs - readThrough(world, values).length);
    }
    return missing;
  }

  test('each acknowledged record is on the log once and in order, and none that is certainly not written', async () => {
    const patient = counts(records.patient);
    const hasty = counts(records.hasty);
    process.stdout.write(`${rounds} kills and a pause: ${JSON.stringify({ patient, hasty })}\n`);
    for (const hit of hits) process.stdout.write(`held or awaited: ${[...hit].join(' ')}\n`);
    expect(hits).toHaveLength(rounds + 1);
    expect(judgeRecords(records.patient, await logOf(topicOf.patient))).toEqual([]);
    expect(judgeRecords(records.hasty, await logOf(topicOf.hasty))).toEqual([]);
    expect(patient.acknowledged).toBeGreaterThan(acknowledgedMin);
    expect(hasty.acknowledged).toBeGreaterThan(acknowledgedMin);
  });

  test('a batch that is given up while its leader is away is reported as unknown, and those after it as not written', () => {
    const { unknown, 'certainly not written': notWritten } = counts(records.hasty);
    expect(unknown).toBeGreaterThanOrEqual(rounds);
    expect(notWritten).toBeGreaterThan(0);
  });

  test("bare kafkajs' producer loses or doubles acknowledged records under the same script", async () => {
    const wrong = judgeRecords(bare, await logOf(topicOf.bare));
    process.stdout.write(`kafkajs: ${JSON.stringify(counts(bare))}, ${wrong.length} wrong\n`);
    process.stdout.write(`${wrong.slice(0, 5).join('\n')}\n`);
    expect(wrong.length).toBeGreaterThan(0);
  });

  test('the owner of partitions goes on, and its outputs are dense and chained', async () => {
    if (owner.exitCode !== null) throw new Error(owner.lines.slice(-20).join('\n'));
    const ins = await world.admin.bounds(world.names.orders);
    // An output is on the log some time after its record has been applied.
    await until('all outputs', async () => (await outputsMissing(ins)) === 0, roundMaxMs);
  });
});

test('two of three brokers are killed while the third lacks records: none of these is lost, and writing resumes', async () => {
  const topic = await makeTopic();
  const [one, other, third] = [1, 2, 3];
  const written: WrittenRecord[] = [];
  const acknowledged = () => counts(written).acknowledged;
  const end = new AbortController();
  const writer = openClient('outage');
  const options = { topic, partitions, signal: end.signal, records: written };
  const writing = writeByLanes(await writer.producer(), options);
  await pause(500);
  cluster.freeze(third);
  await cluster.until('a third without new records', [topic], ({ leader, inSync }) => {
    return leader > 0 && leader !== third && !inSync.includes(third);
  });
  const lacked = acknowledged();
  await until('records that it lacks', async () => acknowledged() > lacked + 100, roundMaxMs);

  cluster.kill(one);
  cluster.kill(other);
  cluster.thaw(third);
  await pause(500);
  const atOutage = acknowledged();
  await pause(aloneMs);
  expect(acknowledged()).toBe(atOutage);
  await Promise.all([cluster.start(one), cluster.start(other)]);
  await cluster.untilInSync([topic]);
  const atReturn = acknowledged();
  await until('new records', async () => acknowledged() > atReturn + 100, roundMaxMs);
  end.abort();
  await writing;
  await writer.close();

  process.stdout.write(`two of three away: ${JSON.stringify(counts(written))}\n`);
  expect(judgeRecords(written, await logOf(topic))).toEqual([]);
});
