import { randomInt } from 'node:crypto';
import { AgentActivity } from '@pm/domain/accounts/agent-activity.io';
import { countUnproven } from '@pm/domain/authority/unproven-records.io';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { openDoorLimiter } from '@pm/domain/ratelimit/open-limiter.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { systemClock as clock } from '@pm/kit/clock';
import {
  freshnessIn,
  kafkaConnection,
  keySecretsIn,
  redisConnection,
  registryConnection,
} from '@pm/kit/config';
import type { Fault } from '@pm/kit/fault';
import { type Lifecycle, runService } from '@pm/kit/lifecycle';
import { type Log, openLog } from '@pm/kit/log';
import { type Metrics, openMetrics } from '@pm/kit/metrics';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { type CatalogEntry, redisKeys, type WalletAddress } from '@pm/schemas';
import { runActivity } from './accounts/agent-activity.io.ts';
import type { Agents } from './accounts/agents.io.ts';
import { openAccounts } from './accounts/open-accounts.io.ts';
import { WalletOwners } from './accounts/wallet-owners.ts';
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
import type { PublicServices } from './door/public.route.ts';
import { openRepetitionCounts } from './door/repetitions.io.ts';
import { UsedProofs } from './door/used-proofs.io.ts';
import { ClockWitness } from './log/clock-witness.io.ts';
import { type CommandChannel, openCommandChannel } from './log/command-channel.io.ts';
import { type CompactedTable, openTable } from './log/compacted-table.io.ts';
import { DelayedResults } from './log/delayed-results.io.ts';
import { KeyedMutex } from './log/keyed-mutex.io.ts';
import { PartitionLiveness } from './log/partition-liveness.ts';
import { RecentResults } from './log/recent-results-cache.ts';
import { followResults } from './log/results.io.ts';
import { openTopics, type TopicsClient } from './log/topics.io.ts';
import { TransferWriter } from './log/transfer-writer.io.ts';
import { type IngressMetrics, openIngressMetrics } from './metrics.ts';
import { openAudit } from './operator/audit-trail.io.ts';
import { openAdmission } from './operator/open-admission.io.ts';
import { type NativeCrypto, openNativeCrypto } from './orders/native-crypto.io.ts';
import { openSignatures } from './orders/open-signatures.io.ts';
import { watchLedger } from './orders/reservation.io.ts';
import { openSessionCounts } from './sessions/session-metrics.io.ts';
import { openSessions } from './sessions/sessions.io.ts';
import { openComments } from './social/comments.io.ts';
import { openProfiles } from './social/profiles.io.ts';
import { type StatusParts, statusOf } from './status.io.ts';

/** Dependencies shared by the constructors below. */
interface Room {
  readonly config: IngressConfig;
  readonly life: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly crypto: NativeCrypto;
}

/** Operators wait longer than traders for a result: a partition may just be taken over. */
const operatorWaitMs = 10_000;

/** Ingress: orders and keys come in here, are checked, and go to the log; their results come back from it. */
async function start(life: Lifecycle): Promise<void> {
  const room = openRoom(life);
  const parts = await openParts(room);
  const { catalog, partitions, accounts } = parts;
  const status: StatusParts = {
    ...parts,
    nowMs: clock.monotonicMs,
    keys: accounts.keys,
    sessions: parts.sessions.counts,
  };
  const metrics = openIngressMetrics(room.metrics, statusOf(status).gauges);
  await openListeners(
    { ...room, limits: openLimits(room) },
    {
      status,
      operator: operatorServices(room, parts),
      traders: publicServices(room, parts, metrics),
    },
  );
  const facts = {
    partitions: partitions.count,
    markets: catalog.marketCount,
    keys: accounts.keys.size,
  };
  room.log.info(facts, 'listening for orders');
}

function openRoom(life: Lifecycle): Room {
  const config = readIngressConfig();
  const log = openLog('ingress', config.logLevel);
  life.useLog(log);
  const crypto = openNativeCrypto();
  const metrics = openMetrics('ingress');
  return { config, life, log, metrics, crypto };
}

/** Opens the log, the ledger, the tables and the background work; resolves when all tables are loaded. */
async function openParts(room: Room) {
  const { config, life, log, crypto } = room;
  const topics = await openTopics({
    ...config,
    ...follow(room),
    kafka: kafkaConnection(config),
    registry: registryConnection(config),
    sealing: [openSignOffKey(config.signOffSeed), openSignOffKey(config.operatorSeed)],
    onUnproven: countUnproven(room.metrics, log, clock.monotonicMs),
  });
  life.onStop('log', () => topics.client.close());
  // Opened first, so that it closes after everything that asks for signatures.
  const { feeWallet, ...signing } = await openSignatures(topics, room);
  const money = openMoney(room);
  const results = await openResults(room, topics);
  const signingDomain = signing.domains.own;
  const owners = new WalletOwners(crypto.keccak, { feeWallet, signingDomain });
  const accounts = await openAccounts(topics, {
    ...follow(room),
    clock,
    owners,
    secrets: keySecretsIn(config),
    freshness: freshnessIn(config),
  });
  const { catalog, entries } = await openCatalog(room, topics);
  const writer = openCatalogWriter(topics, entries);
  const parts = {
    ...signing,
    ...money,
    ...results,
    owners,
    accounts,
    catalog,
    writer,
    transfers: openTransfers(topics),
    sessions: await openSessionWatch(room, topics, results),
    comments: await openComments(topics, follow(room)),
    profiles: await openProfiles(topics, { ...follow(room), clock }),
    audit: await openAudit(topics, follow(room)),
    ...(await openAdmission(topics, { ...room, ...follow(room), clock })),
    activity: openActivity(room, money.redis, accounts.agents),
    locks: new CatalogLocks(new KeyedMutex()),
  };
  if (config.tickRefinement) {
    const refinements = new TickRefinements(catalogServices(room, parts), log);
    results.extremePrices.listen((market) => refinements.note(market));
  }
  return parts;
}

type Parts = Awaited<ReturnType<typeof openParts>>;

function catalogServices(
  { crypto }: Room,
  {
    catalog,
    partitions,
    operator,
    writer,
    locks,
  }: Pick<Parts, 'catalog' | 'partitions' | 'operator' | 'writer' | 'locks'>,
): CatalogServices {
  const { keccak } = crypto;
  const { commands } = operator;
  return { catalog, clock, keccak, partitions: partitions.count, commands, writer, locks };
}

function operatorServices(
  room: Room,
  parts: Parts,
): Parameters<typeof openListeners>[1]['operator'] {
  const { ledger, owners, transfers, writer, recentResults, partitions, operator } = parts;
  const { approvals, operators } = parts;
  const { bindings, freezes, walletStatus } = parts.accounts;
  const sweeping = { clock, recentResults, partitions, commands: operator.commands, owners };
  const sweep = (wallet: WalletAddress) => sweepOrders(wallet, sweeping);
  return {
    clock,
    operators,
    approvals,
    audit: parts.audit,
    catalog: catalogServices(room, parts),
    money: { approvals, clock, writer, ledger, transfers, freezes, owners, bindings },
    wallets: { walletStatus, freezes, ledger, owners, bindings, sweep },
    comments: parts.comments,
  };
}

/** The services of the public routes; commands go through the channel of the traders. */
function publicServices(room: Room, parts: Parts, metrics: IngressMetrics): PublicServices {
  const { ledger, owners, signatures, partitions, recentResults, comments, profiles } = parts;
  const { accounts, idempotencyKeys, activity, transfers, delayedResults } = parts;
  const { commands } = parts.traders;
  const markets = parts.catalog;
  const hashes = parts.hasher;
  const authentication: Authentication = {
    clock,
    verify: accounts.verify,
    verifyReader: accounts.verifyReader,
    walletStatus: accounts.walletStatus,
    freshness: freshnessIn(room.config),
  };
  return {
    clock,
    domains: parts.domains,
    accounts: { ...accounts, authentication, signatures, activity, owners },
    money: {
      authentication,
      clock,
      idempotencyKeys,
      markets,
      owners,
      hashes,
      partitions,
      ledger,
      commands,
      transfers,
      freezes: accounts.freezes,
    },
    orders: {
      authentication,
      clock,
      idempotencyKeys,
      markets,
      owners,
      hashes,
      signatures,
      partitions,
      recentResults,
      delayedResults,
      ledger,
      commands,
      metrics,
    },
    cancels: { authentication, clock, markets, partitions, recentResults, commands },
    sessions: { authentication, heartbeats: parts.sessions.heartbeats },
    social: { authentication, comments, profiles, listed: markets },
    repetitions: {
      authentication,
      usedProofs: parts.usedProofs,
      counts: openRepetitionCounts(room.metrics),
    },
  };
}

function openMoney({ config, life, log }: Room) {
  const redis = openRedis({ ...redisConnection(config), log });
  life.onStop('redis', () => redis.disconnect());
  const keys = redisKeys(config.redisPrefix);
  const ledger = openLedger(redis, keys);
  const ledgerWatch = watchLedger(ledger);
  life.onStop('ledger watch', () => ledgerWatch.close());
  const idempotencyKeys = new IdempotencyKeys(redis, keys);
  const usedProofs = new UsedProofs(redis, keys);
  return { redis, ledger, ledgerWatch, idempotencyKeys, usedProofs };
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
  const memory = { bytesMax: config.resultMemoryBytes, seed: randomInt(2 ** 32) };
  const recentResults = new RecentResults({ nowMs: () => clock.nowMs(), ...memory });
  const delayedResults = new DelayedResults();
  const extremePrices = new ExtremePrices();
  const partitions = new PartitionLiveness(topics.executionEnds.size, clock);
  const foreign = openForeignEnvelopes(room);
  const traders = openChannel(topics, {
    seed: config.signOffSeed,
    waitMs: config.resultWaitMs,
    onForeign: () => foreign('ingress'),
  });
  const operator = openChannel(topics, {
    seed: config.operatorSeed,
    waitMs: operatorWaitMs,
    onForeign: () => foreign('operator'),
  });
  const channels = [traders, operator];
  const witness = new ClockWitness({ clock, envelopes: traders.envelopes });
  const options = { channels, partitions, recentResults, delayedResults, extremePrices, witness };
  await followResults(topics, { ...follow(room), ...options });
  return { ...options, traders, operator };
}

/** Counts the envelopes that another process has sent in a run of this one, and names the first of each key. */
function openForeignEnvelopes({ log, metrics }: Room): (key: string) => void {
  const envelopes = metrics.counter({
    name: 'pm_ingress_foreign_envelopes_total',
    help: 'Envelopes of another process with the run of sequences of this one, which then begins another run.',
    labels: ['key'],
  });
  const named = new Set<string>();
  return (key) => {
    envelopes.add(1, { key });
    if (!named.has(key))
      log.warn({ key }, 'another process used the same run of sequences: another one begins');
    named.add(key);
  };
}

/** A minute of runs: processes that start at one moment differ. */
const runsAheadMax = 1_000;

function openChannel(
  topics: TopicsClient,
  { seed, ...options }: { seed: Buffer; waitMs: number; onForeign(): void },
): CommandChannel {
  return openCommandChannel({
    ...options,
    key: openSignOffKey(seed),
    codec: topics.codecs.orders,
    producer: topics.orders,
    topic: topics.names.orders,
    partitions: topics.executionEnds.size,
    nowMs: () => clock.nowMs(),
    runsAhead: randomInt(runsAheadMax),
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
