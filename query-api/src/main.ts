import { AgentActivity } from '@pm/domain/accounts/agent-activity.io';
import { agentCredentials } from '@pm/domain/accounts/agent-credentials';
import { keyCredentials } from '@pm/domain/accounts/key-credentials';
import { clockSkewMs, openKeyVerifier } from '@pm/domain/accounts/key-verifier';
import { markAgents } from '@pm/domain/accounts/mark-agents.io';
import { oncePerRequest } from '@pm/domain/accounts/once-per-request';
import { openReaderVerifier } from '@pm/domain/accounts/reader-verifier';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { limitRequests } from '@pm/domain/ratelimit/limit-requests.io';
import { type DoorLimiter, openDoorLimiter } from '@pm/domain/ratelimit/open-limiter.io';
import { rateLimitReads } from '@pm/domain/ratelimit/wire.io';
import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import { systemClock } from '@pm/kit/clock';
import { clickhouseAccount } from '@pm/kit/config';
import { openOpsListener } from '@pm/kit/health';
import { doorBounds, openHttp, openToBrowsers } from '@pm/kit/http';
import { type LogClient, openLogClient } from '@pm/kit/kafka';
import { type Lifecycle, runService } from '@pm/kit/lifecycle';
import { type Log, openLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { openRegistry, type Registry, topicName } from '@pm/kit/registry';
import { projectorGroup, type RedisKeys, redisKeys, type Topic, topics } from '@pm/schemas';
import { runInvalidation } from './books/invalidation.io.ts';
import { BookSource } from './books/stored-books.io.ts';
import { type QueryApiConfig, readQueryApiConfig } from './config.ts';
import { addReadDoor } from './door/app.route.ts';
import { Followed, followTopics } from './door/followed-topics.io.ts';
import type { CatalogReads, ReportReads } from './door/ports.ts';
import { onFailure } from './door/read-route.io.ts';
import { watchFigures } from './markets/figures.io.ts';
import { VolumeStore } from './markets/volumes.io.ts';
import { measure } from './metrics.ts';
import { openFreshTables } from './orders/own-records.io.ts';
import { openMoney } from './positions/collateral.io.ts';
import { InputEnds } from './recent/input-ends.io.ts';
import { RecentRunner } from './recent/recent-follower.io.ts';
import { RecentLog } from './recent/recent-log.ts';
import { LeaderboardSource, watchLeaderboards } from './reports/leaderboards.io.ts';
import { openReports } from './reports/reports.io.ts';
import { SearchStore } from './search/event-search.io.ts';
import { creatorSites } from './social/creators.ts';
import { type EngineWatch, watchEngines } from './status/engine-watch.io.ts';
import { StandingRunner } from './status/progress.io.ts';
import { openTables } from './tables/tables.io.ts';

const name = 'query-api';

/** A query may take so long before its caller is told to come again. */
const QUERY_TIMEOUT_MS = 12_000;
/** Who waits longer for the others is told to come again: without this bound waits add up while ClickHouse is silent. */
const SOCKET_WAIT_MS = 2_000;

/** What the parts of the service share. */
interface Parts {
  readonly life: Lifecycle;
  readonly config: QueryApiConfig;
  readonly log: Log;
  readonly known: Followed;
  readonly books: BookSource;
  readonly clickhouse: ClickHouse;
  readonly redis: RedisClient;
  /** Null when requests are not limited. */
  readonly limits: DoorLimiter | null;
  readonly redisKeys: RedisKeys;
  readonly client: LogClient;
  readonly registry: Registry;
  readonly recent: RecentLog;
}

async function start(life: Lifecycle): Promise<void> {
  const config = readQueryApiConfig();
  const log = openLog(name, config.logLevel);
  life.useLog(log);
  const parts = openParts(life, config, log);
  const metrics = openMetrics(name);
  const counters = measure(metrics, {
    markets: () => parts.known.catalog.size,
    apiKeys: () => parts.known.keys.size,
    cachedBooks: () => parts.books.size,
    isCoherent: () => parts.books.isCoherent,
    recentRows: () => parts.recent.rowCount,
  });
  const watch = watchEngines(parts);
  life.onStop('engine watch', () => watch.close());
  let newest: RecentRunner | null = null;
  let isCaughtUp = false;
  const ops = await openOpsListener({
    host: config.host,
    port: config.opsPort,
    metrics,
    status: () => ({ ...statusOf(parts, watch, isCaughtUp), newest: newest?.status() ?? null }),
    ready: () => readiness(watch, isCaughtUp),
  });
  life.onStop('ops listener', () => ops.close());
  await followTopics(parts.known, {
    ...{ client: parts.client, registry: parts.registry, log, topicPrefix: config.topicPrefix },
    onFault: (fault) => life.fail(fault),
    onSkip: (topic) => counters.skipped(topic),
  });
  const following = await openNewest(parts);
  newest = following;
  await following.start();
  parts.known.catalog.settle();
  await openDoor(parts, metrics, following);
  isCaughtUp = true;
}

function openParts(life: Lifecycle, config: QueryApiConfig, log: Log): Parts {
  const redis = openRedis({ url: config.redisUrl, log });
  life.onStop('redis', () => redis.disconnect());
  const clickhouse = openClickHouse({
    ...clickhouseAccount(config),
    requestTimeoutMs: QUERY_TIMEOUT_MS,
    socketWaitMs: SOCKET_WAIT_MS,
    log,
  });
  life.onStop('clickhouse', () => clickhouse.close());
  const keys = redisKeys(config.redisPrefix);
  const books = new BookSource(redis, keys);
  const invalidation = runInvalidation({
    redis,
    prefix: keys.bookPrefix,
    log,
    onInvalidate: (changed) => books.invalidate(changed),
    onCoherent: (isCoherent) => books.setCoherent(isCoherent),
  });
  life.onStop('invalidation', () => invalidation.close());
  const limits = openDoorLimiter({ config, keys, clock: systemClock, log });
  life.onStop('rate limits', () => limits?.close());
  const client = openLogClient({ brokers: config.kafkaBrokers, clientId: name, log });
  life.onStop('log client', () => client.close());
  const { registryUrl: url, topicPrefix } = config;
  return {
    ...{ life, config, log, books, clickhouse, redis, redisKeys: keys, client, limits },
    known: new Followed(),
    registry: openRegistry({ url, topicPrefix, log }),
    recent: new RecentLog(),
  };
}

/** Joins the newest records with what the projectors have committed to be in the tables. */
async function openNewest(parts: Parts): Promise<RecentRunner> {
  const { life, config, log, client, registry, recent } = parts;
  const topic = nameOf(parts, topics.executions);
  const group = projectorGroup(config.topicPrefix, 'tables');
  const admin = await client.admin();
  const runner = new RecentRunner({
    ...{ client, recent, topic, log },
    codec: await registry.codecFor(topics.executions),
    storedPositions: () => admin.committed(group, topic),
  });
  life.onStop('newest records', () => runner.close());
  return runner;
}

function nameOf({ config }: Parts, topic: Topic): string {
  return topicName(topic, config.topicPrefix);
}

async function openDoor(
  parts: Parts,
  metrics: ReturnType<typeof openMetrics>,
  newest: RecentRunner,
): Promise<void> {
  const { life, config, log, books, clickhouse, limits, recent } = parts;
  const { catalog, keys, readKeys, agents, wallets, deleted, threads, profiles } = parts.known;
  const nowMs = () => systemClock.nowMs();
  const freshnessMs = config.freshnessSeconds * 1000;
  const verify = oncePerRequest(
    openKeyVerifier({
      keys,
      serverSecret: config.keySecret,
      freshnessMs,
      nowMs,
    }),
  );
  const activity = new AgentActivity({
    ...{ redis: parts.redis, keys: parts.redisKeys, clock: systemClock },
    onFault: (error) => life.fail(error),
  });
  const byAgent = agentCredentials(agents, activity);
  const credentials = [keyCredentials(verify), byAgent];
  const { maxHeaderBytes, bodyLimitBytes } = doorBounds['query-api'];
  const app = openHttp({
    ...{ log, metrics, bodyLimitBytes, trustedProxies: config.trustedProxies },
    limits: { maxHeaderBytes },
    ...(limits === null ? {} : { rateLimits: limitRequests({ ...limits, credentials }) }),
  });
  openToBrowsers(app);
  if (limits === null) markAgents(app, byAgent);
  const standing = watchStanding(parts);
  addReadDoor(app, {
    catalog,
    books,
    tables: openTables(clickhouse),
    reports: { ...openReports(clickhouse, nowMs), ...openLeaderboards(parts) },
    lists: openLists(parts, standing),
    own: openFreshTables({ clickhouse, recent, settle: () => newest.settle() }),
    money: openMoney(openLedger(parts.redis, parts.redisKeys)),
    callers: {
      verify: openReaderVerifier(verify, readKeys),
      keysOf: (wallet) => keys.keysOf(wallet),
      walletsOf: (wallet) => wallets.of(wallet),
      skewMs: (headers) => clockSkewMs(headers, { nowMs: nowMs(), freshnessMs }),
      deletedBy: (wallet) => deleted.of(wallet),
    },
    social: { threads, profiles },
    limits: rateLimitReads(limits?.limiter ?? null),
    standing,
    log: new InputEnds(await parts.client.admin(), nameOf(parts, topics.orders)),
    nowMs,
  });
  onFailure(app, (route, error) => log.error({ err: error, route }, 'request failed'));
  await app.listen({ host: config.host, port: config.httpPort });
  life.onStop('http', () => app.close());
}

function openLeaderboards({ life, clickhouse, log }: Parts): Pick<ReportReads, 'leaderboard'> {
  const leaderboards = new LeaderboardSource(clickhouse, () => systemClock.nowMs());
  const watch = watchLeaderboards(leaderboards, log);
  life.onStop('leaderboards', () => watch.close());
  return { leaderboard: (search) => leaderboards.read(search) };
}

/** How far the projections are, as they say themselves. */
function watchStanding(parts: Parts): StandingRunner {
  const { life, log, clickhouse, redis, client } = parts;
  const topic = nameOf(parts, topics.executions);
  const runner = new StandingRunner({
    client,
    clickhouse,
    redis,
    log,
    topic,
    keys: parts.redisKeys,
    nowMs: () => systemClock.nowMs(),
  });
  life.onStop('standing', () => runner.close());
  runner.start();
  return runner;
}

/** What lists and searches need besides the catalog; it comes up beside the door and answers 503 until then. */
function openLists(
  { life, config, log, known, redis, clickhouse }: Parts,
  standing: StandingRunner,
): CatalogReads {
  const { catalog } = known;
  const completeThroughMs = () => standing.completeThroughMs();
  const figures = watchFigures({
    ...{ catalog, redis, log },
    keys: redisKeys(config.redisPrefix),
    nowMs: () => systemClock.nowMs(),
    volumes: new VolumeStore({ clickhouse, completeThroughMs }),
  });
  life.onStop('figures', () => figures.close());
  const search = new SearchStore(catalog);
  life.onStop('search', () => search.close());
  void search.catchUp();
  return {
    search,
    sites: creatorSites(config.creatorSites),
    figuresAtMs: () => figures.readAtMs(),
  };
}

function readiness(watch: EngineWatch, isCaughtUp: boolean) {
  const reasons = [
    ...(isCaughtUp ? [] : ['catalog']),
    ...(watch.redisUp() ? [] : ['redis']),
    ...(watch.clickhouseUp() ? [] : ['clickhouse']),
  ];
  return { ready: reasons.length === 0, reasons };
}

function statusOf({ known, books, limits }: Parts, watch: EngineWatch, isCaughtUp: boolean) {
  return {
    caughtUp: isCaughtUp,
    markets: known.catalog.size,
    apiKeys: known.keys.size,
    redis: watch.redisUp(),
    clickhouse: watch.clickhouseUp(),
    cache: { coherent: books.isCoherent, entries: books.size },
    limits: limits?.facts() ?? 'off',
  };
}

await runService(name, start);
