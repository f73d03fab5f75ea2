import { setTimeout as wait } from 'node:timers/promises';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { firstChain, sealExecution } from '@pm/domain/signoff/records';
import { openClickHouse } from '@pm/kit/clickhouse';
import { type LogClient, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import type { RecordCodec, Schemas } from '@pm/kit/registry';
import { tokenIdFromBytes, walletFromBytes } from '@pm/schemas/ids';
import type { CatalogEntry } from '@pm/schemas/log/catalog';
import type { Execution } from '@pm/schemas/log/executions';
import { topics } from '@pm/schemas/log/topics';
import { redisKeys } from '@pm/schemas/redis/keys';
import { createTableSql } from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import { engineUrl } from '../../../kit/test/engines.ts';
import { ownSchemas } from '../../../kit/test/registry/own-schemas.ts';
import { bytesOf } from '../../../kit/test/seeded.ts';
import { MarketBook } from '../../src/books/book.ts';
import { booksView } from '../../src/books/books-view.io.ts';
import { foldBooks } from '../../src/books/fold.ts';
import { RedisBooks } from '../../src/books/redis-books.io.ts';
import { ledgerView } from '../../src/ledger/executions-view.io.ts';
import { transfersView } from '../../src/ledger/transfers-view.io.ts';
import { Catalog } from '../../src/log/catalog.io.ts';
import { ViewProgress } from '../../src/log/progress.io.ts';
import { RunningView } from '../../src/log/running-view.io.ts';
import { projectorMetrics } from '../../src/metrics.ts';
import { openProjectionTables } from '../../src/tables/projection-tables.io.ts';
import { tablesView } from '../../src/tables/tables-view.io.ts';
import { TableViews } from '../../src/views/table-views.ts';
import { appendedMs, executionOf, TinyExchange } from '../log.ts';
import { cellsOf, type Row } from '../tables/cells.ts';

const name = `projectors_views_${process.pid}`;
const topicPrefix = `${name}-`;
const keys = redisKeys(name);
const records = 300;
const wallet = walletFromBytes(bytesOf(20, 77));
/** The trading, and in each record a move of one micro-USDC of one wallet. */
const executions: readonly Execution[] = new TinyExchange(21)
  .records(records)
  .map((one) =>
    executionOf(
      one.inOffset,
      [...one.events, { kind: 'MoneyMoved', wallet: bytesOf(20, 77), freeMicro: -1, heldMicro: 1 }],
      one.timeMs,
    ),
  );

interface World {
  readonly client: LogClient;
  readonly redis: RedisClient;
  readonly codec: RecordCodec<Execution>;
  readonly clickhouse: ReturnType<typeof openClickHouse>;
  readonly schemas: Schemas;
}
let world: World;
let lives = 0;

beforeAll(async () => {
  const account = { url: engineUrl('CLICKHOUSE'), user: 'default', password: '', log: silentLog };
  const system = openClickHouse({ ...account, database: 'default' });
  await system.command(`CREATE DATABASE ${name}`);
  await system.close();
  const clickhouse = openClickHouse({ ...account, database: name });
  for (const table of Object.values(tables)) await clickhouse.command(createTableSql(table, name));
  const brokers = [engineUrl('KAFKA')];
  const client = openLogClient({ brokers, clientId: name, log: silentLog });
  const redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
  const schemas = ownSchemas();
  const codec = await schemas.codecFor(topics.executions);
  world = { client, redis, clickhouse, schemas, codec };
  await makeTopics();
  await writeLog();
}, 90_000);

afterAll(async () => {
  await world?.clickhouse.command(`DROP DATABASE IF EXISTS ${name}`);
  await world?.clickhouse.close();
  await world?.client.close();
  const left = await world?.redis.keys(`${name}:*`);
  if (left !== undefined && left.length > 0) await world?.redis.del(...left);
  await world?.redis.quit();
}, 30_000);

async function makeTopics(): Promise<void> {
  const admin = await world.client.admin();
  const kept = { partitions: 1, replicationFactor: 1, minInSyncReplicas: 1, retentionMs: -1 };
  const made = [topics.executions, topics.transfers, topics.catalog];
  await admin.ensureTopics(
    made.map(({ name: topic, compacted, maxMessageBytes }) => ({
      ...kept,
      name: `${topicPrefix}${topic}`,
      compacted,
      maxMessageBytes,
    })),
  );
  await admin.close();
}

async function writeLog(): Promise<void> {
  const { client, schemas, codec } = world;
  const producer = await client.producer();
  const catalog = await schemas.codecFor(topics.catalog);
  const transfers = await schemas.codecFor(topics.transfers);
  const send = (topic: string, value: Buffer, key: Buffer | null = null) =>
    producer.send([{ topic: `${topicPrefix}${topic}`, partition: 0, key, value }]);
  const transfer = {
    transferId: bytesOf(32, 1),
    wallet: bytesOf(20, 77),
    amountMicro: 1_000,
    timeMs: 1,
    generation: 0,
  };
  const sent = [
    send('transfers', transfers.encode(transfer)),
    send('transfers', transfers.encode(transfer)),
  ];
  for (const market of [1, 2, 3])
    sent.push(
      send('catalog', catalog.encode(marketOf(market)), Buffer.from(`CatalogMarket:${market}`)),
    );
  let chain: Buffer = firstChain;
  for (const execution of executions) {
    const sealed = sealExecution(codec, chain, execution);
    chain = sealed.chain;
    sent.push(send('executions', sealed.value));
  }
  await Promise.all(sent);
  await producer.close();
}

function marketOf(market: number): CatalogEntry {
  const texts = {
    eventId: '1',
    outcome0: 'Yes',
    outcome1: 'No',
    question: 'Q',
    slug: 's',
    description: '',
    resolutionSource: '',
    image: '',
    icon: '',
    category: '',
    creator: '',
  };
  const times = { startDateMs: 0, endDateMs: 0, createdAtMs: 0, updatedAtMs: 0 };
  const rules = {
    tick: 100,
    minSizeMicro: 5_000_000,
    feeRateBps: 0,
    rebateBps: 0,
    feeVersion: 1,
    askedPayout0: -1,
    nextFeeRateBps: -1,
    feeChangesAtMs: 0,
    proposedPayout0: -1,
    paysAtMs: 0,
    challengedAtMs: 0,
    challenges: 0,
    metadata: '{}',
    closedAtMs: 0,
    groupItemTitle: '',
    rewardsDailyMicro: 0,
    rewardsMinSizeMicro: 0,
    rewardsMaxSpread: 0,
  };
  const payout0 = executions
    .flatMap((one) => one.events)
    .find((event) => event.kind === 'MarketResolved' && event.market === market);
  return {
    kind: 'CatalogMarket',
    market,
    ...texts,
    ...times,
    ...rules,
    conditionId: bytesOf(32, market),
    questionId: bytesOf(32, market),
    token0: bytesOf(32, 10 * market),
    token1: bytesOf(32, 10 * market + 1),
    active: true,
    closed: false,
    archived: false,
    negRisk: false,
    negRiskMarketId: null,
    mode: 'OPEN',
    takerDelayMs: 0,
    payout0: payout0?.kind === 'MarketResolved' ? payout0.payout0 : -1,
    partition: 0,
    epoch: 0,
    listed: true,
  };
}

/** One life of the whole service, until it has projected `until` records in all views. */
async function live(until: number): Promise<void> {
  const { client, redis, schemas, codec, clickhouse } = world;
  const metrics = projectorMetrics(openMetrics(`test_${lives++}`));
  const progress = new ViewProgress(metrics);
  const fail = (error: unknown) => {
    throw error;
  };
  const host = { client, progress, log: silentLog, instance: '', fail };
  const executionLog = { client, codec, topic: `${topicPrefix}executions`, checksChain: true };
  const ledger = openLedger(redis, keys);
  const codecs = {
    catalog: await schemas.codecFor(topics.catalog),
    transfers: await schemas.codecFor(topics.transfers),
  };
  const catalog = await Catalog.open({
    client,
    codec: codecs.catalog,
    topic: `${topicPrefix}catalog`,
    log: silentLog,
    fail,
  });
  const limits = {
    batchRecords: 40,
    batchRows: 5_000,
    batchMs: 50,
    restMs: 50,
    pauseMaxMs: 0,
    retryForMs: 1_000,
  };
  const running = await Promise.all([
    RunningView.start(
      host,
      ledgerView({ ...executionLog, ledger, bookAgeLimitMs: 10_000, groupId: `${name}-ledger` }),
    ),
    RunningView.start(
      host,
      transfersView({
        ledger,
        codec: codecs.transfers,
        topic: `${topicPrefix}transfers`,
        groupId: `${name}-transfers`,
        log: silentLog,
        onUnpaid() {},
        onVoid() {},
      }),
    ),
    RunningView.start(
      host,
      booksView({
        ...executionLog,
        redisBooks: new RedisBooks(redis, keys),
        catalog,
        metrics,
        groupId: `${name}-books`,
      }),
    ),
    RunningView.start(
      host,
      tablesView({
        ...executionLog,
        openCodec: async () => codec,
        tables: openProjectionTables(clickhouse),
        catalog,
        metrics,
        groupId: `${name}-tables`,
        topicPrefix,
        limits,
      }),
    ),
  ]);
  try {
    for (let tries = 0; tries < 400; tries += 1) {
      if (progress.ready().ready && (await slowest(ledger)) >= until) break;
      await wait(50);
    }
    expect(progress.ready().reasons).toEqual([]);
  } finally {
    await Promise.all(running.map((one) => one.close()));
    await catalog.close();
  }
}

/** Progress of the slowest view: marks in Redis, rows in the tables. */
async function slowest(ledger: ReturnType<typeof openLedger>): Promise<number> {
  const books = Number(await world.redis.hget(keys.bookMarks, '0'));
  const counts = await Promise.all([rowsIn('fills'), rowsIn('order_events')]);
  const all =
    counts[0] === expected('fills').length && counts[1] === expected('order_events').length;
  return Math.min(
    await ledger.mark('executions', 0),
    books,
    all ? records : Math.max(0, counts[0] - 1),
  );
}

async function rowsIn(table: string): Promise<number> {
  const rows = await world.clickhouse.selectRows<{ n: string }>(
    `SELECT toString(count()) AS n FROM ${table}`,
  );
  return Number(rows[0]?.n);
}

function expected(table: string): readonly Row[] {
  const views = new TableViews(0, { positions: [], candles: [] });
  for (const execution of executions) views.fold(execution, appendedMs(execution));
  const taken = views.take().find((one) => one.table.name === table);
  return taken === undefined ? [] : cellsOf(taken);
}

describe('the projections on real engines', () => {
  test('reach the fold of the log, also across a restart of the service', async () => {
    await live(10);
    await live(records);
    const ledger = openLedger(world.redis, keys);
    expect(await ledger.balance(wallet)).toMatchObject({
      freeMicro: 1_000 - records,
      heldMicro: records,
    });
    for (const table of ['fills', 'wallet_fills', 'order_events', 'book_events'])
      expect([table, await rowsIn(table)]).toEqual([table, expected(table).length]);
    for (const table of ['positions', 'holders', 'midpoints_1m', 'candles_1m'])
      expect([table, await rowsIn(`${table} FINAL`)]).toEqual([table, expected(table).length]);
    const sizes = await world.clickhouse.selectRows<{ at: string; size: string; pnl: string }>(
      `SELECT concat(wallet, ':', toString(market), ':', toString(outcome)) AS at,
         toString(size) AS size, toString(realized_pnl) AS pnl
       FROM positions FINAL`,
    );
    const stored = new Map(sizes.map((row) => [row.at, [row.size, row.pnl]]));
    for (const row of expected('positions'))
      expect(stored.get(row.slice(0, 3).join(':'))).toEqual([row[4], row[8]]);
  }, 90_000);

  test('give every listed market the book of the fold', async () => {
    const books = new Map([1, 2, 3].map((market) => [market, new MarketBook(market)]));
    for (const execution of executions) foldBooks(books, execution);
    for (const [market, book] of books) {
      const stored = await world.redis.hgetall(
        keys.book(tokenIdFromBytes(bytesOf(32, 10 * market))),
      );
      expect(stored['version']).toBe(String(book.version));
      expect(JSON.parse(stored['json'] ?? '{}').bids).toHaveLength(book.bids.ascending().length);
    }
  });

  test('start over when Redis has lost everything', async () => {
    const left = await world.redis.keys(`${name}:*`);
    await world.redis.del(...left);
    await live(records);
    const ledger = openLedger(world.redis, keys);
    expect(await ledger.balance(wallet)).toMatchObject({
      freeMicro: 1_000 - records,
      heldMicro: records,
    });
    expect(await rowsIn('fills')).toBe(expected('fills').length);
  }, 60_000);
});
