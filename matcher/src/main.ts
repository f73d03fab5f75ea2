import * as files from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { systemClock } from '@pm/kit/clock';
import { openOpsListener } from '@pm/kit/health';
import { type LogProducer, openLogClient } from '@pm/kit/kafka';
import { type Lifecycle, runService } from '@pm/kit/lifecycle';
import { type Log, openLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import { openRegistry, topicName } from '@pm/kit/registry';
import { topics } from '@pm/schemas';
import { type MatcherConfig, operatorKeyOf, readMatcherConfig } from './config.ts';
import { Engine, roleAllows } from './core/index.ts';
import { type MatcherMetrics, openMatcherMetrics } from './metrics.ts';
import { DeadLetterSink } from './partition/dead-letters.io.ts';
import { EnvelopeSource } from './partition/envelope-reader.ts';
import { openLogRanges } from './partition/log-ranges.io.ts';
import { PartitionRunner, type PartitionRunnerParts } from './partition/owned-partition.io.ts';
import { OwnershipRunner } from './partition/ownership.io.ts';
import type { EngineFactory } from './partition/record-processor.ts';
import { defaultSliceLimits } from './partition/slices.io.ts';
import { SnapshotStore } from './partition/snapshot-directory.io.ts';
import { ExecutionSource, type LogRanges } from './partition/stored-executions.io.ts';
import { TickSink } from './partition/tick-publisher.io.ts';

/** Sends whose records were surely not written: about 15 s of tries, then the partition is restored. */
const retry = {
  triesMax: 20,
  firstWaitMs: 20,
  waitMaxMs: 1_000,
  pause: (ms: number) => pause(ms),
};

/** Waits before a failed partition is restored again. */
const waits = { firstMs: 200, maxMs: 30_000, calmMs: 60_000 };

/** Last snapshots and the leaving of the group, milliseconds; the lifecycle gives 10 s to everything. */
const ownershipCloseMs = 8_000;

/** The rules, as the loops know them. */
const engines: EngineFactory = {
  create: (partition) => new Engine(partition),
  restore: (state) => Engine.restore(state),
  roleAllows,
};

async function start(life: Lifecycle): Promise<void> {
  // 1. What this process is told, and how it tells what it does.
  const config = readMatcherConfig();
  const log = openLog('matcher', config.logLevel).child({ instance: config.instance });
  life.useLog(log);
  const processMetrics = openMetrics('matcher');
  const metrics = openMatcherMetrics(processMetrics);

  // 2. The log, and the language of its records.
  const client = openLogClient({
    brokers: config.kafkaBrokers,
    clientId: config.instance,
    log,
  });
  life.onStop('log client', () => client.close());
  const parts: Parts = {
    config,
    log,
    metrics,
    codecs: await openCodecs(config, log),
    ranges: openLogRanges(client, await client.admin()),
    // Outputs and ticks have a producer each, so that neither waits for the other.
    outputs: await client.producer(),
    ticks: await client.producer(),
  };

  // 3. The partitions this process owns, each the rules in a container.
  const ownership = new OwnershipRunner({
    log,
    waits,
    nowMs: () => systemClock.nowMs(),
    openPartition: (partition) => openPartition(parts, partition, ownership),
    onStop: (error) => life.fail(error),
  });

  // 4. What operators see, before the first partition is here.
  const ops = await openOpsListener({
    host: config.host,
    port: config.opsPort,
    metrics: processMetrics,
    status: () => ({ instance: config.instance, partitions: ownership.status() }),
    ready: () => ownership.readiness(),
  });
  life.onStop('operator listener', () => ops.close());
  log.info({ opsPort: ops.port }, 'operator listener');

  // 5. Join the owners: from here on partitions come and go.
  life.onStop('ownership', () => ownership.close(), ownershipCloseMs);
  await ownership.start((hooks) =>
    client.group({
      ...hooks,
      groupId: `${config.topicPrefix}matchers`,
      topic: topicName(topics.orders, config.topicPrefix),
      dense: true,
      instance: config.instance,
      sessionTimeoutMs: config.sessionTimeoutMs,
    }),
  );
}

/** What all partitions share. */
interface Parts {
  readonly config: MatcherConfig;
  readonly log: Log;
  readonly metrics: MatcherMetrics;
  readonly codecs: Awaited<ReturnType<typeof openCodecs>>;
  readonly ranges: LogRanges;
  readonly outputs: LogProducer;
  readonly ticks: LogProducer;
}

async function openCodecs({ registryUrl, topicPrefix }: MatcherConfig, log: Log) {
  const registry = openRegistry({ url: registryUrl, topicPrefix, log });
  return {
    // A record is decoded, applied and encoded before the next one is decoded, and what the engine keeps it copies.
    orders: await registry.codecFor(topics.orders, ['PlaceOrder', 'CancelOrder']),
    executions: await registry.codecFor(topics.executions),
    deadLetters: await registry.codecFor(topics.deadLetters),
  };
}

/** Records come in through the envelope source, go through the engine, and out through the execution sink. */
function openPartition(
  parts: Parts,
  partition: number,
  ownership: OwnershipRunner,
): PartitionRunner {
  const { config, log, metrics } = parts;
  return new PartitionRunner({
    partition,
    restore: restoreParts(parts, partition),
    sink: sinkParts(parts, partition),
    ticks: new TickSink({
      producer: parts.ticks,
      codec: parts.codecs.orders,
      key: openSignOffKey(config.ownerSeed),
      topic: topicName(topics.orders, config.topicPrefix),
      partition,
      everyMs: config.tickMs,
      log,
    }),
    snapshotRules: { everyRecords: config.snapshotEveryRecords, everyMs: config.snapshotEveryMs },
    sliceLimits: defaultSliceLimits,
    clock: systemClock,
    log,
    metrics,
    isWanted: (wanted) => ownership.isWanted(wanted),
    onStored: (stored, nextOffset) => ownership.onStored(stored, nextOffset),
    onFault: (failed, error) => ownership.onFault(error, failed),
  });
}

function restoreParts(
  { config, log, metrics, codecs, ranges }: Parts,
  partition: number,
): PartitionRunnerParts['restore'] {
  const operatorKey = operatorKeyOf(config);
  const source = new EnvelopeSource({ partition, operatorKey, codec: codecs.orders, roleAllows });
  const topic = topicName(topics.executions, config.topicPrefix);
  const failures = metrics.snapshotFailures;
  return {
    partition,
    ordersTopic: topicName(topics.orders, config.topicPrefix),
    log,
    engines,
    operatorKey,
    ranges,
    executions: new ExecutionSource({ log: ranges, codec: codecs.executions, topic, partition }),
    snapshots: new SnapshotStore({
      directory: config.snapshotDirectory,
      files,
      log,
      onBad: () => failures.add(1, { partition, what: 'not_used' }),
      onWriteFailure: () => failures.add(1, { partition, what: 'not_written' }),
    }),
    records: { partition, source, executions: codecs.executions },
    verifyReplay: config.verifyReplay,
  };
}

function sinkParts(
  { config, codecs, outputs }: Parts,
  partition: number,
): PartitionRunnerParts['sink'] {
  const deadLetters = new DeadLetterSink({
    producer: outputs,
    codec: codecs.deadLetters,
    topic: topicName(topics.deadLetters, config.topicPrefix),
    ordersTopic: topicName(topics.orders, config.topicPrefix),
    retry,
  });
  const topic = topicName(topics.executions, config.topicPrefix);
  return { producer: outputs, deadLetters, topic, partition, retry };
}

await runService('matcher', start);
