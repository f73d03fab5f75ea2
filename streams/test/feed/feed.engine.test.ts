import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sealExecution } from '@pm/domain/signoff/records';
import { systemClock } from '@pm/kit/clock';
import { type LogClient, type LogProducer, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas/log/executions';
import { topics } from '@pm/schemas/log/topics';
import { engineUrl } from '../../../kit/test/engines.ts';
import { ownSchemas } from '../../../kit/test/registry/own-schemas.ts';
import { Feed, type FeedRecord } from '../../src/feed/feed.io.ts';
import { changeText, ordersOf } from './change-text.ts';
import { engineLog } from './engine-log.ts';

const name = `streams_feed_${process.pid}`;
const topicPrefix = `${name}-`;
const topic = `${topicPrefix}${topics.executions.name}`;
const [firstRecords, allRecords] = [600, 1_000];
const seeds = [71, 72];

interface World {
  readonly client: LogClient;
  readonly producer: LogProducer;
  readonly codec: RecordCodec<Execution>;
}
let world: World;
let directory = '';
const chains = seeds.map(() => Buffer.alloc(32) as Buffer);

beforeAll(async () => {
  const client = openLogClient({ brokers: [engineUrl('KAFKA')], clientId: name, log: silentLog });
  const schemas = ownSchemas();
  const codec = await schemas.codecFor(topics.executions);
  const admin = await client.admin();
  const { compacted, maxMessageBytes } = topics.executions;
  const shape = { partitions: 2, replicationFactor: 1, minInSyncReplicas: 1, retentionMs: -1 };
  await admin.ensureTopics([{ ...shape, name: topic, compacted, maxMessageBytes }]);
  await admin.close();
  world = { client, producer: await client.producer(), codec };
  directory = await mkdtemp(join(tmpdir(), 'pm-feed-'));
  for (const partition of [0, 1]) await write(partition, 0, firstRecords);
}, 90_000);

afterAll(async () => {
  await world?.client.close();
  await rm(directory, { recursive: true, force: true });
});

/** Writes records of a partition; some twice, as by an owner that does not know of its replacement. */
async function write(partition: number, from: number, to: number): Promise<void> {
  const { producer, codec } = world;
  const sent: Promise<unknown>[] = [];
  for (const execution of engineLog(seeds[partition] ?? 0, to)) {
    if (execution.inOffset < from) continue;
    const before = chains[partition] ?? Buffer.alloc(32);
    const { value, chain } = sealExecution(codec, before, execution);
    chains[partition] = chain;
    const copies = execution.inOffset % 50 === 49 ? 2 : 1;
    for (let count = 0; count < copies; count += 1)
      sent.push(producer.send([{ topic, partition, key: null, value }]));
  }
  await Promise.all(sent);
}

function follow(records: FeedRecord[], folder: string, client = world.client): Feed {
  const feed = new Feed({
    executions: { client, codec: world.codec, topic },
    directory: join(directory, folder),
    saves: { everyRecords: 300, everyMs: 60_000 },
    clock: systemClock,
    log: silentLog,
  });
  feed.listen({ record: (record) => records.push(record), reset: () => {}, added: () => {} });
  feed.start();
  return feed;
}

async function reaches(feed: Feed, inOffset: number): Promise<void> {
  const isThere = (): boolean => {
    const all = feed.partitions();
    return all.length === 2 && all.every((one) => one.isCaughtUp && one.offset >= inOffset);
  };
  for (let tries = 0; tries < 2_000 && !isThere(); tries += 1) await wait(20);
  expect(feed.partitions()).toMatchObject([{ offset: inOffset }, { offset: inOffset }]);
}

function textsOf(records: readonly FeedRecord[]): readonly string[] {
  return records
    .flatMap(({ partition, changes }) =>
      changes.map((change) => {
        const { key, text } = changeText(change);
        return `${partition} ${key} ${text}`;
      }),
    )
    .sort();
}

describe('Feed on a broker', () => {
  it('follows all partitions, survives its death, restores its states, and reads the past again', async () => {
    const [one, other]: [FeedRecord[], FeedRecord[]] = [[], []];
    const killed = follow(one, 'one');
    await reaches(killed, firstRecords - 1);
    const own = openLogClient({ brokers: [engineUrl('KAFKA')], clientId: name, log: silentLog });
    const mortal = follow([], 'other', own);
    await reaches(mortal, firstRecords - 1);
    // Its connections end while it follows, and it is closed afterwards: states of other moments are on the disk.
    await own.close();
    await mortal.close();
    const restored = follow(other, 'other');
    await reaches(restored, firstRecords - 1);
    for (const partition of [0, 1]) await write(partition, firstRecords, allRecords);
    await reaches(killed, allRecords - 1);
    await reaches(restored, allRecords - 1);
    expect(textsOf(other).length).toBeGreaterThan(1_000);
    expect(textsOf(other)).toEqual(textsOf(one));
    for (const market of killed.markets()) {
      const orders = ordersOf(killed.snapshot('orders', market));
      expect(ordersOf(restored.snapshot('orders', market))).toEqual(orders);
      const replay = restored.replay({ channel: 'orders', market, from: { seq: 0 } });
      const again = [];
      for await (const page of replay?.pages ?? []) again.push(...page);
      expect(again.map(({ seq }) => seq)).toEqual(again.map((_, index) => index + 1));
      expect(again.length).toBe(orders?.seq);
    }
    await Promise.all([killed.close(), restored.close()]);
  }, 180_000);
});
