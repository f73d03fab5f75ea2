import { openSealedLog } from '@pm/domain/authority/sealed-log.io';
import { countUnproven } from '@pm/domain/authority/unproven-records.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { tracedReader } from '@pm/domain/traces/traced-reader.io';
import { openClickHouse } from '@pm/kit/clickhouse';
import { systemClock } from '@pm/kit/clock';
import { clickhouseAccount, kafkaConnection, redisConnection } from '@pm/kit/config';
import { kafkaProbe, redisProbe } from '@pm/kit/engines';
import { openWatchedLog, type WatchedLog } from '@pm/kit/kafka';
import { runService } from '@pm/kit/lifecycle';
import { type Log, openLog } from '@pm/kit/log';
import { type Metrics, measureHeld, openMetrics } from '@pm/kit/metrics';
import { openRedis, type RedisClient, watchRedisServer } from '@pm/kit/redis';
import { Schemas, topicName } from '@pm/kit/registry';
import { openTraces } from '@pm/kit/traces';
import { topics } from '@pm/schemas/log/topics';
import { redisKeys } from '@pm/schemas/redis/keys';
import { booksView } from './books/books-view.io.ts';
import { RedisBooks } from './books/redis-books.io.ts';
import { openStored, startCheckpoints } from './checkpoints/start-checkpoints.io.ts';
import { type Config, loadConfig } from './config.ts';
import { startLedger } from './ledger/start-ledger.io.ts';
import { Catalog } from './log/catalog.io.ts';
import { ViewProgress } from './log/progress.io.ts';
import { projectorMetrics, readViews } from './metrics.ts';
import { executionLog, groupOf, type Room, startView, topicNameOf } from './room.io.ts';
import { scheduleOpenOrdersCleanup } from './tables/open-orders-cleanup.io.ts';
import { openProjectionTables } from './tables/projection-tables.io.ts';
import { reusedEvents, tablesView } from './tables/tables-view.io.ts';
import { scheduleLeaderboards } from './views/leaderboard/leaderboards.io.ts';

/** Timeout of one statement of a leaderboard computation, milliseconds. */
const leaderboardTimeoutMs = 310_000;
/** Two of them may be lost within a session of 3 s; each group of a dozen costs the broker a request. */
const heartbeatMs = 500;

await runService('projectors', async (life) => {
  const config = loadConfig();
  const log = openLog('projectors', config.logLevel);
  life.useLog(log);
  const executions = topicName(topics.executions, config.topicPrefix);
  const isMoney = config.views.includes('ledger');
  const engines = [kafkaProbe(config, [executions])];
  life.needs({ ...config, engines: isMoney ? [...engines, redisProbe(config)] : engines });
  const registered = openMetrics('projectors');
  const operations = await life.operations({ ...config, metrics: registered });
  const metrics = projectorMetrics(registered);
  const traces = await openTraces(config, { service: 'projectors', metrics: registered, life });
  const connections = watchedLog(config, registered, log);
  // Registered before the first wait: a start that fails leaves nothing open.
  life.onStop('log connections', () => connections.close());
  const progress = new ViewProgress(metrics, () => connections.notReady());
  for (const view of config.views) progress.waitFor(`starting:${view}`);
  readViews(registered, { progress, nowMs: () => systemClock.nowMs() });
  operations.report(progress);
  const { topicPrefix } = config;
  const schemas = new Schemas();
  const client = await openSealedLog({
    client: connections,
    schemas,
    topicPrefix,
    rootKey: Buffer.from(config.rootKey, 'hex'),
    sealing: [openSignOffKey(config.ledgerSeed)],
    log,
    onUnproven: countUnproven(registered, log, systemClock.monotonicMs),
    onFault: (fault) => life.fail(fault),
  });
  life.onStop('log client', () => client.close());
  const room = { config, life, log, metrics, progress, client, schemas, traces };
  await startViews({ ...room, stored: await openStored(room, client) }, registered);
});

function watchedLog(config: Config, metrics: Metrics, log: Log): WatchedLog {
  const kafka = { ...kafkaConnection(config), clientId: 'projectors' };
  return openWatchedLog({
    ...kafka,
    limits: { heartbeatMs },
    log,
    metrics,
    monotonicMs: systemClock.monotonicMs,
  });
}

/** All at the same time: a process that replaces another one is back sooner. */
async function startViews(room: Room, registered: Metrics): Promise<void> {
  const { config, progress } = room;
  const wants = (...names: readonly string[]) => config.views.some((view) => names.includes(view));
  const redis = wants('ledger', 'books') ? openViewRedis(room, registered) : null;
  const starting: Promise<void>[] = [];
  if (redis !== null && wants('ledger')) starting.push(startLedger(room, redis));
  if (wants('books', 'tables', 'leaderboards'))
    starting.push(startMarketViews(room, redis, registered));
  await Promise.all(starting);
  if (wants('checkpoints')) await startCheckpoints(room);
  for (const view of config.views) progress.done(`starting:${view}`);
}

function openViewRedis({ config, life, log }: Room, metrics: Metrics): RedisClient {
  const redis = openRedis({ ...redisConnection(config), log });
  life.onStop('redis', () => redis.disconnect());
  const wantsSync = config.views.includes('ledger') && config.ledgerSync === 'always';
  const watch = watchRedisServer({ redis, server: 'ledger', wantsSync, metrics, log });
  life.onStop('redis watch', () => watch.close());
  return redis;
}

/** The views that need the catalog. */
async function startMarketViews(
  room: Room,
  redis: RedisClient | null,
  registered: Metrics,
): Promise<void> {
  const { views } = room.config;
  const catalog = await openCatalog(room);
  measureHeld(registered, () => ({ markets: catalog.marketCount }));
  const starting: Promise<void>[] = [];
  if (redis !== null && views.includes('books')) starting.push(startBooks(room, redis, catalog));
  if (views.includes('tables')) starting.push(startTables(room, catalog));
  await Promise.all(starting);
  if (views.includes('leaderboards')) startLeaderboards(room, catalog);
}

async function openCatalog(room: Room): Promise<Catalog> {
  const { client, schemas, log, life } = room;
  const catalog = await Catalog.open({
    client,
    codec: await schemas.codecFor(topics.catalog),
    topic: topicNameOf(room, topics.catalog),
    log,
    fail: (error) => life.fail(error),
  });
  life.onStop('catalog', () => catalog.close());
  return catalog;
}

async function startBooks(room: Room, redis: RedisClient, catalog: Catalog): Promise<void> {
  const { config, metrics, stored } = room;
  const redisBooks = new RedisBooks(redis, redisKeys(config.redisPrefix));
  const executions = await executionLog(room, { checksChain: false });
  const groupId = groupOf(room, 'books');
  await startView(
    room,
    booksView({
      ...executions,
      ...tracedReader(room.traces, 'books'),
      redisBooks,
      catalog,
      metrics,
      groupId,
      ...(stored === null ? {} : { checkpoints: stored.checkpoints }),
    }),
  );
}

async function startTables(room: Room, catalog: Catalog): Promise<void> {
  const { config, client, schemas, metrics, life, log } = room;
  const clickhouse = openClickHouse({ ...clickhouseAccount(config), log });
  life.onStop('clickhouse', () => clickhouse.close());
  const cleanup = scheduleOpenOrdersCleanup(clickhouse, log);
  life.onStop('cleanup', () => cleanup.close());
  const view = tablesView({
    ...tracedReader(room.traces, 'tables'),
    client,
    topic: topicNameOf(room, topics.executions),
    openCodec: () => schemas.codecFor(topics.executions, reusedEvents),
    checksChain: false,
    tables: openProjectionTables(clickhouse),
    catalog,
    metrics,
    groupId: groupOf(room, 'tables'),
    topicPrefix: config.topicPrefix,
    limits: {
      batchRecords: config.batchRecords,
      batchRows: config.batchRows,
      batchMs: config.batchMs,
      restMs: config.restMs,
      pauseMaxMs: config.pauseMaxMs,
      retryForMs: config.insertRetryMs,
    },
  });
  await startView(room, view);
}

/** On a connection of its own: a computation may take longer than the timeout of inserts. */
function startLeaderboards({ config, life, log }: Room, { categories }: Catalog): void {
  const clickhouse = openClickHouse({
    ...clickhouseAccount(config),
    requestTimeoutMs: leaderboardTimeoutMs,
    maxConnections: 1,
    log,
  });
  life.onStop('leaderboard tables', () => clickhouse.close());
  const { nowMs } = systemClock;
  const leaderboards = scheduleLeaderboards({ clickhouse, categories, log, nowMs });
  life.onStop('leaderboards', () => leaderboards.close());
}
