import { AgentActivity } from '@pm/domain/accounts/agent-activity.io';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { openDoorLimiter } from '@pm/domain/ratelimit/open-limiter.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { systemClock as clock } from '@pm/kit/clock';
import type { Fault } from '@pm/kit/fault';
import { type Lifecycle, runService } from '@pm/kit/lifecycle';
import { type Log, openLog } from '@pm/kit/log';
import { type Metrics, openMetrics } from '@pm/kit/metrics';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { type CatalogEntry, redisKeys } from '@pm/schemas';
import { runActivity } from './accounts/agent-activity.io.ts';
import type { Agents } from './accounts/agents.io.ts';
import { openAccounts } from './accounts/open-accounts.io.ts';
import { WalletOwners } from './accounts/wallet-owners.ts';
import type { CancelRouteServices } from './cancels/cancels.route.ts';
import { sweepOrders } from './cancels/sweep.io.ts';
import { CatalogIndex } from './catalog/catalog-index.ts';
import { CatalogLocks } from './catalog/catalog-locks.io.ts';
import { CatalogWriter } from './catalog/catalog-writer.io.ts';
import type { CatalogServices } from './catalog/matcher-market.io.ts';
import { ExtremePrices, TickRefinements } from './catalog/tick-refinements.io.ts';
import { type IngressConfig, readIngressConfig } from './config.ts';
import type { Authentication } from './door/authentication.io.ts';
import { IdempotencyKeys } from './door/idempotency-keys.io.ts';
import { openListeners } from './door/listeners.io.ts';
import { type CommandChannel, openCommandChannel } from './log/command-channel.io.ts';
import { type CompactedTable, openTable } from './log/compacted-table.io.ts';
import { DelayedResults } from './log/delayed-results.io.ts';
import { KeyedMutex } from './log/keyed-mutex.io.ts';
import { PartitionLiveness } from './log/partition-liveness.io.ts';
import { RecentResults } from './log/recent-results.io.ts';
import { followResults } from './log/results.io.ts';
import { openTopics, readFeeWallet, type TopicsClient } from './log/topics.io.ts';
import { TransferWriter } from './log/transfer-writer.io.ts';
import { openIngressMetrics } from './metrics.ts';
import { openAudit } from './operator/audit-trail.io.ts';
import { OrderHasher } from './orders/hash.ts';
import { type NativeCrypto, openNativeCrypto } from './orders/native-crypto.io.ts';
import { watchLedger } from './orders/reservation.io.ts';
import { openKnownKeys, SignatureRule } from './orders/signature.ts';
import { SignaturePool } from './orders/signature-pool.io.ts';
import { openSessionCounts } from './sessions/session-metrics.io.ts';
import { openSessions } from './sessions/sessions.io.ts';
import { openComments } from './social/comments.io.ts';
import { openProfiles } from './social/profiles.io.ts';
import { type StatusParts, statusOf } from './status.ts';

/** Dependencies shared by the constructors below. */
interface Room {
  readonly config: IngressConfig;
  readonly life: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly crypto: NativeCrypto;
  readonly hasher: OrderHasher;
}

/** Operators wait longer than traders for a result: a partition may just be taken over. */
const operatorWaitMs = 10_000;

/** Ingress: orders and keys come in here, are checked, and go to the log; their results come back from it. */
async function start(life: Lifecycle): Promise<void> {
  const config = readIngressConfig();
  const log = openLog('ingress', config.logLevel);
  life.useLog(log);
  const crypto = openNativeCrypto();
  const metrics = openMetrics('ingress');
  const hasher = new OrderHasher(crypto.keccak);
  const room: Room = { config, life, log, metrics, crypto, hasher };

  // The log and the ledger.
  const topics = await openTopics({ ...config, brokers: config.kafkaBrokers, log });
  life.onStop('log', () => topics.client.close());
  const { redis, ledger, ledgerWatch, idempotencyKeys } = openMoney(room);
  const results = await openResults(room, topics);
  const { partitions, recentResults, delayedResults, traders, operator } = results;
  const transfers = openTransfers(topics);

  // Tables: each is caught up before anything is served.
  const owners = new WalletOwners(crypto.keccak, await readFeeWallet(topics));
  const accounts = await openAccounts(topics, {
    ...follow(room),
    clock,
    owners,
    serverSecret: config.keySecret,
    freshnessMs: freshnessMs(config),
  });
  const { keys, freezes, walletStatus, bindings } = accounts;
  const { catalog, entries } = await openCatalog(room, topics);
  const writer = openCatalogWriter(topics, entries);
  const sessions = await openSessionWatch(room, topics, results);
  const comments = await openComments(topics, follow(room));
  const profiles = await openProfiles(topics, { ...follow(room), clock });
  const audit = await openAudit(topics, follow(room));

  // Rules and background work.
  const signatures = openSignatures(room);
  const activity = openActivity(room, redis, accounts.agents);
  const catalogServices: CatalogServices = {
    catalog,
    clock,
    keccak: crypto.keccak,
    partitions: partitions.count,
    commands: operator.commands,
    writer,
    locks: new CatalogLocks(new KeyedMutex()),
  };
  if (config.tickRefinement) {
    const refinements = new TickRefinements(catalogServices, log);
    results.extremePrices.listen((market) => refinements.note(market));
  }

  // The services of the listeners.
  const authentication: Authentication = {
    clock,
    verify: accounts.verify,
    verifyReader: accounts.verifyReader,
    walletStatus,
    freshnessMs: freshnessMs(config),
  };
  const cancels: CancelRouteServices = {
    authentication,
    clock,
    markets: catalog,
    partitions,
    recentResults,
    commands: traders.commands,
  };
  const status: StatusParts = {
    nowMs: clock.monotonicMs,
    partitions,
    ledgerWatch,
    signatures,
    traders,
    operator,
    recentResults,
    keys,
    owners,
    catalog,
    sessions: sessions.counts,
  };
  const sweepServices = { clock, recentResults, partitions, commands: operator.commands, owners };
  await openListeners(
    { ...room, limits: openLimits(room) },
    {
      status,
      operator: {
        clock,
        token: config.operatorToken,
        audit,
        catalog: catalogServices,
        money: { clock, writer, ledger, transfers, freezes, owners, bindings },
        wallets: {
          walletStatus,
          freezes,
          ledger,
          owners,
          bindings,
          sweep: (wallet) => sweepOrders(wallet, sweepServices),
        },
        comments,
      },
      traders: {
        clock,
        accounts: {
          authentication,
          verifyBuilder: accounts.verifyBuilder,
          signatures,
          keys,
          readOnlyKeys: accounts.readOnlyKeys,
          agents: accounts.agents,
          agentDirectory: accounts.agentDirectory,
          activity,
          owners,
          notificationMarks: accounts.notificationMarks,
        },
        money: {
          authentication,
          clock,
          idempotencyKeys,
          markets: catalog,
          owners,
          hashes: hasher,
          partitions,
          ledger,
          commands: traders.commands,
          transfers,
          freezes,
        },
        orders: {
          authentication,
          clock,
          idempotencyKeys,
          markets: catalog,
          owners,
          hashes: hasher,
          signatures,
          partitions,
          recentResults,
          delayedResults,
          ledger,
          commands: traders.commands,
          metrics: openIngressMetrics(metrics, statusOf(status).gauges),
        },
        cancels,
        sessions: { authentication, heartbeats: sessions.heartbeats },
        social: { authentication, comments, profiles, listed: catalog },
      },
    },
  );
  const facts = { partitions: partitions.count, markets: catalog.marketCount, keys: keys.size };
  log.info(facts, 'listening for orders');
}

function freshnessMs({ freshnessSeconds }: IngressConfig): number {
  return freshnessSeconds * 1000;
}

function openSignatures({ config, life, crypto, hasher }: Room): SignaturePool {
  const rule = new SignatureRule(hasher, crypto.curve, openKnownKeys());
  const signatures = new SignaturePool({
    workers: config.signatureWorkers,
    workerFile: new URL('./orders/signature-worker.io.js', import.meta.url),
    rule,
    hasher,
    curve: crypto.curve,
    onFault: (fault) => life.fail(fault),
  });
  life.onStop('signature workers', () => signatures.close());
  return signatures;
}

function openMoney({ config, life, log }: Room) {
  const redis = openRedis({ url: config.redisUrl, log });
  life.onStop('redis', () => redis.disconnect());
  const keys = redisKeys(config.redisPrefix);
  const ledger = openLedger(redis, keys);
  const ledgerWatch = watchLedger(ledger);
  life.onStop('ledger watch', () => ledgerWatch.close());
  return { redis, ledger, ledgerWatch, idempotencyKeys: new IdempotencyKeys(redis, keys) };
}

function openLimits({ config, life, log }: Room) {
  const keys = redisKeys(config.redisPrefix);
  const limits = openDoorLimiter({ config, keys, clock, log });
  life.onStop('rate limits', () => limits?.close());
  return limits;
}

/** Uses of agents' keys: noted at once, written to the log every minute. */
function openActivity({ config, life }: Room, redis: RedisClient, agents: Agents) {
  const onFault = (error: unknown) => life.fail(error);
  const keys = redisKeys(config.redisPrefix);
  const activity = new AgentActivity({ redis, keys, clock, onFault });
  const runner = runActivity({ agents, activity, onFault });
  life.onStop('agent activity', () => runner.close());
  return activity;
}

/** The two channels to the log, of traders and of operators, and the results that come back. */
async function openResults(room: Room, topics: TopicsClient) {
  const { config } = room;
  const recentResults = new RecentResults(() => clock.nowMs());
  const delayedResults = new DelayedResults();
  const extremePrices = new ExtremePrices();
  const partitions = new PartitionLiveness(topics.executionEnds.size, clock.monotonicMs);
  const traders = openChannel(topics, config.signOffSeed, config.resultWaitMs);
  const operator = openChannel(topics, config.operatorSeed, operatorWaitMs);
  const channels = [traders, operator];
  const options = { channels, partitions, recentResults, delayedResults, extremePrices };
  await followResults(topics, { ...follow(room), ...options });
  return { ...options, traders, operator };
}

function openChannel(topics: TopicsClient, seed: Buffer, waitMs: number): CommandChannel {
  return openCommandChannel({
    key: openSignOffKey(seed),
    codec: topics.codecs.orders,
    producer: topics.orders,
    topic: topics.names.orders,
    partitions: topics.executionEnds.size,
    nowMs: clock.nowMs(),
    waitMs,
  });
}

/** The catalog, and the table that it is written to. */
async function openCatalog(room: Room, topics: TopicsClient) {
  const catalog = new CatalogIndex();
  const { names, codecs } = topics;
  const topic = { ...follow(room), topic: names.catalog, codec: codecs.catalog };
  const entries = await openTable(topics, topic, { apply: (entry) => catalog.take(entry) });
  return { catalog, entries };
}

function openTransfers({ records, names, codecs }: TopicsClient): TransferWriter {
  return new TransferWriter({
    producer: records,
    topic: names.transfers,
    codec: codecs.transfers,
  });
}

/** Heartbeats, and the watch over those that stop; its cancels go through the channel of the traders. */
async function openSessionWatch(
  room: Room,
  topics: TopicsClient,
  { partitions, traders }: Awaited<ReturnType<typeof openResults>>,
) {
  const counts = openSessionCounts(room.metrics);
  const sessions = await openSessions(topics, {
    ...follow(room),
    clock,
    counts,
    partitions,
    run: (partition, command) => traders.commands.run(partition, command),
  });
  room.life.onStop('sessions', () => sessions.close());
  return { heartbeats: sessions.heartbeats, counts: counts.over(sessions.table) };
}

function openCatalogWriter(
  { records, names, codecs }: TopicsClient,
  table: CompactedTable<CatalogEntry>,
): CatalogWriter {
  return new CatalogWriter({ producer: records, table, topics: names, codecs });
}

/** Logging and the reaction to faults of everything that follows a topic. */
function follow({ life, log }: Room) {
  return { log, onFault: (fault: Fault) => life.fail(fault) };
}

await runService('ingress', start);
