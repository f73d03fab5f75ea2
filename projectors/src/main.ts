import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { openClickHouse } from '@pm/kit/clickhouse';
import { systemClock } from '@pm/kit/clock';
import { clickhouseAccount } from '@pm/kit/config';
import { openOpsListener } from '@pm/kit/health';
import { type LogClient, openLogClient } from '@pm/kit/kafka';
import { type Lifecycle, runService } from '@pm/kit/lifecycle';
import { type Log, openLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { openRegistry, type Registry, topicName } from '@pm/kit/registry';
import { projectorGroup, redisKeys, type Topic, topics } from '@pm/schemas';
import { booksView } from './books/books-view.io.ts';
import { openBooksStore } from './books/redis-books.io.ts';
import { type Config, loadConfig } from './config.ts';
import { ledgerView } from './ledger/executions-view.io.ts';
import { LedgerGenerationRunner } from './ledger/generations.io.ts';
import { WithdrawalOrphansRunner } from './ledger/orphaned-withdrawals.io.ts';
import { type SolvencyParts, SolvencyRunner } from './ledger/solvency-check.io.ts';
import { transfersView } from './ledger/transfers-view.io.ts';
import { type CatalogSource, openCatalogSource } from './log/catalog.io.ts';
import { StatusStore } from './log/progress.io.ts';
import { type RunningView, runView, type ViewDefinition } from './log/running-view.io.ts';
import { type ProjectorMetrics, projectorMetrics } from './metrics.ts';
import { runOpenOrdersCleanup } from './tables/open-orders-cleanup.io.ts';
import { openTablesStore } from './tables/projection-tables.io.ts';
import { reusedEvents, tablesView } from './tables/tables-view.io.ts';
import { runLeaderboards } from './views/leaderboard/schedule.io.ts';

/** One statement of a computation of the leaderboards. */
const LEADERBOARD_TIMEOUT_MS = 310_000;

/** What the views of this process share. */
interface Room {
  readonly config: Config;
  readonly life: Lifecycle;
  readonly log: Log;
  readonly metrics: ProjectorMetrics;
  readonly status: StatusStore;
  readonly client: LogClient;
  readonly registry: Registry;
}

await runService('projectors', async (life) => {
  const config = loadConfig();
  const log = openLog('projectors', config.logLevel);
  life.useLog(log);
  const registered = openMetrics('projectors');
  const metrics = projectorMetrics(registered);
  const status = new StatusStore(metrics);
  for (const view of config.views) status.await(`starting:${view}`);
  await startOps(life, config, { status, registered });
  const { kafkaBrokers: brokers, registryUrl: url, topicPrefix } = config;
  const client = openLogClient({ brokers, clientId: 'projectors', log });
  life.onStop('log client', () => client.close());
  const registry = openRegistry({ url, topicPrefix, log });
  await startViews({ config, life, log, metrics, status, client, registry });
});

async function startOps(
  life: Lifecycle,
  { host, opsPort: port }: Config,
  parts: { status: StatusStore; registered: ReturnType<typeof openMetrics> },
): Promise<void> {
  const ops = await openOpsListener({
    host,
    port,
    metrics: parts.registered,
    status: () => parts.status.status(),
    ready: () => parts.status.ready(),
  });
  life.onStop('ops', () => ops.close());
}

async function startViews(room: Room): Promise<void> {
  const { config, life, log, status } = room;
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
  for (const view of config.views) status.done(`starting:${view}`);
}

async function startLedger(room: Room, redis: RedisClient): Promise<void> {
  const { config, client, registry, log, life, status, metrics } = room;
  const ledger = openLedger(redis, redisKeys(config.redisPrefix));
  const executions = { client, checksChain: true, ...(await sourceOf(room)) };
  const { bookAgeLimitMs } = config;
  const money = await start(
    room,
    ledgerView({ ...executions, ledger, bookAgeLimitMs, groupId: groupOf(room, 'ledger') }),
  );
  const topic = nameOf(room, topics.transfers);
  const codec = await registry.codecFor(topics.transfers);
  const groupId = groupOf(room, 'transfers');
  const onUnpaid = () => metrics.unpaidWithdrawals.add(1);
  const onVoid = () => metrics.voidWithdrawals.add(1);
  const deposits = await start(
    room,
    transfersView({ ledger, codec, topic, groupId, log, onUnpaid, onVoid }),
  );
  const admin = await client.admin();
  const producer = await client.producer();
  const generations = new LedgerGenerationRunner({
    ledger,
    admin,
    producer,
    codecs: { orders: await registry.codecFor(topics.orders), transfers: codec },
    key: openSignOffKey(config.ledgerSeed),
    topics: { executions: executions.topic, transfers: topic, orders: nameOf(room, topics.orders) },
    log,
    nowMs: systemClock.nowMs,
    async foldAgain() {
      await money.restoreBehind((partition) => ledger.mark('executions', partition));
      await deposits.restoreBehind((partition) => ledger.mark('transfers', partition));
    },
    onState: (ready) => (ready ? status.done('ledger:folding') : status.await('ledger:folding')),
  });
  status.await('ledger:folding');
  const seeing = generations.start();
  life.onStop('ledger generations', () => seeing.close());
  const orphans = new WithdrawalOrphansRunner({
    ...{ ledger, producer, codec, topic, log },
    nowMs: systemClock.nowMs,
  });
  const looking = orphans.start();
  life.onStop('withdrawal orphans', () => looking.close());
  await startSolvency(room, { ledger, producer });
}

async function startSolvency(
  room: Room,
  parts: Pick<SolvencyParts, 'ledger' | 'producer'>,
): Promise<void> {
  const { registry, log, life, metrics } = room;
  const solvency = new SolvencyRunner({
    ...parts,
    codec: await registry.codecFor(topics.withdrawalFreezes),
    topic: nameOf(room, topics.withdrawalFreezes),
    log,
    nowMs: systemClock.nowMs,
    onBreach: () => metrics.solvencyBreaches.add(1),
  });
  const checking = solvency.start();
  life.onStop('solvency check', () => checking.close());
}

async function startBooks(room: Room, redis: RedisClient, catalog: CatalogSource): Promise<void> {
  const { config, client, metrics } = room;
  const store = openBooksStore(redis, redisKeys(config.redisPrefix));
  const executions = { client, checksChain: false, ...(await sourceOf(room)) };
  const groupId = groupOf(room, 'books');
  await start(room, booksView({ ...executions, store, catalog, metrics, groupId }));
}

async function startTables(room: Room, catalog: CatalogSource): Promise<void> {
  const { config, client, metrics, life, log } = room;
  const clickhouse = openClickHouse({
    ...clickhouseAccount(config),
    log,
  });
  life.onStop('clickhouse', () => clickhouse.close());
  const store = openTablesStore(clickhouse);
  const cleanup = runOpenOrdersCleanup({ clickhouse, log });
  life.onStop('cleanup', () => cleanup.close());
  const topic = nameOf(room, topics.executions);
  const openCodec = () => room.registry.codecFor(topics.executions, reusedEvents);
  const executions = { client, topic, openCodec, checksChain: false };
  const {
    batchRecords,
    batchRows,
    batchMs,
    restMs,
    insertRetryMs: retryForMs,
    topicPrefix,
  } = config;
  const limits = { batchRecords, batchRows, batchMs, restMs, retryForMs };
  const groupId = groupOf(room, 'tables');
  await start(
    room,
    tablesView({ ...executions, store, catalog, metrics, groupId, topicPrefix, limits }),
  );
}

/** A connection of its own: a computation may take longer than an insert is waited for. */
function startLeaderboards({ config, life, log }: Room, { categories }: CatalogSource): void {
  const clickhouse = openClickHouse({
    ...clickhouseAccount(config),
    requestTimeoutMs: LEADERBOARD_TIMEOUT_MS,
    maxConnections: 1,
    log,
  });
  life.onStop('leaderboard tables', () => clickhouse.close());
  const { nowMs } = systemClock;
  const boards = runLeaderboards({ clickhouse, categories, log, nowMs });
  life.onStop('leaderboards', () => boards.close());
}

async function start(
  { client, status, log, config, life }: Room,
  view: ViewDefinition,
): Promise<RunningView> {
  const fail = (error: unknown) => life.fail(error);
  const running = await runView({ client, status, log, instance: config.instance, fail }, view);
  life.onStop(view.view, () => running.close());
  return running;
}

async function openCatalog({ client, registry, config, log, life }: Room): Promise<CatalogSource> {
  const catalog = await openCatalogSource({
    client,
    codec: await registry.codecFor(topics.catalog),
    topic: topicName(topics.catalog, config.topicPrefix),
    log,
    fail: (error) => life.fail(error),
  });
  life.onStop('catalog', () => catalog.close());
  return catalog;
}

async function sourceOf(room: Room) {
  const codec = await room.registry.codecFor(topics.executions);
  return { codec, topic: nameOf(room, topics.executions) };
}

function nameOf({ config }: Room, topic: Topic): string {
  return topicName(topic, config.topicPrefix);
}

function groupOf({ config }: Room, view: string): string {
  return projectorGroup(config.topicPrefix, view);
}
