import { Catalog } from '@pm/domain/markets/catalog';
import { noMoves, noVolume } from '@pm/domain/markets/figures';
import { followTable } from '@pm/kit/compacted';
import { type LogProducer, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRedis } from '@pm/kit/redis';
import type { RecordCodec } from '@pm/kit/registry';
import { type CatalogEntry, catalogKey } from '@pm/schemas/log/catalog';
import { topics } from '@pm/schemas/log/topics';
import { redisKeys } from '@pm/schemas/redis/keys';
import { engineUrl } from '../../../kit/test/engines.ts';
import { ownSchemas } from '../../../kit/test/registry/own-schemas.ts';
import { watchFigures } from '../../src/markets/figures.io.ts';
import {
  eventEntry,
  get,
  marketEntry,
  openListener,
  tagEntry,
  token,
  World,
} from '../in-memory.ts';

/** The catalog out of a real topic, and figures out of a real Redis, as query-api shows them. */
const topicPrefix = `t-catalog-${process.pid}-${Date.now().toString(36)}-`;
const topic = `${topicPrefix}${topics.catalog.name}`;

const client = openLogClient({
  brokers: [engineUrl('KAFKA')],
  clientId: 'catalog',
  log: silentLog,
});
let producer: LogProducer;
let codec: RecordCodec<CatalogEntry>;

beforeAll(async () => {
  const admin = await client.admin();
  const { compacted, maxMessageBytes } = topics.catalog;
  const kept = { replicationFactor: 1, minInSyncReplicas: 1, retentionMs: -1 };
  await admin.ensureTopics([{ ...kept, name: topic, partitions: 1, compacted, maxMessageBytes }]);
  await admin.close();
  const schemas = ownSchemas();
  codec = await schemas.codecFor(topics.catalog);
  producer = await client.producer();
}, 60_000);

afterAll(async () => {
  await client.close();
}, 30_000);

async function write(...entries: readonly CatalogEntry[]): Promise<void> {
  const records = entries.map((entry) => ({
    topic,
    partition: 0,
    key: Buffer.from(catalogKey(entry), 'utf8'),
    value: codec.encode(entry),
  }));
  await producer.send(records);
}

async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  const endMs = Date.now() + 15_000;
  while (!(await isSo())) {
    if (Date.now() > endMs) throw new Error('did not come to pass');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('a change on the topic is seen by lists, single reads and searches', async () => {
  await write(tagEntry, eventEntry('1', { title: 'Before' }), marketEntry(1), marketEntry(2));
  const world = new World();
  for (const key of ['CatalogEvent:1', 'CatalogMarket:1', 'CatalogMarket:2', 'CatalogMarket:3']) {
    world.catalog.remove(key);
  }
  await followTable(client, {
    topic,
    codec,
    log: silentLog,
    take: (entry) => world.catalog.apply(entry),
    forget: (key) => world.catalog.remove(key),
    onFault: (fault) => {
      throw fault;
    },
  });
  const app = openListener(world);
  const idsOf = async (url: string) =>
    ((await get(app, url)).body as { id: string }[]).map(({ id }) => id).join(' ');
  expect(await idsOf('/markets?tag=crypto')).toBe('2 1');
  await write(
    eventEntry('1', { title: 'Renamed by the log', slug: 'renamed' }),
    marketEntry(1, { closed: true, mode: 'HALTED' }),
    marketEntry(3),
  );
  await until(async () => (await idsOf('/markets')) === '3 2 1');
  expect(await idsOf('/markets?closed=false')).toBe('3 2');
  expect((await get(app, '/events/slug/renamed')).body).toMatchObject({ id: '1' });
  expect((await get(app, '/events/slug/event-1')).status).toBe(404);
  await world.search.catchUp();
  expect((await get(app, '/public-search?q=renamed')).body).toMatchObject({
    events: [{ id: '1', title: 'Renamed by the log' }],
  });
  const gone = Buffer.from('CatalogMarket:2', 'utf8');
  await producer.send([{ topic, partition: 0, key: gone, value: null }]);
  await until(async () => (await idsOf('/markets')) === '3 1');
  expect((await get(app, `/book?token_id=${token(2, 0)}`)).status).toBe(404);
}, 60_000);

test('figures come from volumes and from the liquidity beside the marks of books', async () => {
  const redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
  const keys = redisKeys(topicPrefix);
  const catalog = new Catalog();
  for (const market of [1, 2]) catalog.apply(marketEntry(market));
  await redis.hset(keys.bookMarks, { 0: '17', 'market:1': '2500000', 'market:2': '1' });
  const moves = { ...noMoves, dayMicro: -20_000 };
  const ofTables = { ...noVolume, volumeMicro: 7, dayVolumeMicro: 3, moves };
  const watch = watchFigures({
    catalog,
    redis,
    keys,
    log: silentLog,
    nowMs: () => Date.now(),
    tables: { read: async () => new Map([[1, ofTables]]) },
  });
  expect(watch.readAtMs()).toBeNull();
  await until(() => watch.readAtMs() !== null);
  watch.close();
  expect(catalog.figuresOfMarket({ market: 1 })).toEqual({
    ...ofTables,
    liquidityMicro: 2_500_000,
  });
  expect(catalog.figuresOfEvent('1').liquidityMicro).toBe(2_500_001);
  await redis.del(keys.bookMarks);
  redis.disconnect();
}, 30_000);

test('figures are not those of books that are being rebuilt', async () => {
  const redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
  const keys = redisKeys(topicPrefix);
  const catalog = new Catalog();
  catalog.apply(marketEntry(1));
  catalog.apply(marketEntry(2, { partition: 5 }));
  await redis.hset(keys.bookMarks, { 0: '17', 'market:1': '2500000' });
  const refused: unknown[] = [];
  const log = { ...silentLog, warn: (facts: { err?: unknown }) => void refused.push(facts.err) };
  const watch = watchFigures({
    catalog,
    redis,
    keys,
    log,
    nowMs: () => Date.now(),
    tables: { read: async () => new Map() },
  });
  await until(() => refused.length > 0);
  expect(refused[0]).toMatchObject({ code: 'books_not_ready' });
  expect(watch.readAtMs()).toBeNull();
  expect(catalog.figuresOfMarket({ market: 1 }).liquidityMicro).toBe(0);
  await redis.hset(keys.bookMarks, { 5: '0' });
  await until(() => watch.readAtMs() !== null);
  watch.close();
  expect(catalog.figuresOfMarket({ market: 1 }).liquidityMicro).toBe(2_500_000);
  await redis.del(keys.bookMarks);
  redis.disconnect();
}, 30_000);
