import type { TransfersResult } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import type { RecordBatch } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RecordReader } from '@pm/kit/registry';
import type { Transfer } from '@pm/schemas/log/accounts';
import { LagCommits, type ViewDefinition } from '../log/view-definition.io.ts';
import { closeIfLost } from './executions-view.io.ts';
import { transfersPiece } from './read-transfers.io.ts';
import { type LedgerRecovery, startOf } from './recovery.io.ts';

export interface TransfersViewOptions {
  readonly ledger: Ledger;
  /** Restores a lost ledger before its first record is read; without it the view begins at the mark. */
  readonly recovery?: LedgerRecovery;
  readonly codec: RecordReader<Transfer>;
  /** Name of the topic on the broker. */
  readonly topic: string;
  readonly groupId: string;
  readonly log: Log;
  /** Counts a withdrawal that was not paid in full. */
  onUnpaid(): void;
  /** Counts a withdrawal that is void. */
  onVoid(): void;
}

/**
 * Deposits and withdrawals into the collateral ledger. A withdrawal that asks for more than its reservation is paid up
 * to the reservation and logged as an error: no ingress writes such a record.
 */
export function transfersView(options: TransfersViewOptions): ViewDefinition {
  const { ledger, topic, groupId } = options;
  return {
    view: 'transfers',
    groupId,
    topic,
    async assign(partition, group) {
      const lag = new LagCommits(group, partition);
      let lastTimeMs = 0;
      return {
        from: await startOf(options, 'transfers', partition),
        get lastTimeMs() {
          return lastTimeMs;
        },
        async project(batch) {
          const piece = await transfersPiece(options.codec, batch.records, offsetsOf(batch));
          const applied = ledger.applyTransfers(piece);
          report(await applied.catch((error: unknown) => closeIfLost(ledger, error)), options);
          lastTimeMs = piece.transfers.findLast(({ timeMs }) => timeMs > 0)?.timeMs ?? lastTimeMs;
          await lag.at(piece.toOffset);
          return piece.toOffset;
        },
        async close() {},
      };
    },
  };
}

/** All offsets that a batch stands for, those of records that were left out of it too. */
function offsetsOf({ records, offsets }: RecordBatch): {
  readonly from: number;
  readonly to: number;
} {
  if (offsets !== undefined) return offsets;
  const from = records[0]?.offset ?? 0;
  return { from, to: from + records.length };
}

function report(
  { unpaid, voided }: Pick<TransfersResult, 'unpaid' | 'voided'>,
  { log, onUnpaid, onVoid }: Pick<TransfersViewOptions, 'log' | 'onUnpaid' | 'onVoid'>,
): void {
  for (const withdrawal of unpaid) {
    onUnpaid();
    log.error({ ...withdrawal }, 'a withdrawal asks for more than its reservation');
  }
  for (const withdrawal of voided) {
    onVoid();
    log.warn({ ...withdrawal }, 'a withdrawal came after a fence that makes it void');
  }
}
