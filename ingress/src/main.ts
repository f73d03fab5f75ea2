import { randomInt } from 'node:crypto';
import { AgentActivity } from '@pm/domain/accounts/agent-activity.io';
import { KeyReadings, type KeyReadingsOptions } from '@pm/domain/accounts/key-readings.io';
import { countUnproven } from '@pm/domain/authority/unproven-records.io';
import { CatalogIndex } from '@pm/domain/catalog/catalog-index';
import { ClockWitness } from '@pm/domain/commands/clock-witness.io';
import { DelayedResults } from '@pm/domain/commands/delayed-results.io';
import { openChannel } from '@pm/domain/commands/open-channel.io';
import { watchOpened } from '@pm/domain/commands/opened-partitions.io';
import { PartitionLiveness } from '@pm/domain/commands/partition-liveness';
import { ReadOffsets } from '@pm/domain/commands/read-offsets.io';
import { RecentResults } from '@pm/domain/commands/recent-results-cache';
import { followResults } from '@pm/domain/commands/results.io';
import { neededEngines, openTopics, type TopicsClient } from '@pm/domain/commands/topics.io';
import { TransferWriter } from '@pm/domain/commands/transfer-writer.io';
import { LogEnds } from '@pm/domain/executions/log-ends.io';
import { LedgerSettling } from '@pm/domain/ledger/ledger-settling.io';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { FundedWallets } from '@pm/domain/orders/funded-wallets';
import {
  type OrderCrypto,
  openOrderCrypto,
  reportBinaries,
} from '@pm/domain/orders/order-crypto.io';
import { watchLedger } from '@pm/domain/orders/reservation.io';
import { openRateLimiter } from '@pm/domain/ratelimit/open-limiter.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { openComments } from '@pm/domain/social/comments.io';
import { WalletOwners } from '@pm/domain/wallets/wallet-owners';
import { systemClock as clock } from '@pm/kit/clock';
import { followTable } from '@pm/kit/compacted';
import { freshnessIn, kafkaConnection, keySecretsIn, redisConnection } from '@pm/kit/config';
import type { Fault } from '@pm/kit/fault';
import { NewestRecords } from '@pm/kit/kafka';
import { type Lifecycle, type Operations, runService } from '@pm/kit/lifecycle';
import { type Log, openLog } from '@pm/kit/log';
import { type Metrics, measureHeld, openMetrics } from '@pm/kit/metrics';
import { openRedis } from '@pm/kit/redis';
import { openTraces, type Traces } from '@pm/kit/traces';
import { redisKeys } from '@pm/schemas/redis/keys';
import { runActivity } from './accounts/agent-activity.io.ts';
import type { Agents } from './accounts/agents.io.ts';
import { EntryQuota } from './accounts/entry-quota.io.ts';
import { LedgerFunds } from './accounts/ledger-funds.io.ts';
import { openAccounts } from './accounts/open-accounts.io.ts';
import { type IngressConfig, readIngressConfig } from './config.ts';
import type { Authentication } from './http/authentication.io.ts';
import { type HttpMemory, openHttpMemory } from './http/http-memory.io.ts';
import { openListener } from './http/listeners.io.ts';
import type { PublicServices } from './http/public.route.ts';
import { openRepetitionCounts } from './http/replayed-requests.io.ts';
import { SignOffProof } from './log/sign-off-proof.io.ts';
import { type IngressMetrics, openIngressMetrics } from './metrics.ts';
import { openSignatures } from './orders/open-signatures.io.ts';
import { OrderTraces } from './orders/order-trace.io.ts';
import { patientReservations } from './orders/patient-reservations.io.ts';
import { UnconfirmedOrders } from './orders/unconfirmed-orders.io.ts';
import { UnfundedRequests } from './orders/unfunded-requests.io.ts';
import { openSessionCounts } from './sessions/session-metrics.io.ts';
import { openSessions } from './sessions/sessions.io.ts';
import { openProfiles } from './social/profiles.io.ts';
import { heldBy, type StatusParts, statusOf } from './status.io.ts';
import { ingressTopics } from './topics.ts';

/** Dependencies shared by the constructors below. */
interface ServiceContext {
  readonly config: IngressConfig;
  readonly life: Lifecycle;
  readonly operations: Operations;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly crypto: OrderCrypto;
  /** Null while nothing is traced. */
  readonly traces: Traces | null;
}

type Topics = TopicsClient<keyof typeof ingressTopics>;

/**
 * Ingress: orders and keys come in here, are checked, and go to the log; their results come back from it. It reads what
 * operators decide; their listener and their key are those of the program `operator`.
 */
async function start(life: Lifecycle): Promise<void> {
  const context = await openContext(life);
  const parts = await openParts(context);
  const { catalog, partitions, accounts } = parts;
  const status: StatusParts = {
    ...parts,
    nowMs: clock.monotonicMs,
    keys: accounts.keys,
    sessions: parts.sessions.counts,
  };
  const metrics = openIngressMetrics(context.metrics, statusOf(status).gauges);
  measureHeld(context.metrics, () => heldBy(status));
  const limits = openLimits(context);
  await openListener(
    { ...context, limits },
    {
      status,
      traders: publicServices(context, parts, { metrics, limits }),
      funds: parts.funds,
    },
  );
  const facts = {
    partitions: partitions.numbers.length,
    markets: catalog.marketCount,
    keys: accounts.keys.size,
  };
  context.log.info(facts, 'listening for orders');
}

async function openContext(life: Lifecycle): Promise<ServiceContext> {
  const config = readIngressConfig();
  const log = openLog('ingress', config.logLevel);
  life.useLog(log);
  life.needs({ ...config, engines: neededEngines(config) });
  const metrics = openMetrics('ingress');
  const operations = await life.operations({ ...config, metrics });
  const crypto = openOrderCrypto();
  reportBinaries(crypto, { log, metrics });
  const traces = await openTraces(config, { service: 'ingress', metrics, life });
  return { config, life, operations, log, metrics, crypto, traces };
}

/** Opens the log, the ledger, the tables and the background work; resolves when all tables are loaded. */
async function openParts(context: ServiceContext) {
  const { config, life, operations, log, crypto } = context;
  const topics = await operations.during('log', () =>
    openTopics({
      ...config,
      ...follow(context),
      clientId: 'ingress',
      used: ingressTopics,
      kafka: kafkaConnection(config),
      sealing: [openSignOffKey(config.signOffSeed)],
      metrics: context.metrics,
      onUnproven: countUnproven(context.metrics, log, clock.monotonicMs),
    }),
  );
  life.onStop('log', () => topics.client.close());
  // Opened first, so that it closes after everything that asks for signatures.
  const { feeWallet, ...signing } = await openSignatures(topics, context);
  const money = openMoney(context);
  const ends = new LogEnds(await topics.client.admin(), topics.names.executions);
  const results = await operations.during('executions', () => openResults(context, topics));
  const signingDomain = signing.domains.own;
  const owners = new WalletOwners(crypto.keccak, { feeWallet, signingDomain });
  const entryQuota = new EntryQuota({ ledger: money.ledger, owners });
  const [accounts, markets, sessions, comments, profiles] = await Promise.all([
    operations.during('accounts', () =>
      openAccounts(topics, {
        ...follow(context),
        clock,
        owners,
        entryQuota,
        secrets: keySecretsIn(config),
        freshness: freshnessIn(config),
      }),
    ),
    operations.during('catalog', () => openCatalog(context, topics)),
    operations.during('sessions', () =>
      openSessionWatch(context, topics, { ...results, entryQuota }),
    ),
    operations.during('comments', () => openComments(topics, follow(context))),
    operations.during('profiles', () =>
      openProfiles(topics, { ...follow(context), clock, entryQuota }),
    ),
  ]);
  return {
    notFollowed: topics.notFollowed,
    ...signing,
    ...money,
    ledger: patientReservations(money.ledger, new LedgerSettling({ ...money, ends })),
    ...results,
    owners,
    entryQuota,
    funds: new LedgerFunds({ trading: results.fundedWallets, entryQuota, clock }),
    accounts,
    ...markets,
    transfers: openTransfers(topics),
    unconfirmed: openUnconfirmed(context, { ...money, ...results }),
    sessions,
    comments,
    profiles,
    activity: openActivity(context, money, accounts.agents),
    keyReadings: await openKeyReadings(context, topics.client, {
      redis: money.cache,
      followed: accounts.keyTopics,
    }),
  };
}

type Parts = Awaited<ReturnType<typeof openParts>>;

/** The services of the public routes. */
function publicServices(
  context: ServiceContext,
  parts: Parts,
  { metrics, limits }: { metrics: IngressMetrics; limits: ReturnType<typeof openLimits> },
): PublicServices {
  const { ledger, owners, signatures, partitions, recentResults, comments, profiles } = parts;
  const { accounts, idempotencyKeys, activity, transfers } = parts;
  const { catalog: markets, newMarkets, hasher: hashes } = parts;
  const { commands } = parts.channel;
  const unfunded = new UnfundedRequests(limits?.limiter ?? null, parts.fundedWallets);
  const authentication: Authentication = {
    clock,
    verify: accounts.verify,
    verifyReader: accounts.verifyReader,
    walletStatus: accounts.walletStatus,
    freshness: freshnessIn(context.config),
  };
  const counts = openRepetitionCounts(context.metrics);
  const repetitions = { authentication, usedProofs: parts.usedProofs, counts };
  const ofMarkets = { authentication, clock, markets, newMarkets, partitions, commands };
  const ofMoney = { ...ofMarkets, idempotencyKeys, owners, hashes, ledger, unfunded };
  return {
    clock,
    domains: parts.domains,
    accounts: { ...accounts, authentication, signatures, repetitions, activity, owners },
    money: { ...ofMoney, transfers, freezes: accounts.freezes },
    orders: {
      ...ofMoney,
      ...parts.cached,
      signatures,
      unconfirmed: parts.unconfirmed,
      metrics,
      orderTraces: context.traces === null ? null : new OrderTraces(context.traces),
    },
    cancels: { ...ofMarkets, recentResults, funds: parts.funds },
    sessions: { authentication, heartbeats: parts.sessions.heartbeats },
    social: {
      authentication,
      comments,
      profiles,
      entryQuota: parts.entryQuota,
      listed: markets,
      newMarkets,
    },
    repetitions,
    newKeys: accounts.newKeys,
    keyReadings: parts.keyReadings,
  };
}

function openMoney(context: ServiceContext) {
  const { config, life, log } = context;
  const redis = openRedis({ ...redisConnection(config), log });
  life.onStop('redis', () => redis.disconnect());
  const ledger = openLedger(redis, redisKeys(config.redisPrefix));
  const ledgerWatch = watchLedger(ledger);
  life.onStop('ledger watch', () => ledgerWatch.close());
  return { ledger, ledgerWatch, ...openHttpMemory(context) };
}

function openLimits({ config, life, log }: ServiceContext) {
  const keys = redisKeys(config.redisPrefix);
  const limits = openRateLimiter({ config, keys, clock, log });
  life.onStop('rate limits', () => limits?.close());
  return limits;
}

/** How far this process has read keys, and the other processes. */
async function openKeyReadings(
  { config, life, log }: ServiceContext,
  client: Pick<Topics['client'], 'admin'>,
  read: Pick<KeyReadingsOptions, 'redis' | 'followed'>,
): Promise<KeyReadings> {
  const keys = redisKeys(config.redisPrefix);
  const admin = await client.admin();
  const readings = new KeyReadings({ ...read, keys, admin, service: 'ingress', log });
  readings.start();
  life.onStop('key readings', () => readings.close());
  return readings;
}

/** Uses of agents' keys: noted at once, written to the log every minute. */
function openActivity({ config, life }: ServiceContext, memory: HttpMemory, agents: Agents) {
  const onFault = (error: unknown) => life.fail(error);
  const keys = redisKeys(config.redisPrefix);
  const bytesMax = memory.cacheBudgets.agents;
  const activity = new AgentActivity({ redis: memory.cache, keys, bytesMax, clock, onFault });
  const runner = runActivity({ agents, activity, onFault });
  life.onStop('agent activity', () => runner.close());
  return activity;
}

/** The channel to the log, and the results that come back. */
async function openResults(context: ServiceContext, topics: Topics) {
  const { resultMemoryBytes: bytesMax, resultWaitMs: waitMs, signOffSeed: seed } = context.config;
  const recentResults = new RecentResults({ bytesMax, seed: randomInt(2 ** 32) });
  const readOffsets = new ReadOffsets(topics.executionEnds);
  const delayedResults = new DelayedResults();
  const fundedWallets = new FundedWallets();
  const partitions = new PartitionLiveness(topics.executionEnds.keys(), clock);
  let proof: SignOffProof | null = null;
  const channel = openChannel(topics, {
    ...context,
    program: 'ingress',
    partitions,
    seed,
    waitMs,
    onRejected: (partition) => proof?.onRejected(partition),
  });
  const witness = new ClockWitness({ clock, envelopes: channel.envelopes });
  const cached = { recentResults, readOffsets, delayedResults, fundedWallets };
  const parts = { channel, partitions, ...cached };
  const results = await followResults(topics, { ...follow(context), ...parts, witness });
  const opening = watchOpened(results, context.log);
  context.life.onStop('opened partitions', () => opening.close());
  const signOff = new SignOffProof({ partitions, commands: channel.commands, log: context.log });
  proof = signOff;
  const proving = signOff.start();
  context.life.onStop('sign-off proof', () => proving.close());
  return { ...parts, cached, signOff };
}

/** Orders whose results have not come in time, followed until the log has one. */
function openUnconfirmed(
  { life, log }: ServiceContext,
  parts: Pick<ReturnType<typeof openMoney>, 'ledger'> & Awaited<ReturnType<typeof openResults>>,
): UnconfirmedOrders {
  const unconfirmed = new UnconfirmedOrders({ ...parts, commands: parts.channel.commands, log });
  const rounds = unconfirmed.start();
  life.onStop('unconfirmed orders', () => rounds.close());
  return unconfirmed;
}

async function openCatalog(context: ServiceContext, { client, names, codecs }: Topics) {
  const catalog = new CatalogIndex();
  const { catalog: topic } = names;
  const reader = await followTable(client, {
    ...follow(context),
    topic,
    codec: codecs.catalog,
    take: (entry) => catalog.take(entry),
  });
  const newMarkets = new NewestRecords(await client.admin(), [{ topic, reader }]);
  return { catalog, newMarkets };
}

function openTransfers({ records, names, codecs }: Topics): TransferWriter {
  return new TransferWriter({
    producer: records,
    topic: names.transfers,
    codec: codecs.transfers,
  });
}

/** Heartbeats, and the watch over those that stop. */
async function openSessionWatch(
  context: ServiceContext,
  topics: Topics,
  {
    partitions,
    channel,
    entryQuota,
  }: Awaited<ReturnType<typeof openResults>> & { readonly entryQuota: EntryQuota },
) {
  const counts = openSessionCounts(context.metrics);
  const sessions = await openSessions(topics, {
    ...follow(context),
    clock,
    counts,
    partitions,
    entryQuota,
    run: (partition, command) => channel.commands.run(partition, command),
  });
  context.life.onStop('sessions', () => sessions.close());
  return { heartbeats: sessions.heartbeats, counts: counts.over(sessions.table) };
}

/** Logging and the reaction to faults of everything that follows a topic. */
function follow({ life, log }: ServiceContext) {
  return { log, onFault: (fault: Fault) => life.fail(fault) };
}

await runService('ingress', start);
