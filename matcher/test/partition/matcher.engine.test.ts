import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { EventOf, Execution } from '@pm/schemas/log/executions';
import { engineUrl } from '../../../kit/test/engines.ts';
import { decodeImage } from '../../src/partition/snapshot-image.ts';
import {
  flow,
  openPartitions,
  openWorld,
  partitions,
  readThrough,
  replayed,
  storedHistories,
  topicNames,
  until,
  valuesOf,
  type World,
} from './log-world.ts';
import { areReady, hasRead, matcherEnvironment, SpawnedMatcher } from './spawned-matcher.ts';

const broker = engineUrl('KAFKA');
const topicPrefix = `t-matcher-${process.pid}-${Date.now().toString(36)}-`;
const names = topicNames(topicPrefix);

async function newestSnapshot(directory: string, partition: number) {
  const folder = join(directory, `p${partition}`);
  const offsets = (await readdir(folder)).map((name) => Number.parseInt(name, 10));
  const nextOffset = Math.max(...offsets);
  const bytes = await readFile(join(folder, `${nextOffset}.snapshot`));
  const image = decodeImage(bytes, { partition, nextOffset });
  if (typeof image === 'string') throw new Error(image);
  return image;
}

describe('two matchers on a real log', () => {
  let world: World;
  let directory: string;
  const matchers: SpawnedMatcher[] = [];

  const spawnMatcher = (instance: string): SpawnedMatcher => {
    const matcher = new SpawnedMatcher({
      ...matcherEnvironment({ broker, topicPrefix, instance }),
      PM_SNAPSHOT_DIR: join(directory, instance),
      PM_SNAPSHOT_EVERY_RECORDS: '100',
    });
    matchers.push(matcher);
    return matcher;
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pm-matcher-'));
    world = await openWorld({ brokers: [broker], topicPrefix, copies: 1 });
    await openPartitions(world);
  }, 60_000);

  afterAll(async () => {
    for (const matcher of matchers) await matcher.kill('SIGKILL');
    await world.client.close();
    await rm(directory, { recursive: true, force: true });
  }, 30_000);

  test('one is killed: the other takes over, the chain is unbroken and the states are equal', async () => {
    const [a, b] = [spawnMatcher('a'), spawnMatcher('b')];
    await until('both live', () => areReady(a, b));
    expect([await a.isReady(), await b.isReady()]).toEqual([true, true]);

    const end = new AbortController();
    const flowing = flow(world, end.signal);
    await pause(2_500);
    await a.kill('SIGKILL');
    const takeoverMs = await until('a takeover', async () => {
      return (await b.owned()).length === 4;
    });
    await pause(2_000);
    end.abort();
    const orders = await flowing;

    const high = await world.admin.bounds(names.orders);
    await until('all outputs', () => hasRead(b, high));
    await b.kill('SIGTERM');
    expect(b.exitCode).toBe(0);

    const seen = { OrderPlaced: 0, OrderRefused: 0, Fill: 0, RecordRejected: 0 };
    for await (const { partition, inputs, executions } of storedHistories(world)) {
      for (const { events } of executions) count(events, seen);
      const runner = replayed(world, partition, inputs.slice(0, executions.length));
      expect(runner.chain).toEqual(executions.at(-1)?.chain);
      const snapshot = await newestSnapshot(join(directory, 'b'), partition);
      const atSnapshot = replayed(world, partition, inputs.slice(0, snapshot.nextOffset));
      expect(atSnapshot.chain).toEqual(snapshot.chain);
      expect(atSnapshot.engine.encodeState().equals(snapshot.state)).toBe(true);
    }
    expect(seen.OrderPlaced + seen.OrderRefused).toBe(orders);
    expect(seen.OrderPlaced).toBeGreaterThan(100);
    expect(seen.Fill).toBeGreaterThan(100);
    expect(seen.RecordRejected).toBeGreaterThan(0);
    const letters = (await world.admin.bounds(names.deadLetters)).get(0)?.high ?? 0;
    expect(letters).toBeGreaterThanOrEqual(seen.RecordRejected);
    process.stdout.write(
      `takeover after kill -9: ${takeoverMs} ms, ${orders} orders, ${seen.Fill} fills\n`,
    );
  }, 120_000);

  test('a graceful stop hands over quickly, to the standby', async () => {
    const c = spawnMatcher('c');
    await until('c owns all', async () => (await c.owned()).length === 4);
    const d = spawnMatcher('d');
    await until('d stands by', async () => (await d.partitionsIn('live')).length === 4);
    await c.kill('SIGTERM');
    expect(c.exitCode).toBe(0);
    const handoverMs = await until('d owns all', async () => (await d.owned()).length === 4);
    process.stdout.write(`hand-over after SIGTERM: ${handoverMs} ms\n`);
    const outs = await world.admin.bounds(names.executions);
    for (const partition of partitions) {
      readThrough(
        world,
        await valuesOf(world.client, names.executions, partition, outs.get(partition)?.high ?? 0),
      );
    }
  }, 60_000);

  test('an old envelope that is appended again changes nothing and is counted', async () => {
    for (const matcher of matchers) await matcher.kill('SIGTERM');
    const g = spawnMatcher('g');
    await until('g owns all', async () => (await g.owned()).length === 4);
    const highOf = async (topic: string) => (await world.admin.bounds(topic)).get(0)?.high ?? 0;
    const before = await highOf(names.orders);
    const old = await valuesOf(world.client, names.orders, 0, before);
    // Copies of former owners lie between the outputs.
    const outputsOf = async (inputs: number) => {
      let read: ReturnType<typeof readThrough> = [];
      await until('all outputs', async () => {
        const high = await highOf(names.executions);
        read = readThrough(world, await valuesOf(world.client, names.executions, 0, high));
        return read.length >= inputs;
      });
      return read;
    };
    const outputs = await outputsOf(before);
    // On a slow machine the clock of g is too far ahead to be taken from it alone.
    const taken = old.filter(
      (_, at) => outputs[at]?.events.every(({ kind }) => kind !== 'RecordRejected') === true,
    );
    const repeated = [...taken.slice(0, 3), ...taken.slice(-3)];
    await world.producer.send(
      repeated.map((value) => ({ topic: names.orders, partition: 0, key: null, value })),
    );
    const last = await highOf(names.orders);
    const executions = await outputsOf(last);
    const inputs = await valuesOf(world.client, names.orders, 0, last);
    const isRepeated = (value: Buffer, at: number) =>
      at >= before && repeated.some((one) => one.equals(value));
    const places = inputs.flatMap((value, at) => (isRepeated(value, at) ? [at] : []));
    expect(places).toHaveLength(repeated.length);
    for (const place of places) {
      expect(executions[place]?.events).toEqual([
        { kind: 'RecordRejected', reason: 'OLD_SEQUENCE' },
      ]);
    }
    expect(await g.metric('pm_matcher_rejected_records_total', 'OLD_SEQUENCE')).toBe(
      repeated.length,
    );
    const [place = 0] = places;
    const states = [place, place + 1].map((end) =>
      replayed(world, 0, inputs.slice(0, end)).engine.encodeState(),
    );
    expect(states[1]?.equals(states[0] as Buffer)).toBe(true);
    await g.kill('SIGTERM');
  }, 60_000);

  test('a frozen owner that wakes beside the next one only writes copies, and stands by', async () => {
    for (const matcher of matchers) await matcher.kill('SIGTERM');
    const e = spawnMatcher('e');
    await until('e owns all', async () => (await e.owned()).length === 4);
    const end = new AbortController();
    const flowing = flow(world, end.signal);
    await pause(1_000);
    e.freeze();
    const f = spawnMatcher('f');
    await until('f owns all', async () => (await f.owned()).length === 4);
    e.thaw();
    await pause(1_000);
    // On a slow machine e does not catch up with orders that go on.
    end.abort();
    await flowing;
    await until('e stands by', async () => {
      const [live, owned] = [await e.partitionsIn('live'), await e.owned()];
      return live.length === 4 && owned.length === 0;
    });
    for (const matcher of [e, f]) await matcher.kill('SIGTERM');
    const outs = await world.admin.bounds(names.executions);
    for (const partition of partitions) {
      const high = outs.get(partition)?.high ?? 0;
      const values = await valuesOf(world.client, names.executions, partition, high);
      const executions = readThrough(world, values);
      process.stdout.write(`partition ${partition}: ${values.length - executions.length} copies\n`);
    }
  }, 90_000);
});

type Seen = Record<'OrderPlaced' | 'OrderRefused' | 'Fill' | 'RecordRejected', number>;

function count(events: Execution['events'], seen: Seen): void {
  for (const { kind } of events) {
    if (kind in seen) seen[kind as EventOf<keyof Seen>['kind']] += 1;
  }
}
