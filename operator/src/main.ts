import { derivedDomain } from '@pm/domain/accounts/signing-domain';
import { countUnproven } from '@pm/domain/authority/unproven-records.io';
import { CatalogIndex } from '@pm/domain/catalog/catalog-index';
import type { CommandChannel } from '@pm/domain/commands/command-channel.io';
import { openTable } from '@pm/domain/commands/compacted-table.io';
import { KeyedMutex } from '@pm/domain/commands/keyed-mutex.io';
import { openChannel } from '@pm/domain/commands/open-channel.io';
import { additionsOf, watchOpened } from '@pm/domain/commands/opened-partitions.io';
import { PartitionLiveness } from '@pm/domain/commands/partition-liveness';
import { ReadOffsets } from '@pm/domain/commands/read-offsets.io';
import { followResults } from '@pm/domain/commands/results.io';
import { neededEngines, openTopics, type TopicsClient } from '@pm/domain/commands/topics.io';
import { TransferWriter } from '@pm/domain/commands/transfer-writer.io';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { type OrderCrypto, openOrderCrypto } from '@pm/domain/orders/order-crypto.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { readOpening } from '@pm/domain/signoff/opening.io';
import { openComments } from '@pm/domain/social/comments.io';
import { WalletOwners } from '@pm/domain/wallets/wallet-owners';
import { systemClock as clock } from '@pm/kit/clock';
import { kafkaConnection, redisConnection } from '@pm/kit/config';
import type { Fault } from '@pm/kit/fault';
import { defaultHttpLimits, openHttp } from '@pm/kit/http';
import { type Lifecycle, type Operations, runService } from '@pm/kit/lifecycle';
import { refuseWebPages } from '@pm/kit/listener';
import { type Log, openLog } from '@pm/kit/log';
import { type Metrics, openMetrics } from '@pm/kit/metrics';
import { openRedis } from '@pm/kit/redis';
import { type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import { redisKeys } from '@pm/schemas/redis/keys';
import { openAudit } from './audit-trail.io.ts';
import { CatalogLocks } from './catalog/catalog-locks.io.ts';
import { CatalogWriter } from './catalog/catalog-writer.io.ts';
import type { CatalogServices } from './catalog/matcher-market.io.ts';
import { ExtremePrices, TickRefinements } from './catalog/tick-refinements.io.ts';
import { type OperatorConfig, readOperatorConfig } from './config.ts';
import { openAdmission } from './open-admission.io.ts';
import { openResolutions } from './open-resolutions.io.ts';
import { openWallets } from './open-wallets.io.ts';
import { addOperatorRoutes } from './operator.route.ts';
import type { OperatorServices } from './operator-services.io.ts';
import {
  measureOperator,
  type OperatorStatusParts,
  operatorFacts,
  readinessOf,
  servingOf,
} from './status.io.ts';
import { sweepBanned } from './sweep.io.ts';
import { operatorTopics } from './topics.ts';
import { marketHistories, TradedMarkets } from './traded-markets.io.ts';

const name = 'operator';

/** Dependencies shared by the constructors below. */
interface ServiceContext {
  readonly config: OperatorConfig;
  readonly life: Lifecycle;
  readonly operations: Operations;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly crypto: OrderCrypto;
}

type Topics = TopicsClient<keyof typeof operatorTopics>;

/** Operators wait longer than traders for a result: a partition may just be taken over. */
const resultWaitMs = 10_000;
/** It reads the results of all orders, for a few of its own; a person waits for these. */
const resultRestMs = 50;

/**
 * The operator's listener, and all that takes the operator's key: markets and their rules, deposits, and what wallets
 * may do. Ingress has neither this listener nor this key.
 */
async function start(life: Lifecycle): Promise<void> {
  const context = await openContext(life);
  const parts = await openParts(context);
  const { marketsMax } = context.config;
  const status: OperatorStatusParts = { ...parts, marketsMax, nowMs: clock.monotonicMs };
  measureOperator(context.metrics, status);
  await listen(context, {
    ...operatorServices(context, parts),
    status: () => operatorFacts(status),
  });
  context.operations.report({
    status: () => operatorFacts(status),
    ready: () => readinessOf(status),
    serving: () => servingOf(status),
  });
  const facts = { partitions: parts.partitions.numbers.length, markets: parts.catalog.marketCount };
  context.log.info(facts, 'listening for operators');
}

async function openContext(life: Lifecycle): Promise<ServiceContext> {
  const config = readOperatorConfig();
  const log = openLog(name, config.logLevel);
  life.useLog(log);
  life.needs({ ...config, engines: neededEngines(config) });
  const metrics = openMetrics(name);
  const operations = await life.operations({ ...config, metrics });
  return { config, life, operations, log, metrics, crypto: openOrderCrypto() };
}

/** Opens the log, the ledger and the tables, and begins to refine ticks; resolves when all tables are loaded. */
async function openParts(context: ServiceContext) {
  const { config, life, operations, log, metrics } = context;
  const topics = await operations.during('log', () =>
    openTopics({
      ...config,
      ...follow(context),
      clientId: name,
      used: operatorTopics,
      kafka: kafkaConnection(config),
      sealing: [openSignOffKey(config.operatorSeed)],
      metrics,
      onUnproven: countUnproven(metrics, log, clock.monotonicMs),
    }),
  );
  life.onStop('log', () => topics.client.close());
  const owners = await openOwners(context, topics);
  const extremePrices = new ExtremePrices();
  const additions = await additionsOf(topics.client, topics.codecs.orders);
  const partitions = new PartitionLiveness(topics.executionEnds.keys(), clock, additions);
  const seed = config.operatorSeed;
  const sending = { program: name, partitions, seed, waitMs: resultWaitMs } as const;
  const channel = openChannel(topics, { ...context, ...sending });
  const readOffsets = new ReadOffsets(topics.executionEnds);
  const observers = { partitions, extremePrices, readOffsets };
  await openResults(context, topics, { channel, ...observers });
  const { redis, ledger } = openMoney(context);
  const history = marketHistories(redis, redisKeys(config.redisPrefix));
  const traded = new TradedMarkets({ history, readOffsets });
  const [wallets, catalog, comments, audit, admission] = await Promise.all([
    operations.during('wallets', () => openWallets(topics, { ...follow(context), clock, owners })),
    operations.during('catalog', () => openCatalog(context, topics)),
    operations.during('comments', () => openComments(topics, follow(context))),
    operations.during('audit', () => openAudit(topics, follow(context))),
    operations.during('operators', () =>
      openAdmission(topics, { ...context, ...follow(context), redis, clock }),
    ),
  ]);
  const parts = {
    notFollowed: topics.notFollowed,
    partitions,
    channel,
    owners,
    ledger,
    ...wallets,
    ...catalog,
    ...admission,
    comments,
    audit,
    traded,
    transfers: new TransferWriter({
      producer: topics.records,
      topic: topics.names.transfers,
      codec: topics.codecs.transfers,
    }),
    locks: new CatalogLocks(new KeyedMutex()),
  };
  const services = catalogServices(context, parts);
  const resolutions = openResolutions({ ...parts, catalog: services, clock, log }, context);
  if (config.tickRefinement) {
    const refinements = new TickRefinements(services, log);
    extremePrices.listen((market) => refinements.note(market));
  }
  return { ...parts, resolutions };
}

type Parts = Awaited<ReturnType<typeof openParts>>;

/** Follows the results of all orders, also in partitions that are opened later. */
async function openResults(
  context: ServiceContext,
  topics: Topics,
  observers: {
    readonly channel: CommandChannel;
    readonly partitions: PartitionLiveness;
    readonly extremePrices: ExtremePrices;
    readonly readOffsets: ReadOffsets;
  },
): Promise<void> {
  const { life, operations, log } = context;
  const results = await operations.during('executions', () =>
    followResults(topics, { ...follow(context), restMs: resultRestMs, ...observers }),
  );
  const opening = watchOpened(results, log);
  life.onStop('opened partitions', () => opening.close());
}

/** Owners of wallets; which addresses are reserved follows from the first record of the log. */
async function openOwners(
  { config, crypto }: ServiceContext,
  { client, names, codecs }: Topics,
): Promise<WalletOwners> {
  const opening = await readOpening(client, { topic: names.orders, reader: codecs.orders });
  const signingDomain = config.signingDomain ?? derivedDomain(opening);
  const feeWallet = walletFromBytes(opening.feeWallet);
  return new WalletOwners(crypto.keccak, { feeWallet, signingDomain });
}

function openMoney({ config, life, log }: ServiceContext) {
  const redis = openRedis({ ...redisConnection(config), log });
  life.onStop('redis', () => redis.disconnect());
  return { redis, ledger: openLedger(redis, redisKeys(config.redisPrefix)) };
}

/** The catalog, and the table that it is written to. */
async function openCatalog(context: ServiceContext, topics: Topics) {
  const catalog = new CatalogIndex();
  const { records: producer, names, codecs } = topics;
  const topic = { ...follow(context), topic: names.catalog, codec: codecs.catalog };
  const table = await openTable(topics, topic, {
    apply: (entry) => catalog.take(entry),
    forget: (key) => catalog.forget(key),
  });
  return { catalog, writer: new CatalogWriter({ producer, table, topics: names, codecs }) };
}

function catalogServices(
  { config, crypto }: ServiceContext,
  parts: Pick<Parts, 'catalog' | 'partitions' | 'channel' | 'writer' | 'locks' | 'traded'>,
): CatalogServices {
  const { catalog, partitions, channel, writer, locks, traded } = parts;
  return {
    catalog,
    clock,
    keccak: crypto.keccak,
    partitions,
    traded,
    feeNoticeMs: config.feeNoticeSeconds * 1000,
    marketsMax: config.marketsMax,
    commands: channel.commands,
    writer,
    locks,
  };
}

function operatorServices(context: ServiceContext, parts: Parts): Omit<OperatorServices, 'status'> {
  const { ledger, owners, transfers, writer, partitions, channel, bindings, freezes } = parts;
  const { operators, approvals, audit, comments, walletStatus, write } = parts;
  const sweeping = { clock, partitions, commands: channel.commands, owners };
  const sweep = (wallet: WalletAddress) => sweepBanned(wallet, sweeping);
  return {
    clock,
    operators,
    approvals,
    resolutions: parts.resolutions,
    audit,
    catalog: catalogServices(context, parts),
    money: { approvals, clock, writer, ledger, transfers, freezes, owners, bindings },
    wallets: { walletStatus, freezes, write, ledger, owners, bindings, sweep },
    comments,
  };
}

/** The largest body of routes that name none, bytes. */
const bodyMaxBytes = 256 * 1024;
/**
 * This listener is not for strangers. Imports of the catalog have 16 MiB, and a program at the operators' address must
 * not keep them out by opening connections.
 */
const limits = {
  bodies: { ofEach: 64 * 1024 * 1024, inAll: 128 * 1024 * 1024 },
  connections: { ...defaultHttpLimits.connections, renewMs: 0 },
};

async function listen(
  { config, life, log, metrics }: ServiceContext,
  services: OperatorServices,
): Promise<void> {
  const { operatorHost: host, operatorPort: port, operatorNames } = config;
  const judge = refuseWebPages([host, ...operatorNames]);
  const app = openHttp({ log, bodyLimitBytes: bodyMaxBytes, metrics, limits, judge });
  addOperatorRoutes(app, services);
  await app.listen({ host, port });
  life.onStop('listener', () => app.close());
}

/** Logging and the reaction to faults of everything that follows a topic. */
function follow({ life, log }: ServiceContext) {
  return { log, onFault: (fault: Fault) => life.fail(fault) };
}

await runService(name, start);
