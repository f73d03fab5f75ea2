import { KeyReadings } from '@pm/domain/accounts/key-readings.io';
import { acceptedDomains } from '@pm/domain/accounts/signing-domain';
import { openSealedLog, type SealedLog } from '@pm/domain/authority/sealed-log.io';
import { countUnproven } from '@pm/domain/authority/unproven-records.io';
import { payoutOf } from '@pm/domain/books/quote';
import { AwaitedPlaces } from '@pm/domain/executions/awaited-places.io';
import { LogEnds } from '@pm/domain/executions/log-ends.io';
import { LedgerSettling } from '@pm/domain/ledger/ledger-settling.io';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { type OpenedLimiter, openRateLimiter } from '@pm/domain/ratelimit/open-limiter.io';
import { rateLimitReads } from '@pm/domain/ratelimit/wire.io';
import { FollowedTopics, findNewKeys, followTopics } from '@pm/domain/reading/followed-topics.io';
import { readOpening } from '@pm/domain/signoff/opening.io';
import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import { systemClock } from '@pm/kit/clock';
import {
  clickhouseAccount,
  kafkaConnection,
  redisCacheConnection,
  redisConnection,
} from '@pm/kit/config';
import { kafkaProbe } from '@pm/kit/engines';
import { answeredBy } from '@pm/kit/http';
import { openWatchedLog } from '@pm/kit/kafka';
import { type Lifecycle, type Operations, runService } from '@pm/kit/lifecycle';
import { type Log, openLog } from '@pm/kit/log';
import { type Metrics, measureHeld, openMetrics } from '@pm/kit/metrics';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { Schemas, topicName } from '@pm/kit/registry';
import { openTraces, type Traces } from '@pm/kit/traces';
import { matcherGroup, projectorGroup, type Topic, topics } from '@pm/schemas/log/topics';
import { type RedisKeys, redisKeys } from '@pm/schemas/redis/keys';
import { type Books, openBooks } from './books/open-books.io.ts';
import { type QueryApiConfig, readQueryApiConfig } from './config.ts';
import { readConsole } from './console/read-console.io.ts';
import { answeredWait } from './http/answered-reads.io.ts';
import { addReadRoutes } from './http/app.route.ts';
import { openApp } from './http/open-app.io.ts';
import { onFailure } from './http/read-route.io.ts';
import { type FiguresWatch, watchFigures } from './markets/figures.io.ts';
import { TableFigureReads } from './markets/table-figures.io.ts';
import { measure, measureEngines, measureFreshness } from './metrics.ts';
import { Collateral } from './positions/collateral.io.ts';
import type { PayoutOf } from './positions/newest-positions.ts';
import { WalletPositions } from './positions/wallet-positions.io.ts';
import { InputEnds } from './recent/input-ends.io.ts';
import { OwnRecords } from './recent/own-reads.io.ts';
import { keepRecentMs, RecentFollower } from './recent/recent-follower.io.ts';
import { RecentLog } from './recent/recent-log.ts';
import { Leaderboards, refreshLeaderboards } from './reports/newest-leaderboards.io.ts';
import { Reports } from './reports/reports.io.ts';
import { EventSearch } from './search/event-search.io.ts';
import { creatorSites } from './social/creators.ts';
import { watchEngines } from './status/engine-watch.io.ts';
import { healthOf } from './status/ops.io.ts';
import { PartitionCounts } from './status/partition-states.ts';
import { PartitionWatch } from './status/partition-watch.io.ts';
import { ProgressWatch } from './status/progress.io.ts';
import { StreamWatch } from './status/stream-watch.io.ts';
import { TableReads } from './tables/tables.io.ts';

const name = 'query-api';

/** A query may take so long before its request is refused with 503. */
const requestTimeoutMs = 12_000;
/**
 * A query waits so long for a free connection before its request is refused: waits would add up while ClickHouse is
 * silent.
 */
const socketWaitMs = 2_000;

const nowMs = (): number => systemClock.nowMs();

/** Dependencies shared by the constructors below. */
interface Shared {
  readonly life: Lifecycle;
  readonly operations: Operations;
  readonly config: QueryApiConfig;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly redis: RedisClient;
  /** That of what is kept for a time. */
  readonly cache: RedisClient;
  readonly redisKeys: RedisKeys;
  readonly clickhouse: ClickHouse;
  /**
   * Readers of the log without answers. Not those of `executions`: reads that need its newest records are refused by
   * partition, and the others go on.
   */
  notFollowed(): readonly string[];
  readonly client: SealedLog;
  readonly schemas: Schemas;
  /** Null when requests are not limited. */
  readonly limits: OpenedLimiter | null;
  /** Null while nothing is traced. */
  readonly traces: Traces | null;
}

async function start(life: Lifecycle): Promise<void> {
  const shared = await openShared(life);
  const followed = new FollowedTopics();
  const books = openBooks(shared);
  const recent = new RecentLog({ keepMs: keepRecentMs });
  const { skipped } = measure(shared.metrics, {
    markets: () => followed.catalog.size,
    apiKeys: () => followed.keys.size,
    cachedBooks: () => books.stored.size,
    isCoherent: () => Number(books.stored.isCoherent),
    recentRows: () => recent.rowCount,
  });
  measureHeld(shared.metrics, () => ({
    markets: followed.catalog.size,
    api_keys: followed.keys.size,
    cached_books: books.stored.size,
    recent_rows: recent.rowCount,
  }));
  const engines = watchEngines(shared);
  life.onStop('engine watch', () => engines.close());
  measureEngines(shared.metrics, engines);
  let recentRecords: RecentFollower | null = null;
  let isCaughtUp = false;
  const health = healthOf({
    engines,
    isCaughtUp: () => isCaughtUp,
    notFollowed: shared.notFollowed,
    status: () => ({
      caughtUp: isCaughtUp,
      markets: followed.catalog.size,
      apiKeys: followed.keys.size,
      redis: engines.redisUp(),
      clickhouse: engines.clickhouseUp(),
      cache: { coherent: books.stored.isCoherent, entries: books.stored.size },
      limits: shared.limits?.facts() ?? 'off',
      newest: recentRecords?.status() ?? null,
    }),
  });
  shared.operations.report(health);
  const following = followTopics(followed, {
    client: shared.client,
    schemas: shared.schemas,
    log: shared.log,
    topicPrefix: shared.config.topicPrefix,
    onFault: (fault) => life.fail(fault),
    onSkip: skipped,
  });
  const counts = new PartitionCounts(systemClock.monotonicMs);
  const startRecent = async () => {
    const opened = await openRecentRecords(shared, recent, counts);
    recentRecords = opened;
    await opened.start();
    return opened;
  };
  const [follower] = await Promise.all([startRecent(), following]);
  followed.catalog.settle();
  await listen(shared, { followed, books, recent, recentRecords: follower, counts });
  isCaughtUp = true;
}

/** Configuration, logging, metrics and clients of the process. */
async function openShared(life: Lifecycle): Promise<Shared> {
  const config = readQueryApiConfig();
  const log = openLog(name, config.logLevel);
  life.useLog(log);
  const executions = topicName(topics.executions, config.topicPrefix);
  life.needs({ ...config, engines: [kafkaProbe(config, [executions])] });
  const metrics = openMetrics(name);
  const operations = await life.operations({ ...config, metrics });
  const traces = await openTraces(config, { service: name, metrics, life });
  const redis = openRedis({ ...redisConnection(config), log });
  life.onStop('redis', () => redis.disconnect());
  const cache = openRedis({ ...redisCacheConnection(config), log });
  life.onStop('redis cache', () => cache.disconnect());
  const account = clickhouseAccount(config);
  const clickhouse = openClickHouse({ ...account, requestTimeoutMs, socketWaitMs, log });
  life.onStop('clickhouse', () => clickhouse.close());
  const keys = redisKeys(config.redisPrefix);
  const limits = openRateLimiter({ config, keys, clock: systemClock, log });
  life.onStop('rate limits', () => limits?.close());
  const { topicPrefix } = config;
  const schemas = new Schemas();
  const { monotonicMs } = systemClock;
  const kafka = { ...kafkaConnection(config), clientId: name };
  const connections = openWatchedLog({ ...kafka, log, metrics, monotonicMs });
  // Registered before the first wait: a start that fails leaves nothing open.
  life.onStop('log connections', () => connections.close());
  const client = await openSealedLog({
    client: connections,
    schemas,
    topicPrefix,
    rootKey: Buffer.from(config.rootKey, 'hex'),
    sealing: [],
    log,
    onUnproven: countUnproven(metrics, log, systemClock.monotonicMs),
    onFault: (fault) => life.fail(fault),
  });
  life.onStop('log client', () => client.close());
  return {
    life,
    operations,
    config,
    log,
    metrics,
    redis,
    cache,
    redisKeys: keys,
    clickhouse,
    notFollowed: () => connections.notReady(executions),
    client,
    schemas,
    limits,
    traces,
  };
}

/** Follows the records that the projectors have not committed to the tables yet. */
async function openRecentRecords(
  shared: Shared,
  recent: RecentLog,
  counts: PartitionCounts,
): Promise<RecentFollower> {
  const { life, config, log, client, schemas } = shared;
  const topic = nameOf(shared, topics.executions);
  const group = projectorGroup(config.topicPrefix, 'tables');
  const admin = await client.admin();
  const codec = schemas.readerFor(topics.executions);
  const storedPositions = () => admin.committed(group, topic);
  const onExecution = counts.take.bind(counts);
  const options = { client, recent, codec, topic, log, storedPositions, onExecution };
  const follower = new RecentFollower({ ...options, clock: systemClock });
  life.onStop('newest records', () => follower.close());
  return follower;
}

function openNewestPlaces(records: RecentFollower): AwaitedPlaces {
  const look = (partitions: readonly number[]) => records.positions(partitions);
  return new AwaitedPlaces({ ...answeredWait, look });
}

/** State in memory that the routes read. */
interface Memory {
  readonly followed: FollowedTopics;
  readonly books: Books;
  readonly recent: RecentLog;
  readonly recentRecords: RecentFollower;
  readonly counts: PartitionCounts;
}

async function listen(shared: Shared, memory: Memory): Promise<void> {
  const { life, config, log, clickhouse, limits } = shared;
  const { followed, recent, recentRecords } = memory;
  const { app, callers } = openApp(shared, followed);
  await findNewKeys(app, shared.client, followed);
  await showKeyReadings(shared, followed);
  const progress = watchProgress(shared);
  const payouts: PayoutOf = (number, outcome) => {
    const market = followed.catalog.market(number);
    return market === undefined ? null : payoutOf(market, outcome);
  };
  addReadRoutes(app, {
    catalog: followed.catalog,
    books: memory.books.stored,
    answered: {
      of: answeredBy(config.trustedProxies),
      books: memory.books.places,
      newest: openNewestPlaces(recentRecords),
    },
    tables: new TableReads(clickhouse, {
      storedOffset: (partition) => progress.storedOffset(partition),
      monotonicMs: systemClock.monotonicMs,
    }),
    reports: new Reports(clickhouse, systemClock, recent, payouts),
    leaderboards: openLeaderboards(shared),
    own: new OwnRecords({ clickhouse, recent, settle: () => recentRecords.settle() }),
    collateral: await openCollateral(shared),
    positions: new WalletPositions({ clickhouse, recent, payoutOf: payouts }),
    search: openSearch(shared, followed),
    console: await readConsole(config.consoleDir),
    sites: creatorSites(config.creatorSites),
    figures: openFigures(shared, followed, progress),
    callers,
    domains: await readDomains(shared),
    deleted: followed.deleted,
    threads: followed.threads,
    profiles: followed.profiles,
    rateLimits: rateLimitReads(limits?.limiter ?? null),
    progress,
    partitions: watchPartitions(shared, memory.counts),
    streams: watchStreams(shared),
    solvency: followed.solvency,
    bookSecret: shared.config.bookSecret,
    inputEnds: new InputEnds(await shared.client.admin(), nameOf(shared, topics.orders)),
    nowMs,
  });
  onFailure(app, (route, error) => log.error({ err: error, route }, 'request failed'));
  await app.listen({ host: config.host, port: config.httpPort });
  life.onStop('http', () => app.close());
}

/** Shows how far this process has read keys: revocations wait for it. */
async function showKeyReadings(shared: Shared, { keyTopics }: FollowedTopics): Promise<void> {
  const { cache: redis, redisKeys: keys, client, life, log } = shared;
  const admin = await client.admin();
  const readings = new KeyReadings({ redis, keys, admin, followed: keyTopics, service: name, log });
  readings.start();
  life.onStop('key readings', () => readings.close());
}

/** Money by the ledger, as of each request. */
async function openCollateral(shared: Shared): Promise<Collateral> {
  const ledger = openLedger(shared.redis, shared.redisKeys);
  const ends = new LogEnds(await shared.client.admin(), nameOf(shared, topics.executions));
  return new Collateral(ledger, new LedgerSettling({ ledger, ends }));
}

/** The domains of signatures, by the first record of the log and the configuration. */
async function readDomains({ client, schemas, config }: Shared) {
  const topic = topicName(topics.orders, config.topicPrefix);
  const reader = schemas.readerFor(topics.orders);
  return acceptedDomains(config, await readOpening(client, { topic, reader }));
}

function openLeaderboards({ life, clickhouse, log }: Shared): Leaderboards {
  const leaderboards = new Leaderboards(clickhouse, systemClock.monotonicMs);
  const refreshing = refreshLeaderboards(leaderboards, log);
  life.onStop('leaderboards', () => refreshing.close());
  return leaderboards;
}

/** Reads in regular rounds how far each projection is. */
function watchProgress(shared: Shared): ProgressWatch {
  const { life, log, metrics, clickhouse, redis, client, redisKeys: keys } = shared;
  const topic = nameOf(shared, topics.executions);
  const progress = new ProgressWatch({ client, clickhouse, redis, log, topic, keys, nowMs });
  life.onStop('progress', () => progress.close());
  progress.start();
  measureFreshness(metrics, { progress: () => progress.progress(), nowMs });
  return progress;
}

/** Who owns each partition. */
function watchPartitions(shared: Shared, counts: PartitionCounts): PartitionWatch {
  const { life, config, log, client } = shared;
  const group = matcherGroup(config.topicPrefix);
  const topic = nameOf(shared, topics.orders);
  const watch = new PartitionWatch({ client, topic, group, counts, opened: client, log });
  life.onStop('partition watch', () => watch.close());
  return watch;
}

/** Reads in regular rounds how far the instances of the stream service are. */
function watchStreams({ life, config, log }: Shared): StreamWatch {
  const watch = new StreamWatch({ urls: config.streamsUrls, log });
  life.onStop('stream watch', () => watch.close());
  watch.start();
  return watch;
}

/** Figures of markets; until they were read once, requests for them are refused with 503. */
function openFigures(
  { life, log, redis, redisKeys: keys, clickhouse }: Shared,
  { catalog }: FollowedTopics,
  progress: ProgressWatch,
): FiguresWatch {
  const reads = new TableFigureReads({
    clickhouse,
    completeThroughMs: () => progress.completeThroughMs(),
  });
  const figures = watchFigures({ catalog, redis, keys, log, nowMs, tables: reads });
  life.onStop('figures', () => figures.close());
  return figures;
}

/** The index of events is built while requests are served; until it is, searches are refused with 503. */
function openSearch({ life }: Shared, { catalog }: FollowedTopics): EventSearch {
  const search = new EventSearch(catalog);
  life.onStop('search', () => search.close());
  void search.catchUp();
  return search;
}

function nameOf({ config }: Pick<Shared, 'config'>, topic: Topic): string {
  return topicName(topic, config.topicPrefix);
}

await runService(name, start);
