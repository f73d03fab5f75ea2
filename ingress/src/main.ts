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
import type { AgentStore } from './accounts/agents.io.ts';
import { openAccounts } from './accounts/open-accounts.io.ts';
import { WalletOwners } from './accounts/wallet-owners.ts';
import { CatalogIndex } from './catalog/catalog-index.ts';
import { CatalogTurns } from './catalog/catalog-locks.io.ts';
import { CatalogStore } from './catalog/catalog-writer.io.ts';
import { ExtremePrices, TickRefinements } from './catalog/tick-refinements.io.ts';
import { type IngressConfig, readIngressConfig } from './config.ts';
import { RetryStore } from './door/idempotency-keys.io.ts';
import { openDoors } from './door/listeners.io.ts';
import { type CommandLine, openCommandLine } from './log/command-channel.io.ts';
import { openTable, type TableStore } from './log/compacted-table.io.ts';
import { DelayedAnswers } from './log/delayed-results.io.ts';
import { Turns } from './log/keyed-mutex.io.ts';
import { PartitionHearings } from './log/partition-liveness.io.ts';
import { AnswerMemory } from './log/recent-results.io.ts';
import { followResults } from './log/results.io.ts';
import { type OpenLog, openLogStore, readFeeWallet } from './log/topics.io.ts';
import { TransferSink } from './log/transfer-writer.io.ts';
import { openAudit } from './operator/audit-trail.io.ts';
import { OrderHasher } from './orders/hash.ts';
import { type NativeCrypto, openNativeCrypto } from './orders/native-crypto.io.ts';
import { watchLedger } from './orders/reservation.io.ts';
import { openKnownKeys, SignatureRule } from './orders/signature.ts';
import { SignatureRunner } from './orders/signature-pool.io.ts';
import { openSessionCounts } from './sessions/session-metrics.io.ts';
import { openSessions } from './sessions/sessions.io.ts';
import { openComments } from './social/comments.io.ts';
import { openProfiles } from './social/profiles.io.ts';

/** What the parts below are made of. */
interface Room {
  readonly config: IngressConfig;
  readonly life: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly crypto: NativeCrypto;
  readonly hasher: OrderHasher;
}

/** The operator waits longer than a trader: what he does may meet a partition that is just being taken over. */
const operatorWaitMs = 10_000;

/** The write door: orders and keys come in here, are checked, and go on the log; their results come back from it. */
async function start(life: Lifecycle): Promise<void> {
  const config = readIngressConfig();
  const log = openLog('ingress', config.logLevel);
  life.useLog(log);
  const crypto = openNativeCrypto();
  const metrics = openMetrics('ingress');
  const hasher = new OrderHasher(crypto.keccak);
  const room: Room = { config, life, log, metrics, crypto, hasher };
  const signatures = openSignatures(room);
  const topicLog = await openLogStore({ ...config, brokers: config.kafkaBrokers, log });
  life.onStop('log', () => topicLog.client.close());
  const money = openMoney(room);
  const results = await openResults(room, topicLog);
  const owned = new WalletOwners(crypto.keccak, await readFeeWallet(topicLog));
  const accounts = await openAccounts(topicLog, {
    ...{ ...follow(room), clock, owners: owned },
    ...{ serverSecret: config.keySecret, freshnessMs: freshnessMs(config) },
  });
  const { catalog, entries } = await openCatalog(room, topicLog);
  const sessions = await watchSessions(room, topicLog, results);

  const { hearings, memory, delays, traders, operator } = results;
  const { owners, bindings, door } = accounts;
  const { keys, walletStatus, freezes } = door;
  const comments = await openComments(topicLog, follow(room));
  const profiles = await openProfiles(topicLog, { ...follow(room), clock });
  const { ledger, ledgerWatch, retries } = money;
  const activity = openActivity(room, money.redis, door.agents);
  const transfers = openTransfers(topicLog);
  const writes = openWrites(topicLog, entries);
  const turns = new CatalogTurns(new Turns());
  if (config.tickRefinement) {
    const refined = { catalog, clock, log: operator.runner, turns, writes };
    const refining = new TickRefinements(refined, log);
    results.extremes.listen((market) => refining.note(market));
  }
  await openDoors(
    { ...room, limits: openLimits(room) },
    {
      watched: {
        ...{ hearings, ledgerWatch, signatures, traders, operator, memory, keys, owners, catalog },
        nowMs: clock.monotonicMs,
        sessions: sessions.counts,
      },
      operator: {
        ...{ clock, keccak: crypto.keccak, token: config.operatorToken, catalog },
        ...{ partitions: hearings.count, log: operator.runner },
        ...{ writes, turns, ledger, transfers },
        audit: await openAudit(topicLog, follow(room)),
        ...{ walletStatus, freezes, owners, bindings },
        comments,
      },
      traders: {
        ...{ ...door, clock, activity, markets: catalog },
        ...{ hashes: room.hasher, signatures, partitions: hearings, answers: memory, ledger },
        ...{ log: traders.runner, freshnessMs: freshnessMs(config), retries, transfers, delays },
        sessions: sessions.desk,
        social: { comments, profiles, listed: catalog },
      },
    },
  );
  const facts = { partitions: hearings.count, markets: catalog.marketCount, keys: keys.size };
  log.info(facts, 'the door is open');
}

function freshnessMs({ freshnessSeconds }: IngressConfig): number {
  return freshnessSeconds * 1000;
}

function openSignatures({ config, life, crypto, hasher }: Room): SignatureRunner {
  const rule = new SignatureRule(hasher, crypto.curve, openKnownKeys());
  const signatures = new SignatureRunner({
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
  return { redis, ledger, ledgerWatch, retries: new RetryStore(redis, keys) };
}

function openLimits({ config, life, log }: Room) {
  const keys = redisKeys(config.redisPrefix);
  const limits = openDoorLimiter({ config, keys, clock, log });
  life.onStop('rate limits', () => limits?.close());
  return limits;
}

/** Uses of agents' keys: noted at once, brought to the log every minute. */
function openActivity({ config, life }: Room, redis: RedisClient, agents: AgentStore) {
  const onFault = (error: unknown) => life.fail(error);
  const keys = redisKeys(config.redisPrefix);
  const activity = new AgentActivity({ redis, keys, clock, onFault });
  const runner = runActivity({ agents, activity, onFault });
  life.onStop('agent activity', () => runner.close());
  return activity;
}

/** The lines to the log and what comes back on them. */
async function openResults(room: Room, topicLog: OpenLog) {
  const { config } = room;
  const memory = new AnswerMemory(() => clock.nowMs());
  const delays = new DelayedAnswers();
  const extremes = new ExtremePrices();
  const hearings = new PartitionHearings(topicLog.executionEnds.size, clock.monotonicMs);
  const traders = openLine(topicLog, config.signOffSeed, config.resultWaitMs);
  const operator = openLine(topicLog, config.operatorSeed, operatorWaitMs);
  const lines = [traders, operator];
  await followResults(topicLog, { ...follow(room), lines, hearings, memory, delays, extremes });
  return { memory, delays, extremes, hearings, traders, operator };
}

function openLine(topicLog: OpenLog, seed: Buffer, waitMs: number): CommandLine {
  return openCommandLine({
    key: openSignOffKey(seed),
    codec: topicLog.codecs.orders,
    producer: topicLog.orders,
    topic: topicLog.names.orders,
    partitions: topicLog.executionEnds.size,
    nowMs: clock.nowMs(),
    waitMs,
  });
}

/** What is listed, and the table it is written to. */
async function openCatalog(room: Room, topicLog: OpenLog) {
  const catalog = new CatalogIndex();
  const { names, codecs } = topicLog;
  const topic = { ...follow(room), topic: names.catalog, codec: codecs.catalog };
  const entries = await openTable(topicLog, topic, { apply: (entry) => catalog.take(entry) });
  return { catalog, entries };
}

function openTransfers({ records, names, codecs }: OpenLog): TransferSink {
  return new TransferSink({
    producer: records,
    topic: names.transfers,
    codec: codecs.transfers,
  });
}

/** Heartbeats, and the watch over those that stop; its cancels go on the traders' line. */
async function watchSessions(
  room: Room,
  topicLog: OpenLog,
  { hearings, traders }: Awaited<ReturnType<typeof openResults>>,
) {
  const counts = openSessionCounts(room.metrics);
  const sessions = await openSessions(topicLog, {
    ...{ ...follow(room), clock, counts, partitions: hearings },
    run: (partition, command) => traders.runner.run(partition, command),
  });
  room.life.onStop('sessions', () => sessions.close());
  return { desk: sessions.desk, counts: counts.over(sessions.table) };
}

function openWrites(
  { records, names, codecs }: OpenLog,
  table: TableStore<CatalogEntry>,
): CatalogStore {
  return new CatalogStore({ producer: records, table, topics: names, codecs });
}

/** What whoever follows a topic says, and does when he cannot. */
function follow({ life, log }: Room) {
  return { log, onFault: (fault: Fault) => life.fail(fault) };
}

await runService('ingress', start);
