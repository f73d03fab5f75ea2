import type { Ledger } from '@pm/domain/ledger/ledger.io';
import type { LogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { ledgerView } from '../../../projectors/src/ledger/executions-view.io.ts';
import { LedgerGenerations } from '../../../projectors/src/ledger/generations.io.ts';
import { OrphanedWithdrawals } from '../../../projectors/src/ledger/orphaned-withdrawals.io.ts';
import { SolvencyCheck } from '../../../projectors/src/ledger/solvency-check.io.ts';
import { transfersView } from '../../../projectors/src/ledger/transfers-view.io.ts';
import { ViewProgress } from '../../../projectors/src/log/progress.io.ts';
import { RunningView } from '../../../projectors/src/log/running-view.io.ts';
import type { ViewDefinition } from '../../../projectors/src/log/view-definition.io.ts';
import type { ProjectionTables } from '../../../projectors/src/tables/projection-tables.io.ts';
import { reusedEvents, tablesView } from '../../../projectors/src/tables/tables-view.io.ts';
import {
  bookAgeLimitMs,
  codecs,
  executionsCodec,
  keys,
  noMetrics,
  topicNames,
} from '../exchange-facts.ts';
import type { Machine } from '../time/machine.ts';

export interface ProjectorParts {
  readonly machine: Machine;
  readonly client: LogClient;
  readonly ledger: Ledger;
  readonly tables: ProjectionTables;
  /** A fault of a whole group. */
  onStop(error: unknown): void;
  /** Takes the description of an event that must never happen. */
  onBroken(what: string): void;
}

/** When batches of tables end; the texts and times of a run in production are longer. */
const limits = {
  batchRecords: 60,
  batchRows: 5_000,
  batchMs: 300,
  restMs: 1_000,
  pauseMaxMs: 0,
  retryForMs: 10_000,
};

/** Options of a table view for the log that it reads and the tables that it writes. */
export function tablesOptions(client: LogClient, tables: ProjectionTables) {
  return {
    client,
    topic: topicNames.executions,
    checksChain: true,
    openCodec: async () => executionsCodec(reusedEvents),
    tables,
    catalog: { payout0: async () => 0 },
    groupId: 'tables',
    topicPrefix: '',
    metrics: noMetrics,
    limits,
  };
}

/** Projectors: the real views of the ledger and of the tables, and the real checks of the ledger. */
export async function startProjector(parts: ProjectorParts): Promise<void> {
  const { client, ledger, tables, onBroken } = parts;
  const host = {
    client,
    progress: new ViewProgress(noMetrics),
    log: silentLog,
    instance: '',
    fail: parts.onStop,
  };
  const start = (view: ViewDefinition) => RunningView.start(host, view);
  const { executions: topic } = topicNames;
  const log = { client, codec: codecs.executions, topic, checksChain: true };
  const executions = await start(ledgerView({ ...log, ledger, bookAgeLimitMs, groupId: 'ledger' }));
  const transfers = await start(
    transfersView({
      ledger,
      codec: codecs.transfers,
      topic: topicNames.transfers,
      groupId: 'transfers',
      log: silentLog,
      onUnpaid: () => onBroken('a withdrawal was not paid in full'),
      onVoid() {},
    }),
  );
  await start(tablesView(tablesOptions(client, tables)));
  await startChecks(parts, async () => {
    await executions.restoreLost((partition) => ledger.mark('executions', partition));
    await transfers.restoreLost((partition) => ledger.mark('transfers', partition));
  });
}

async function startChecks(parts: ProjectorParts, foldAgain: () => Promise<void>): Promise<void> {
  const { machine, client, ledger, onBroken } = parts;
  const producer = await client.producer();
  const shared = { ledger, producer, log: silentLog, nowMs: () => machine.clock.nowMs() };
  new LedgerGenerations({
    ...shared,
    admin: await client.admin(),
    codecs,
    key: keys.ledger,
    topics: topicNames,
    foldAgain,
    onState() {},
  }).start();
  const { transfers: topic } = topicNames;
  new OrphanedWithdrawals({ ...shared, codec: codecs.transfers, topic }).start();
  new SolvencyCheck({
    ...shared,
    codec: codecs.freezes,
    topic: topicNames.freezes,
    onBreach: () => onBroken('the solvency check has found a breach'),
  }).start();
}
