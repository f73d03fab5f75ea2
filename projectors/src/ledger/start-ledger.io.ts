import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { LedgerRestore } from '@pm/domain/ledger/restore-ledger.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { tracedReader } from '@pm/domain/traces/traced-reader.io';
import { systemClock } from '@pm/kit/clock';
import type { LogAdmin, LogProducer } from '@pm/kit/kafka';
import type { RedisClient } from '@pm/kit/redis';
import type { RecordCodec } from '@pm/kit/registry';
import type { Transfer } from '@pm/schemas/log/accounts';
import { topics } from '@pm/schemas/log/topics';
import { redisKeys } from '@pm/schemas/redis/keys';
import type { RunningView } from '../log/running-view.io.ts';
import { executionLog, groupOf, type Room, startView, topicNameOf } from '../room.io.ts';
import { ledgerView } from './executions-view.io.ts';
import { LedgerGenerations } from './generations.io.ts';
import { OrphanedWithdrawals } from './orphaned-withdrawals.io.ts';
import { LedgerRecovery } from './recovery.io.ts';
import { SolvencyCheck } from './solvency-check.io.ts';
import { transfersView } from './transfers-view.io.ts';

/** The ledger, and the means to write the records that its checks decide on. */
interface LedgerParts {
  readonly ledger: Ledger;
  readonly producer: LogProducer;
  readonly transfersCodec: RecordCodec<Transfer>;
}

/** The ledger, and what restores it. */
interface LedgerViews {
  readonly ledger: Ledger;
  readonly recovery: LedgerRecovery;
}

/** Starts the views of the ledger and the checks that keep it open and sound. */
export async function startLedger(room: Room, redis: RedisClient): Promise<void> {
  const { client, schemas, config } = room;
  const keys = redisKeys(config.redisPrefix);
  const ledger = openLedger(redis, keys);
  const restore = new LedgerRestore(redis, keys);
  const views = { ledger, recovery: openRecovery(room, ledger, restore) };
  const codec = schemas.codecFor(topics.transfers);
  const [executions, transfers, transfersCodec, producer] = await Promise.all([
    startExecutions(room, views),
    codec.then((transfersCodec) => startTransfers(room, views, transfersCodec)),
    codec,
    client.producer(),
  ]);
  const parts = { ledger, producer, transfersCodec };
  await startGenerations(room, parts, async () => {
    await executions.restoreLost((partition) => ledger.mark('executions', partition));
    await transfers.restoreLost((partition) => ledger.mark('transfers', partition));
  });
  startOrphanedWithdrawals(room, parts);
  await startSolvencyCheck(room, parts);
}

function openRecovery(room: Room, ledger: Ledger, restore: LedgerRestore): LedgerRecovery {
  const { client, log, stored } = room;
  return new LedgerRecovery({
    ledger,
    restore,
    checkpoints: stored?.checkpoints ?? null,
    client,
    topics: {
      executions: topicNameOf(room, topics.executions),
      transfers: topicNameOf(room, topics.transfers),
    },
    log,
  });
}

async function startExecutions(room: Room, views: LedgerViews): Promise<RunningView> {
  const { bookAgeLimitMs } = room.config;
  const executions = await executionLog(room, { checksChain: true });
  const groupId = groupOf(room, 'ledger');
  const traced = tracedReader(room.traces, 'ledger');
  const parts = { ...executions, ...views, ...traced };
  return await startView(room, ledgerView({ ...parts, bookAgeLimitMs, groupId }));
}

async function startTransfers(
  room: Room,
  views: LedgerViews,
  codec: RecordCodec<Transfer>,
): Promise<RunningView> {
  const { log, metrics } = room;
  const view = transfersView({
    ...views,
    codec,
    topic: topicNameOf(room, topics.transfers),
    groupId: groupOf(room, 'transfers'),
    log,
    onUnpaid: () => metrics.unpaidWithdrawals.add(1),
    onVoid: () => metrics.voidWithdrawals.add(1),
  });
  return await startView(room, view);
}

async function startGenerations(
  room: Room,
  { ledger, producer, transfersCodec }: LedgerParts,
  foldAgain: () => Promise<void>,
): Promise<void> {
  const { config, client, schemas, log, life, progress } = room;
  const admin = await client.admin();
  const generations = new LedgerGenerations({
    ledger,
    admin: { bounds: (topic) => boundsOfOpened(room, admin, topic) },
    producer,
    codecs: { orders: await schemas.codecFor(topics.orders), transfers: transfersCodec },
    key: openSignOffKey(config.ledgerSeed),
    topics: {
      executions: topicNameOf(room, topics.executions),
      transfers: topicNameOf(room, topics.transfers),
      orders: topicNameOf(room, topics.orders),
    },
    log,
    nowMs: systemClock.nowMs,
    foldAgain,
    onState: (isOpen) =>
      isOpen ? progress.done('ledger:folding') : progress.waitFor('ledger:folding'),
  });
  progress.waitFor('ledger:folding');
  const checks = generations.start();
  life.onStop('ledger generations', () => checks.close());
}

/** A generation begins in partitions that are opened: no record goes to any other. */
async function boundsOfOpened(
  room: Room,
  admin: Pick<LogAdmin, 'bounds'>,
  topic: string,
): ReturnType<LogAdmin['bounds']> {
  const bounds = await admin.bounds(topic);
  if (topic !== topicNameOf(room, topics.executions)) return bounds;
  const opened = new Set(room.client.openedPartitions);
  return new Map([...bounds].filter(([partition]) => opened.has(partition)));
}

function startOrphanedWithdrawals(room: Room, parts: LedgerParts): void {
  const { log, life } = room;
  const orphans = new OrphanedWithdrawals({
    ledger: parts.ledger,
    producer: parts.producer,
    codec: parts.transfersCodec,
    topic: topicNameOf(room, topics.transfers),
    log,
    nowMs: systemClock.nowMs,
  });
  const checks = orphans.start();
  life.onStop('withdrawal orphans', () => checks.close());
}

async function startSolvencyCheck(room: Room, { ledger, producer }: LedgerParts): Promise<void> {
  const { schemas, log, life, metrics } = room;
  const solvency = new SolvencyCheck({
    ledger,
    producer,
    codec: await schemas.codecFor(topics.withdrawalFreezes),
    topic: topicNameOf(room, topics.withdrawalFreezes),
    log,
    nowMs: systemClock.nowMs,
    onBreach: () => metrics.solvencyBreaches.add(1),
  });
  const checks = solvency.start();
  life.onStop('solvency check', () => checks.close());
}
