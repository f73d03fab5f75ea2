import type { ExecutionLog } from '@pm/domain/executions/execution-reader.io';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { openClickHouse } from '@pm/kit/clickhouse';
import { systemClock } from '@pm/kit/clock';
import { clickhouseAccount } from '@pm/kit/config';
import { openOpsListener } from '@pm/kit/health';
import { type LogClient, type LogProducer, openLogClient } from '@pm/kit/kafka';
import { type Lifecycle, runService } from '@pm/kit/lifecycle';
import { type Log, openLog } from '@pm/kit/log';
import { type Metrics, openMetrics } from '@pm/kit/metrics';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { openRegistry, type RecordCodec, type Registry, topicName } from '@pm/kit/registry';
import { projectorGroup, redisKeys, type Topic, type Transfer, topics } from '@pm/schemas';
import { booksView } from './books/books-view.io.ts';
import { RedisBooks } from './books/redis-books.io.ts';
import { type Config, loadConfig } from './config.ts';
import { ledgerView } from './ledger/executions-view.io.ts';
import { LedgerGenerations } from './ledger/generations.io.ts';
import { OrphanedWithdrawals } from './ledger/orphaned-withdrawals.io.ts';
import { SolvencyCheck } from './ledger/solvency-check.io.ts';
import { transfersView } from './ledger/transfers-view.io.ts';
import { Catalog } from './log/catalog.io.ts';
import { ViewProgress } from './log/progress.io.ts';
import { RunningView } from './log/running-view.io.ts';
import type { ViewDefinition } from './log/view-definition.io.ts';
import { type ProjectorMetrics, projectorMetrics } from './metrics.ts';
import { scheduleOpenOrdersCleanup } from './tables/open-orders-cleanup.io.ts';
import { openProjectionTables } from './tables/projection-tables.io.ts';
import { reusedEvents, tablesView } from './tables/tables-view.io.ts';
import { scheduleLeaderboards } from './views/leaderboard/leaderboards.io.ts';

/** Timeout of one statement of a leaderboard computation, milliseconds. */
const leaderboardTimeoutMs = 310_000;

/** Dependencies shared by the views of this process. */
interface Room {
  readonly config: Config;
  readonly life: Lifecycle;
  readonly log: Log;
  readonly metrics: ProjectorMetrics;
  readonly progress: ViewProgress;
  readonly client: LogClient;
  readonly registry: Registry;
}

await runService('projectors', async (life) => {
  const config = loadConfig();
  const log = openLog('projectors', config.logLevel);
  life.useLog(log);
  const registered = openMetrics('projectors');
  const metrics = projectorMetrics(registered);
  const progress = new ViewProgress(metrics);
  for (const view of config.views) progress.waitFor(`starting:${view}`);
  await startOps(life, config, registered, progress);
  const { kafkaBrokers: brokers, registryUrl: url, topicPrefix } = config;
  const client = openLogClient({ brokers, clientId: 'projectors', log });
  life.onStop('log client', () => client.close());
  const registry = openRegistry({ url, topicPrefix, log });
  await startViews({ config, life, log, metrics, progress, client, registry });
});

async function startOps(
  life: Lifecycle,
  { host, opsPort: port }: Config,
  metrics: Metrics,
  progress: ViewProgress,
): Promise<void> {
  const ops = await openOpsListener({
    host,
    port,
    metrics,
    status: () => progress.status(),
    ready: () => progress.ready(),
  });
  life.onStop('ops', () => ops.close());
}

async function startViews(room: Room): Promise<void> {
  const { config, life, log, progress } = room;
  const wants = (...names: readonly string[]) => config.views.some((view) => names.includes(view));
  const catalog = wants('books', 'tables', 'leaderboards') ? await openCatalog(room) : null;
  if (wants('ledger', 'books')) {
    const redis = openRedis({ url: config.redisUrl, log });
    life.onStop('redis', () => redis.disconnect());
    if (wants('ledger')) await startLedger(room, redis);
    if (catalog !== null && wants('books')) await startBooks(room, redis, catalog);
  }
  if (catalog !== null && wants('tables')) await startTables(room, catalog);
  if (catalog !== null && wants('leaderboards')) startLeaderboards(room, catalog);
  for (const view of config.views) progress.done(`starting:${view}`);
}

async function openCatalog(room: Room): Promise<Catalog> {
  const { client, registry, log, life } = room;
  const catalog = await Catalog.open({
    client,
    codec: await registry.codecFor(topics.catalog),
    topic: nameOf(room, topics.catalog),
    log,
    fail: (error) => life.fail(error),
  });
  life.onStop('catalog', () => catalog.close());
  return catalog;
}

/** The ledger as the log gives it, and the producer for the records that keep it sound. */
interface LedgerParts {
  readonly ledger: Ledger;
  readonly producer: LogProducer;
  readonly transfersCodec: RecordCodec<Transfer>;
}

async function startLedger(room: Room, redis: RedisClient): Promise<void> {
  const { client, registry, config } = room;
  const ledger = openLedger(redis, redisKeys(config.redisPrefix));
  const transfersCodec = await registry.codecFor(topics.transfers);
  const executions = await startExecutions(room, ledger);
  const transfers = await startTransfers(room, ledger, transfersCodec);
  const producer = await client.producer();
  const parts = { ledger, producer, transfersCodec };
  await startGenerations(room, parts, async () => {
    await executions.restoreLost((partition) => ledger.mark('executions', partition));
    await transfers.restoreLost((partition) => ledger.mark('transfers', partition));
  });
  startOrphanedWithdrawals(room, parts);
  await startSolvencyCheck(room, parts);
}

async function startExecutions(room: Room, ledger: Ledger): Promise<RunningView> {
  const { bookAgeLimitMs } = room.config;
  const executions = await executionLog(room, { checksChain: true });
  const groupId = groupOf(room, 'ledger');
  return await start(room, ledgerView({ ...executions, ledger, bookAgeLimitMs, groupId }));
}

async function startTransfers(
  room: Room,
  ledger: Ledger,
  codec: RecordCodec<Transfer>,
): Promise<RunningView> {
  const { log, metrics } = room;
  const view = transfersView({
    ledger,
    codec,
    topic: nameOf(room, topics.transfers),
    groupId: groupOf(room, 'transfers'),
    log,
    onUnpaid: () => metrics.unpaidWithdrawals.add(1),
    onVoid: () => metrics.voidWithdrawals.add(1),
  });
  return await start(room, view);
}

async function startGenerations(
  room: Room,
  { ledger, producer, transfersCodec }: LedgerParts,
  foldAgain: () => Promise<void>,
): Promise<void> {
  const { config, client, registry, log, life, progress } = room;
  const generations = new LedgerGenerations({
    ledger,
    admin: await client.admin(),
    producer,
    codecs: { orders: await registry.codecFor(topics.orders), transfers: transfersCodec },
    key: openSignOffKey(config.ledgerSeed),
    topics: {
      executions: nameOf(room, topics.executions),
      transfers: nameOf(room, topics.transfers),
      orders: nameOf(room, topics.orders),
    },
    log,
    nowMs: systemClock.nowMs,
    foldAgain,
    onState: (isOpen) =>
      isOpen ? progress.done('ledger:folding') : progress.waitFor('ledger:folding'),
  });
  progress.waitFor('ledger:folding');
  const checks = generations.start();
  life.onStop('ledger generations', () => checks.close());
}

function startOrphanedWithdrawals(room: Room, parts: LedgerParts): void {
  const { log, life } = room;
  const orphans = new OrphanedWithdrawals({
    ledger: parts.ledger,
    producer: parts.producer,
    codec: parts.transfersCodec,
    topic: nameOf(room, topics.transfers),
    log,
    nowMs: systemClock.nowMs,
  });
  const checks = orphans.start();
  life.onStop('withdrawal orphans', () => checks.close());
}

async function startSolvencyCheck(room: Room, { ledger, producer }: LedgerParts): Promise<void> {
  const { registry, log, life, metrics } = room;
  const solvency = new SolvencyCheck({
    ledger,
    producer,
    codec: await registry.codecFor(topics.withdrawalFreezes),
    topic: nameOf(room, topics.withdrawalFreezes),
    log,
    nowMs: systemClock.nowMs,
    onBreach: () => metrics.solvencyBreaches.add(1),
  });
  const checks = solvency.start();
  life.onStop('solvency check', () => checks.close());
}

async function startBooks(room: Room, redis: RedisClient, catalog: Catalog): Promise<void> {
  const { config, metrics } = room;
  const redisBooks = new RedisBooks(redis, redisKeys(config.redisPrefix));
  const executions = await executionLog(room, { checksChain: false });
  const groupId = groupOf(room, 'books');
  await start(room, booksView({ ...executions, redisBooks, catalog, metrics, groupId }));
}

async function startTables(room: Room, catalog: Catalog): Promise<void> {
  const { config, client, registry, metrics, life, log } = room;
  const clickhouse = openClickHouse({ ...clickhouseAccount(config), log });
  life.onStop('clickhouse', () => clickhouse.close());
  const cleanup = scheduleOpenOrdersCleanup(clickhouse, log);
  life.onStop('cleanup', () => cleanup.close());
  const view = tablesView({
    client,
    topic: nameOf(room, topics.executions),
    openCodec: () => registry.codecFor(topics.executions, reusedEvents),
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
      retryForMs: config.insertRetryMs,
    },
  });
  await start(room, view);
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

async function start(room: Room, view: ViewDefinition): Promise<RunningView> {
  const { client, progress, log, config, life } = room;
  const fail = (error: unknown) => life.fail(error);
  const host = { client, progress, log, instance: config.instance, fail };
  const running = await RunningView.start(host, view);
  life.onStop(view.view, () => running.close());
  return running;
}

async function executionLog(
  room: Room,
  { checksChain }: Pick<ExecutionLog, 'checksChain'>,
): Promise<ExecutionLog> {
  const codec = await room.registry.codecFor(topics.executions);
  return { client: room.client, codec, topic: nameOf(room, topics.executions), checksChain };
}

/** The name of a topic on the broker. */
function nameOf({ config }: Room, topic: Topic): string {
  return topicName(topic, config.topicPrefix);
}

function groupOf({ config }: Room, view: string): string {
  return projectorGroup(config.topicPrefix, view);
}
