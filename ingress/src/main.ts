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
interface Room {
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
  const room = await openRoom(life);
  const parts = await openParts(room);
  const { catalog, partitions, accounts } = parts;
  const status: StatusParts = {
    ...parts,
    nowMs: clock.monotonicMs,
    keys: accounts.keys,
    sessions: parts.sessions.counts,
  };
  const metrics = openIngressMetrics(room.metrics, statusOf(status).gauges);
  measureHeld(room.metrics, () => heldBy(status));
  const limits = openLimits(room);
  await openListener(
    { ...room, limits },
    {
      status,
      traders: publicServices(room, parts, { metrics, limits }),
      funds: parts.funds,
    },
  );
  const facts = {
    partitions: partitions.numbers.length,
    markets: catalog.marketCount,
    keys: accounts.keys.size,
  };
  room.log.info(facts, 'listening for orders');
}

async function openRoom(life: Lifecycle): Promise<Room> {
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
async function openParts(room: Room) {
  const { config, life, operations, log, crypto } = room;
  const topics = await operations.during('log', () =>
    openTopics({
      ...config,
      ...follow(room),
      clientId: 'ingress',
      used: ingressTopics,
      kafka: kafkaConnection(config),
      sealing: [openSignOffKey(config.signOffSeed)],
      metrics: room.metrics,
      onUnproven: countUnproven(room.metrics, log, clock.monotonicMs),
    }),
  );
  life.onStop('log', () => topics.client.close());
  // Opened first, so that it closes after everything that asks for signatures.
  const { feeWallet, ...signing } = await openSignatures(topics, room);
  const money = openMoney(room);
  const ends = new LogEnds(await topics.client.admin(), topics.names.executions);
  const results = await operations.during('executions', () => openResults(room, topics));
  const signingDomain = signing.domains.own;
  const owners = new WalletOwners(crypto.keccak, { feeWallet, signingDomain });
  const entryRoom = new EntryQuota({ ledger: money.ledger, owners });
  const [accounts, markets, sessions, comments, profiles] = await Promise.all([
    operations.during('accounts', () =>
      openAccounts(topics, {
        ...follow(room),
        clock,
        owners,
        room: entryRoom,
        secrets: keySecretsIn(config),
        freshness: freshnessIn(config),
      }),
    ),
    operations.during('catalog', () => openCatalog(room, topics)),
    operations.during('sessions', () => openSessionWatch(room, topics, { ...results, entryRoom })),
    operations.during('comments', () => openComments(topics, follow(room))),
    operations.during('profiles', () =>
      openProfiles(topics, { ...follow(room), clock, room: entryRoom }),
    ),
  ]);
  return {
    notFollowed: topics.notFollowed,
    ...signing,
    ...money,
    ledger: patientReservations(money.ledger, new LedgerSettling({ ...money, ends })),
    ...results,
    owners,
    entryRoom,
    funds: new LedgerFunds({ trading: results.fundedWallets, room: entryRoom, clock }),
    accounts,
    ...markets,
    transfers: openTransfers(topics),
    unconfirmed: openUnconfirmed(room, { ...money, ...results }),
    sessions,
    comments,
    profiles,
    activity: openActivity(room, money, accounts.agents),
    keyReadings: await openKeyReadings(room, topics.client, {
      redis: money.cache,
      followed: accounts.keyTopics,
    }),
  };
}

type Parts = Awaited<ReturnType<typeof openParts>>;

/** The services of the public routes. */
function publicServices(
  room: Room,
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
    freshness: freshnessIn(room.config),
  };
  const counts = openRepetitionCounts(room.metrics);
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
      orderTraces: room.traces === null ? null : new OrderTraces(room.traces),
    },
    cancels: { ...ofMarkets, recentResults, funds: parts.funds },
    sessions: { authentication, heartbeats: parts.sessions.heartbeats },
    social: {
      authentication,
      comments,
      profiles,
      room: parts.entryRoom,
      listed: markets,
      newMarkets,
    },
    repetitions,
    newKeys: accounts.newKeys,
    keyReadings: parts.keyReadings,
  };
}

function openMoney(room: Room) {
  const { config, life, log } = room;
  const redis = openRedis({ ...redisConnection(config), log });
  life.onStop('redis', () => redis.disconnect());
  const ledger = openLedger(redis, redisKeys(config.redisPrefix));
  const ledgerWatch = watchLedger(ledger);
  life.onStop('ledger watch', () => ledgerWatch.close());
  return { ledger, ledgerWatch, ...openHttpMemory(room) };
}

function openLimits({ config, life, log }: Room) {
  const keys = redisKeys(config.redisPrefix);
  const limits = openRateLimiter({ config, keys, clock, log });
  life.onStop('rate limits', () => limits?.close());
  return limits;
}

/** How far this process has read keys, and the other processes. */
async function openKeyReadings(
  { config, life, log }: Room,
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
function openActivity({ config, life }: Room, memory: HttpMemory, agents: Agents) {
  const onFault = (error: unknown) => life.fail(error);
  const keys = redisKeys(config.redisPrefix);
  const bytesMax = memory.cacheBudgets.agents;
  const activity = new AgentActivity({ redis: memory.cache, keys, bytesMax, clock, onFault });
  const runner = runActivity({ agents, activity, onFault });
  life.onStop('agent activity', () => runner.close());
  return activity;
}

/** The channel to the log, and the results that come back. */
async function openResults(room: Room, topics: Topics) {
  const { resultMemoryBytes: bytesMax, resultWaitMs: waitMs, signOffSeed: seed } = room.config;
  const recentResults = new RecentResults({ bytesMax, seed: randomInt(2 ** 32) });
  const readOffsets = new ReadOffsets(topics.executionEnds);
  const delayedResults = new DelayedResults();
  const fundedWallets = new FundedWallets();
  const partitions = new PartitionLiveness(topics.executionEnds.keys(), clock);
  let proof: SignOffProof | null = null;
  const channel = openChannel(topics, {
    ...room,
    program: 'ingress',
    partitions,
    seed,
    waitMs,
    onRejected: (partition) => proof?.onRejected(partition),
  });
  const witness = new ClockWitness({ clock, envelopes: channel.envelopes });
  const cached = { recentResults, readOffsets, delayedResults, fundedWallets };
  const parts = { channel, partitions, ...cached };
  const results = await followResults(topics, { ...follow(room), ...parts, witness });
  const opening = watchOpened(results, room.log);
  room.life.onStop('opened partitions', () => opening.close());
  const signOff = new SignOffProof({ partitions, commands: channel.commands, log: room.log });
  proof = signOff;
  const proving = signOff.start();
  room.life.onStop('sign-off proof', () => proving.close());
  return { ...parts, cached, signOff };
}

/** Orders whose results have not come in time, followed until the log has one. */
function openUnconfirmed(
  { life, log }: Room,
  parts: Pick<ReturnType<typeof openMoney>, 'ledger'> & Awaited<ReturnType<typeof openResults>>,
): UnconfirmedOrders {
  const unconfirmed = new UnconfirmedOrders({ ...parts, commands: parts.channel.commands, log });
  const rounds = unconfirmed.start();
  life.onStop('unconfirmed orders', () => rounds.close());
  return unconfirmed;
}

async function openCatalog(room: Room, { client, names, codecs }: Topics) {
  const catalog = new CatalogIndex();
  const { catalog: topic } = names;
  const reader = await followTable(client, {
    ...follow(room),
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
  room: Room,
  topics: Topics,
  {
    partitions,
    channel,
    entryRoom,
  }: Awaited<ReturnType<typeof openResults>> & { readonly entryRoom: EntryQuota },
) {
  const counts = openSessionCounts(room.metrics);
  const sessions = await openSessions(topics, {
    ...follow(room),
    clock,
    counts,
    partitions,
    room: entryRoom,
    run: (partition, command) => channel.commands.run(partition, command),
  });
  room.life.onStop('sessions', () => sessions.close());
  return { heartbeats: sessions.heartbeats, counts: counts.over(sessions.table) };
}

/** Logging and the reaction to faults of everything that follows a topic. */
function follow({ life, log }: Room) {
  return { log, onFault: (fault: Fault) => life.fail(fault) };
}

await runService('ingress', start);
