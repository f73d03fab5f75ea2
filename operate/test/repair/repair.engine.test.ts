import { setTimeout as wait } from 'node:timers/promises';
import type { LogPlace } from '@pm/deploy/installation/fee-wallet';
import { type IncomingRecord, type LogAdmin, type LogProducer, readRange } from '@pm/kit/kafka';
import { topicName } from '@pm/kit/registry';
import { PartitionReplay } from '@pm/matcher/replay';
import { topics } from '@pm/schemas/log/topics';
import { logClients } from '../../../kit/test/engines.ts';
import { ownSchemas } from '../../../kit/test/registry/own-schemas.ts';
import {
  keys,
  openingRecords,
  randomRecords,
  codecs as sealing,
} from '../../../matcher/test/partition/sealed-records.ts';
import { runRepair } from '../../src/repair/run-repair.ts';

/** Partition 3, for which the records are sealed, has a gap; the others are empty or whole. */
const partition = 3;
const records = [...openingRecords(), ...randomRecords(14, 200)];
/** Outputs of these inputs are lost. */
const lost = { from: 50, to: 63 };
const client = logClients('repair-test');
let made = 0;

interface World {
  readonly place: LogPlace;
  readonly admin: LogAdmin;
  readonly names: { orders: string; executions: string };
  readonly outputs: readonly Buffer[];
}

async function openWorld(): Promise<World> {
  made += 1;
  const topicPrefix = `repair-${process.pid}-${made}-`;
  const schemas = ownSchemas();
  const place = { client: client(), schemas, topicPrefix };
  const names = {
    orders: topicName(topics.orders, topicPrefix),
    executions: topicName(topics.executions, topicPrefix),
  };
  const admin = await place.client.admin();
  const alone = { replicationFactor: 1, minInSyncReplicas: 1, compacted: false, retentionMs: -1 };
  for (const name of Object.values(names))
    await admin.ensureTopics([
      { ...alone, name, partitions: 4, maxMessageBytes: topics.executions.maxMessageBytes },
    ]);
  const orders = await schemas.codecFor(topics.orders);
  const executions = await schemas.codecFor(topics.executions);
  // Sealed with codecs of this process; on the log with the ids that are listed.
  const inputs = records.map((record) =>
    withHeader(record, orders.encode(sealing.orders.decode(record))),
  );
  const replay = new PartitionReplay({
    partition,
    operatorKey: keys.operator.publicKey,
    orders,
    executions,
  });
  const outputs: Buffer[] = [];
  for (const [offset, value] of inputs.entries())
    outputs.push(Buffer.from((await replay.next({ offset, value })).value));
  const producer = await place.client.producer();
  await write(producer, names.orders, inputs);
  await write(producer, names.executions, [
    ...outputs.slice(0, 30),
    // Late copies of a replaced owner.
    ...outputs.slice(20, 25),
    ...outputs.slice(30, lost.from),
    ...outputs.slice(lost.to),
  ]);
  return { place, admin, names, outputs };
}

/** The signed bytes of a record under the schema id that another encoding of it has. */
function withHeader(record: Buffer, encoded: Buffer): Buffer {
  return Buffer.concat([encoded.subarray(0, 5), record.subarray(5)]);
}

async function write(producer: LogProducer, topic: string, values: readonly Buffer[]) {
  await producer.send(values.map((value) => ({ topic, partition, key: null, value })));
}

async function contentsOf(world: World, topic: string): Promise<readonly Buffer[]> {
  return (await recordsOf(world, topic)).map(({ value }) => value ?? Buffer.alloc(0));
}

async function recordsOf({ place, admin }: World, topic: string) {
  const records: IncomingRecord[] = [];
  const { high = 0 } = (await admin.bounds(topic)).get(partition) ?? {};
  await readRange(place.client, {
    topic,
    partition,
    from: 0,
    to: high,
    onBatch: async (batch) => {
      records.push(...batch.records);
    },
  });
  return records;
}

const repaired = (outputs: readonly Buffer[]) => [
  ...outputs.slice(0, 30),
  ...outputs.slice(20, 25),
  ...outputs.slice(30),
];
const quiet = { dryRun: false, onStep: () => {} };

test('a dry run names the gap and changes nothing', async () => {
  const world = await openWorld();
  const before = await contentsOf(world, world.names.executions);
  expect(await runRepair(world.place, { ...quiet, dryRun: true })).toEqual({
    state: 'missing',
    gaps: [{ partition, from: lost.from, to: lost.to, offset: lost.from + 5 }],
  });
  expect(await contentsOf(world, world.names.executions)).toEqual(before);
  expect(await world.admin.hasTopic(`${world.names.executions}-repaired`)).toBe(false);
});

test('writes the missing outputs, keeps the positions of readers, and is whole afterwards', async () => {
  const world = await openWorld();
  const { executions } = world.names;
  const groupId = `${executions}-readers`;
  const position = { offset: lost.from + 5, metadata: '40-54' };
  await world.admin.setCommits(groupId, executions, new Map([[partition, position]]));
  const timesOf = async () =>
    (await recordsOf(world, executions)).map(({ timestampMs }) => timestampMs);
  const before = await timesOf();
  expect(await runRepair(world.place, quiet)).toMatchObject({ state: 'repaired' });
  expect(await contentsOf(world, executions)).toEqual(repaired(world.outputs));
  const [kept, written] = [lost.from + 5, lost.to - lost.from];
  expect((await timesOf()).toSpliced(kept, written)).toEqual(before);
  expect((await world.admin.commits(groupId, executions)).get(partition)).toEqual(position);
  expect(await world.admin.hasTopic(`${executions}-repaired`)).toBe(false);
  expect(await runRepair(world.place, quiet)).toEqual({ state: 'whole', gaps: [] });
}, 120_000);

test('a run that was interrupted while the topic was made again is resumed', async () => {
  const world = await openWorld();
  const { executions } = world.names;
  const onStep = (line: string) => {
    if (line.startsWith('writing partition 3')) throw new Error('interrupted');
  };
  await expect(runRepair(world.place, { dryRun: false, onStep })).rejects.toThrow('interrupted');
  expect(await contentsOf(world, executions)).toEqual([]);
  const dry = await runRepair(world.place, { ...quiet, dryRun: true });
  expect(dry.state).toBe('interrupted');
  expect((await runRepair(world.place, quiet)).state).toBe('repaired');
  expect(await contentsOf(world, executions)).toEqual(repaired(world.outputs));
}, 120_000);

test('is refused while a service reads the topic', async () => {
  const world = await openWorld();
  const { executions } = world.names;
  const group = await world.place.client.group({
    groupId: `${executions}-service`,
    topic: executions,
    dense: true,
    onAssigned: async () => 0,
    onRevoked: async () => {},
    onBatch: async () => {},
    onFault: () => {},
  });
  for (let tries = 0; !group.owned().includes(partition) && tries < 200; tries += 1) await wait(50);
  await group.commit(partition, 1, '');
  await expect(runRepair(world.place, quiet)).rejects.toThrow(`${executions}-service`);
  await group.close();
  expect(await contentsOf(world, executions)).toHaveLength(
    records.length + 5 - (lost.to - lost.from),
  );
}, 120_000);
