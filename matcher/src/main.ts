import { randomBytes, randomInt } from 'node:crypto';
import * as files from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { writerIdBytes } from '@pm/domain/authority/seal';
import { openSealedLog } from '@pm/domain/authority/sealed-log.io';
import { SealedObjects } from '@pm/domain/objects/sealed-objects.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { systemClock } from '@pm/kit/clock';
import { kafkaConnection, storeConnection } from '@pm/kit/config';
import { kafkaProbe } from '@pm/kit/engines';
import {
  defaultMaxWaitMs,
  type LogAdmin,
  type LogClient,
  type LogProducer,
  openWatchedLog,
  type RecordBatch,
  type WatchedLog,
} from '@pm/kit/kafka';
import { type Lifecycle, runService } from '@pm/kit/lifecycle';
import { type Log, openLog } from '@pm/kit/log';
import { type Metrics, openMetrics } from '@pm/kit/metrics';
import { openObjectStore } from '@pm/kit/objects';
import { Schemas, topicName } from '@pm/kit/registry';
import { openTraces } from '@pm/kit/traces';
import { ownerIdBytes } from '@pm/schemas/log/orders';
import { matcherGroup, topics } from '@pm/schemas/log/topics';
import { type MatcherConfig, operatorKeyOf, readMatcherConfig, silenceMsOf } from './config.ts';
import { Engine } from './core/index.ts';
import { requireDurable } from './durability.io.ts';
import { type MatcherMetrics, openMatcherMetrics, readPartitions } from './metrics.ts';
import { BoundedFiles } from './partition/bounded-files.io.ts';
import type { OpenCopies } from './partition/copy-reading.io.ts';
import { DeadLetters } from './partition/dead-letters.io.ts';
import { EnvelopeReader } from './partition/envelope-reader.ts';
import { defaultWriterLimits } from './partition/execution-writer.io.ts';
import { type LogRanges, openLogRanges } from './partition/log-ranges.io.ts';
import { OrderTraces } from './partition/order-traces.io.ts';
import { OutputSeals } from './partition/output-seals.ts';
import { OwnedPartition, type OwnedPartitionParts } from './partition/owned-partition.io.ts';
import { PartitionOwnership } from './partition/ownership.io.ts';
import type { EngineFactory } from './partition/restore.io.ts';
import { SignaturePool } from './partition/signature-pool.io.ts';
import { defaultSliceLimits } from './partition/slices.io.ts';
import { SnapshotCopies } from './partition/snapshot-copies.io.ts';
import { SnapshotDirectory } from './partition/snapshot-directory.io.ts';
import { EncodingThread, type StateEncoder } from './partition/state-encoder.io.ts';
import { StoredExecutions } from './partition/stored-executions.io.ts';
import { TickPublisher } from './partition/tick-publisher.io.ts';

/** Retry budget of sends whose records were certainly not written: about 15 s, then the partition is restored. */
const retry = {
  triesMax: 20,
  firstWaitMs: 20,
  waitMaxMs: 1_000,
  pause: (ms: number) => pause(ms),
};

/** Waits before a failed partition is restored again. */
const waits = { firstMs: 200, maxMs: 30_000, awayMaxMs: 1_000, calmMs: 60_000 };

/** After it is live, and after each claim, a preferred replica waits so long before it claims from a living owner. */
const settleMs = 10_000;
/** Time at the bound of what a standby keeps, without a copy seen, after which it claims. */
const blockedMs = 1_000;

/** Shortest long poll of a matcher with standbys, milliseconds. */
const standbyPollMinMs = 100;

/**
 * Long poll of a matcher with standbys, milliseconds: a third of the silence after which it claims, at most that of
 * other readers. The silence shows at the end of the first poll that begins after it.
 */
const standbyPollMs = (config: MatcherConfig) =>
  Math.min(defaultMaxWaitMs, Math.max(standbyPollMinMs, Math.floor(silenceMsOf(config) / 3)));

/** Matchers that begin to send at one moment have other runs of sequences by chance. */
const runsAheadMax = 1_000;

/** Time for the last snapshots and for leaving the group, milliseconds; the lifecycle gives 10 s to the whole stop. */
const ownershipCloseMs = 8_000;

const engines: EngineFactory = {
  create: (partition) => new Engine(partition),
  restore: (state) => Engine.restore(state),
};

async function start(life: Lifecycle): Promise<void> {
  // 1. Configuration, logging and metrics of the process.
  const config = readMatcherConfig();
  const log = openLog('matcher', config.logLevel).child({ instance: config.instance });
  life.useLog(log);
  const logTopics = logTopicsOf(config);
  const listTopic = topicName(topics.serviceKeys, config.topicPrefix);
  life.needs({ ...config, engines: [kafkaProbe(config, [...logTopics, listTopic])] });
  const processMetrics = openMetrics('matcher');
  const operations = await life.operations({ ...config, metrics: processMetrics });
  const metrics = openMatcherMetrics(processMetrics);
  const traces = await openTraces(config, { service: 'matcher', metrics: processMetrics, life });

  // 2. The thread that encodes states for snapshots and checkpoints.
  const encoder = new EncodingThread({
    threadFile: new URL('./partition/state-encoder-thread.io.js', import.meta.url),
    onFault: (fault) => life.fail(fault),
  });
  life.onStop('state encoder', () => encoder.close());

  // 3. The log and the codecs of its records.
  const client = openConnections(life, { config, log, metrics: processMetrics });
  const [codecs, admin, outputs, ticks] = await Promise.all([
    openCodecs(life, { client, config, log }),
    openDurable(client, config, logTopics),
    // Outputs and ticks have a producer each, so that neither waits for the other.
    client.producer(),
    client.producer(),
  ]);
  const ranges = openLogRanges(client, admin);
  const copies = await openCopies(life, { config, log, metrics });
  const own = { ownerId: randomBytes(ownerIdBytes), runsAhead: randomInt(runsAheadMax) };
  const bounded = { signatures: openSignatures(log, metrics), disk: new BoundedFiles(files) };
  const opened = { client, ranges, outputs, ticks, ...own, ...copies, ...bounded };
  const orderTraces = traces === null ? {} : { traces: new OrderTraces(traces) };
  const shared: Shared = { config, log, metrics, encoder, codecs, ...opened, ...orderTraces };

  // 4. The partitions of which this process has a replica, each with an engine.
  const ownership = new PartitionOwnership({
    log,
    waits,
    monotonicMs: systemClock.monotonicMs,
    instance: config.instance,
    openPartition: (partition) => openPartition(shared, partition, ownership),
    isOpened: (partition) => codecs.sealed.openingOf(partition) !== null,
    onStop: (error) => life.fail(error),
  });

  // 5. Metrics, status and readiness for operators, before the first partition is assigned.
  readPartitions(processMetrics, {
    partitions: () => ownership.status(),
    unopened: () => ownership.unopened.length,
    nowMs: () => systemClock.nowMs(),
  });
  operations.report({
    status: () => factsOf(config, ownership),
    ready: () => ownership.readiness(client.notReady()),
    serving: () => ownership.serving(client.notReady()),
  });

  // 6. Join the group: from here on partitions are assigned and revoked.
  life.onStop('ownership', () => ownership.close(), ownershipCloseMs);
  const second = {
    standbyTopic: topicName(topics.executions, config.topicPrefix),
    maxWaitMs: standbyPollMs(config),
  };
  await ownership.start((hooks) =>
    client.group({
      ...hooks,
      ...(config.standby && second),
      groupId: matcherGroup(config.topicPrefix),
      topic: topicName(topics.orders, config.topicPrefix),
      dense: true,
      instance: config.instance,
      sessionTimeoutMs: config.sessionTimeoutMs,
    }),
  );
}

function factsOf({ instance }: MatcherConfig, ownership: PartitionOwnership) {
  return { instance, partitions: ownership.status(), unopened: ownership.unopened };
}

/** Dependencies that all partitions share. */
interface Shared {
  readonly config: MatcherConfig;
  readonly log: Log;
  readonly metrics: MatcherMetrics;
  readonly encoder: StateEncoder;
  readonly signatures: SignaturePool;
  readonly disk: BoundedFiles;
  readonly codecs: Awaited<ReturnType<typeof openCodecs>>;
  readonly client: LogClient;
  readonly ranges: LogRanges;
  readonly outputs: LogProducer;
  readonly ticks: LogProducer;
  /** Id of this process as the owner of partitions. */
  readonly ownerId: Buffer;
  readonly runsAhead: number;
  readonly copies?: SnapshotCopies;
  /** Absent while nothing is traced. */
  readonly traces?: OrderTraces;
}

/** The log, with followers that prove their progress. */
function openConnections(
  life: Lifecycle,
  { config, log, metrics }: Pick<Shared, 'config' | 'log'> & { readonly metrics: Metrics },
): WatchedLog {
  const { monotonicMs } = systemClock;
  const kafka = { ...kafkaConnection(config), clientId: config.instance };
  const client = openWatchedLog({ ...kafka, log, metrics, monotonicMs });
  life.onStop('log client', () => client.close());
  return client;
}

function logTopicsOf({ topicPrefix }: MatcherConfig): readonly string[] {
  return [topics.orders, topics.executions].map((one) => topicName(one, topicPrefix));
}

function openSignatures(log: Log, metrics: MatcherMetrics): SignaturePool {
  return new SignaturePool({
    onLate: () => {
      metrics.signaturePoolLate.add(1);
      log.error({}, 'the thread pool hangs: signatures are checked on the main thread');
    },
  });
}

/** Copies of snapshots in the store; none without a store. */
async function openCopies(
  life: Lifecycle,
  { config, log, metrics }: Pick<Shared, 'config' | 'log' | 'metrics'>,
): Promise<Pick<Shared, 'copies'>> {
  const place = storeConnection(config);
  if (place === null) return {};
  const store = await openObjectStore(place);
  life.onStop('store', () => store.close());
  const copies = new SnapshotCopies({
    objects: new SealedObjects(store, openSignOffKey(config.ownerSeed)),
    everyMs: config.copyEveryMs,
    log,
    monotonicMs: systemClock.monotonicMs,
    onFailure: (partition) => metrics.snapshotFailures.add(1, { partition, what: 'not_copied' }),
  });
  return { copies };
}

/** For questions about the log, which keeps what it acknowledges (`requireDurable`). */
async function openDurable(
  client: LogClient,
  { replicationMin }: MatcherConfig,
  logTopics: readonly string[],
): Promise<LogAdmin> {
  const admin = await client.admin();
  await Promise.all(logTopics.map((name) => requireDurable(admin, name, replicationMin)));
  return admin;
}

/** By the schemas that `service-keys` lists; the same topic says which partitions are opened. */
async function openCodecs(
  life: Lifecycle,
  { client, config, log }: Pick<Shared, 'client' | 'config' | 'log'>,
) {
  const schemas = new Schemas();
  const sealed = await openSealedLog({
    client,
    schemas,
    topicPrefix: config.topicPrefix,
    rootKey: Buffer.from(config.rootKey, 'hex'),
    sealing: [],
    log,
    onUnproven: () => {},
    onFault: (fault) => life.fail(fault),
  });
  const [orders, executions, deadLetters] = await Promise.all([
    // Decoded orders and cancels reuse their memory: a record is applied before the next one is decoded, and the engine
    // copies what it keeps.
    schemas.codecFor(topics.orders, ['PlaceOrder', 'CancelOrder']),
    schemas.codecFor(topics.executions),
    schemas.codecFor(topics.deadLetters),
  ]);
  return { orders, executions, deadLetters, sealed };
}

/** Envelope reader -> engine -> execution writer, with ticks and snapshots beside them. */
function openPartition(
  shared: Shared,
  partition: number,
  ownership: PartitionOwnership,
): OwnedPartition {
  const { config, log, metrics, encoder } = shared;
  return new OwnedPartition({
    partition,
    restore: restoreParts(shared, partition),
    writer: writerParts(shared, partition),
    ticks: new TickPublisher({
      producer: shared.ticks,
      codec: shared.codecs.orders,
      key: openSignOffKey(config.ownerSeed),
      topic: topicName(topics.orders, config.topicPrefix),
      partition,
      everyMs: config.tickMs,
      clock: systemClock,
      runsAhead: shared.runsAhead,
      log,
    }),
    replica: {
      ownerId: shared.ownerId,
      claims: { silenceMs: silenceMsOf(config), settleMs, blockedMs },
      isPreferred: (placed) => ownership.isPreferred(placed),
      readThroughMs: (read) => ownership.readThroughMs(read),
    },
    openCopies: copiesOf(shared, partition),
    encoder,
    snapshotRules: { everyRecords: config.snapshotEveryRecords, everyMs: config.snapshotEveryMs },
    sliceLimits: defaultSliceLimits,
    clock: systemClock,
    log,
    metrics,
    traces: shared.traces ?? null,
    isWanted: (wanted) => ownership.isWanted(wanted),
    onStored: (stored, nextOffset) => ownership.onStored(stored, nextOffset),
    onFault: (failed, error) => ownership.onFault(error, failed),
  });
}

/** Reads together with the other partitions of which this process is the standby. */
function copiesOf({ client, config }: Shared, partition: number): OpenCopies {
  const topic = topicName(topics.executions, config.topicPrefix);
  return async ({ from, onRecords, onFault }) => {
    const positions = new Map([[partition, from]]);
    const onBatch = ({ records }: RecordBatch) => onRecords(records);
    const options = { topic, positions, dense: true, catchesUp: true, onBatch, onFault };
    const reader = await client.reader(options);
    await reader.share();
    return reader;
  };
}

function restoreParts(
  { config, log, metrics, encoder, codecs, ranges, copies, traces, signatures, disk }: Shared,
  partition: number,
): OwnedPartitionParts['restore'] {
  const operatorKey = operatorKeyOf(config);
  const reader = new EnvelopeReader({ partition, operatorKey, codec: codecs.orders });
  const topic = topicName(topics.executions, config.topicPrefix);
  const failures = metrics.snapshotFailures;
  return {
    partition,
    ordersTopic: topicName(topics.orders, config.topicPrefix),
    log,
    engines,
    operatorKey,
    ranges,
    executions: new StoredExecutions({ log: ranges, codec: codecs.executions, topic, partition }),
    snapshots: new SnapshotDirectory({
      directory: config.snapshotDirectory,
      files: disk,
      ...(copies === undefined ? {} : { copies }),
      log,
      onBad: () => failures.add(1, { partition, what: 'not_used' }),
      onWriteFailure: () => failures.add(1, { partition, what: 'not_written' }),
    }),
    processing: {
      partition,
      reader,
      executions: codecs.executions,
      hashState: (engine) => encoder.hash(engine),
      ...(traces === undefined ? {} : { tracedOrders: traces.ordersOf }),
    },
    schemas: codecs.orders,
    signatures,
    verifyReplay: config.verifyReplay,
  };
}

function writerParts(
  { config, codecs, outputs }: Shared,
  partition: number,
): OwnedPartitionParts['writer'] {
  const deadLetters = new DeadLetters({
    producer: outputs,
    codec: codecs.deadLetters,
    topic: topicName(topics.deadLetters, config.topicPrefix),
    ordersTopic: topicName(topics.orders, config.topicPrefix),
    retry,
  });
  const topic = topicName(topics.executions, config.topicPrefix);
  const seals = new OutputSeals({
    key: openSignOffKey(config.ownerSeed),
    writer: randomBytes(writerIdBytes),
    monotonicMs: systemClock.monotonicMs,
  });
  const limits = defaultWriterLimits;
  return { producer: outputs, deadLetters, topic, partition, retry, limits, seals };
}

await runService('matcher', start);
