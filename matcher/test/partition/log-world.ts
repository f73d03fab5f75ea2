import { setTimeout as pause } from 'node:timers/promises';
import { keepOpening, listSchemas } from '@pm/domain/authority/publish-service-key.io';
import type { SignOffKey } from '@pm/domain/signoff/keys';
import { checkChain, firstChain, sealEnvelope } from '@pm/domain/signoff/records';
import { Sequences } from '@pm/domain/signoff/sequences';
import { type LogClient, type LogClientOptions, openLogClient, readRange } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { topicName } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas/log/executions';
import { newestRules } from '@pm/schemas/log/log-rules';
import type { Command } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import { ownListings, ownSchemas } from '../../../kit/test/registry/own-schemas.ts';
import { Engine } from '../../src/core/index.ts';
import { EnvelopeReader } from '../../src/partition/envelope-reader.ts';
import { firstPosition, RecordProcessor } from '../../src/partition/record-processor.ts';
import { marketRules, opening, orderOf } from '../core/commands.ts';
import { keys } from './sealed-records.ts';

export const partitions = [0, 1, 2, 3];

/** Topics under a prefix. */
export function topicNames(topicPrefix: string) {
  return {
    orders: topicName(topics.orders, topicPrefix),
    executions: topicName(topics.executions, topicPrefix),
    deadLetters: topicName(topics.deadLetters, topicPrefix),
    serviceKeys: topicName(topics.serviceKeys, topicPrefix),
  };
}

interface WorldOptions {
  readonly brokers: readonly string[];
  readonly topicPrefix: string;
  /** Copies of each topic; one may be missing at any time, if there are several. */
  readonly copies: number;
  readonly limits?: LogClientOptions['limits'];
}

/** The topics of a matcher, and what writes and reads them. */
export async function openWorld(options: WorldOptions) {
  const { brokers, topicPrefix, copies, limits = {} } = options;
  const names = topicNames(topicPrefix);
  const client = openLogClient({ brokers, clientId: 'matcher-test', log: silentLog, limits });
  const admin = await client.admin();
  const spec = {
    replicationFactor: copies,
    minInSyncReplicas: Math.max(1, copies - 1),
    compacted: false,
    retentionMs: -1,
  };
  await admin.ensureTopics([
    { ...spec, name: names.orders, partitions: 4, maxMessageBytes: 1 << 20 },
    { ...spec, name: names.executions, partitions: 4, maxMessageBytes: 16 << 20 },
    { ...spec, name: names.deadLetters, partitions: 1, maxMessageBytes: 1 << 20 },
    { ...spec, name: names.serviceKeys, partitions: 1, maxMessageBytes: 1 << 20 },
  ]);
  const schemas = ownSchemas();
  const listing = { client, schemas, topicPrefix, root: keys.operator, log: silentLog };
  await listSchemas(listing, ownListings);
  const codecs = {
    orders: await schemas.codecFor(topics.orders),
    executions: await schemas.codecFor(topics.executions),
  };
  return { names, client, admin, codecs, listing, producer: await client.producer() };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

const sequences = new Sequences();

async function append(world: World, key: SignOffKey, partition: number, commands: Command[]) {
  const sequence = sequences.next(Date.now());
  const value = sealEnvelope(world.codecs.orders, key, { partition, sequence, commands });
  await world.producer.send([{ topic: world.names.orders, partition, key: null, value }]);
  return value;
}

/** The first records of each partition, which are kept on `service-keys`. */
export async function openPartitions(world: World): Promise<void> {
  const setKey = (key: SignOffKey, role: 'OWNER' | 'INGRESS'): Command => ({
    kind: 'SetKey',
    publicKey: key.publicKey,
    role,
    active: true,
  });
  for (const partition of partitions) {
    const operatorKey = keys.operator.publicKey;
    const envelope = await append(world, keys.operator, partition, [
      { ...opening, partition, operatorKey, timeMs: Date.now() },
      { kind: 'SetRules', version: newestRules },
      setKey(keys.owner, 'OWNER'),
      setKey(keys.ingress, 'INGRESS'),
      marketRules(1),
    ]);
    await keepOpening(world.listing, { partition, envelope });
  }
}

/** Orders that match each other, and a poison record now and then, until the signal; so many a round. */
export async function flow(
  world: World,
  signal: AbortSignal,
  { perRound = 6, pauseMs = 10 } = {},
): Promise<number> {
  let id = 0;
  while (!signal.aborted) {
    const nowMs = Date.now();
    for (const partition of partitions) {
      const orders = Array.from({ length: perRound }, () => {
        id += 1;
        const price = 4_700 + 100 * (id % 7);
        const times = { acceptedAtMs: nowMs, signedAtMs: nowMs };
        return orderOf(id, id % 9, { outcome: id % 2, price, ...times });
      });
      // Without an ingress that bears witness no clock moves on after a long takeover.
      await append(world, keys.ingress, partition, [
        { kind: 'Tick', term: 0, timeMs: nowMs },
        ...orders,
      ]);
    }
    if (id % 240 === 0) await poison(world, partitions[id % 4] ?? 0);
    await pause(pauseMs);
  }
  return id;
}

async function poison(world: World, partition: number): Promise<void> {
  const value = Buffer.from('poison');
  await world.producer.send([{ topic: world.names.orders, partition, key: null, value }]);
}

/** The records of a partition before an offset. */
export async function valuesOf(client: LogClient, topic: string, partition: number, to: number) {
  const values: Buffer[] = [];
  await readRange(client, {
    topic,
    partition,
    from: 0,
    to,
    onBatch: async ({ records }) => {
      for (const { value } of records) values.push(value ?? Buffer.alloc(0));
    },
  });
  return values;
}

/** Reads outputs by the high-water rule; throws at a gap, at a copy that differs and where the chain breaks. */
export function readThrough(world: World, values: readonly Buffer[]): readonly Execution[] {
  const taken: { value: Buffer; execution: Execution }[] = [];
  let chain = firstChain;
  for (const value of values) {
    const execution = world.codecs.executions.decode(value);
    const known = taken[execution.inOffset];
    if (known !== undefined) {
      if (!known.value.equals(value)) throw new Error('a copy differs');
      continue;
    }
    if (execution.inOffset !== taken.length) throw new Error('a gap');
    if (!checkChain(value, chain)) throw new Error('the chain breaks');
    chain = execution.chain;
    taken.push({ value, execution });
  }
  return taken.map(({ execution }) => execution);
}

/** Milliseconds until it holds. The limit ends what hangs only. */
export async function until(
  what: string,
  holds: () => Promise<boolean>,
  limitMs = 200_000,
): Promise<number> {
  const startedMs = Date.now();
  while (!(await holds())) {
    if (Date.now() - startedMs > limitMs) throw new Error(`waited too long: ${what}`);
    await pause(50);
  }
  return Date.now() - startedMs;
}

/** Replays the log of a partition in this process through the steps of the matcher. */
export function replayed(world: World, partition: number, values: readonly Buffer[]) {
  const reader = new EnvelopeReader({
    partition,
    operatorKey: keys.operator.publicKey,
    codec: world.codecs.orders,
  });
  const parts = { partition, reader, executions: world.codecs.executions };
  const processor = new RecordProcessor(parts, firstPosition(new Engine(partition)));
  for (const [offset, value] of values.entries()) processor.process({ offset, value });
  return processor;
}

/** Inputs and outputs of each partition as they are stored, copies among the outputs. */
export async function* storedHistories(world: World) {
  const { client, admin, names } = world;
  const [ins, outs] = [await admin.bounds(names.orders), await admin.bounds(names.executions)];
  for (const partition of partitions) {
    const [inEnd, outEnd] = [ins.get(partition)?.high ?? 0, outs.get(partition)?.high ?? 0];
    const inputs = await valuesOf(client, names.orders, partition, inEnd);
    const outputs = await valuesOf(client, names.executions, partition, outEnd);
    yield { partition, inputs, outputs, executions: readThrough(world, outputs) };
  }
}
