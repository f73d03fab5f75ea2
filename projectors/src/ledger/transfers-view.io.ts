import type { LedgerTransfer, UnpaidWithdrawal, VoidWithdrawal } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { Fault } from '@pm/kit/fault';
import type { IncomingRecord } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import { conditionIdFromBytes, type Transfer, walletFromBytes } from '@pm/schemas';
import { LagCommits } from '../log/lag-commits.io.ts';
import type { ViewDefinition } from '../log/running-view.io.ts';
import { closeIfBehind } from './executions-view.io.ts';

export interface TransfersViewParts {
  readonly ledger: Ledger;
  readonly codec: RecordCodec<Transfer>;
  readonly topic: string;
  readonly groupId: string;
  readonly log: Log;
  /** Counts a withdrawal that was not paid in full. */
  onUnpaid(): void;
  /** Counts a withdrawal that is void. */
  onVoid(): void;
}

/**
 * Deposits and withdrawals into the collateral ledger. A withdrawal that asks for more than its reservation held is paid up
 * to that and reported as an error: no ingress writes such a record.
 */
export function transfersView(parts: TransfersViewParts): ViewDefinition {
  const { ledger, codec, topic, groupId } = parts;
  return {
    view: 'transfers',
    groupId,
    topic,
    async assign(partition, group) {
      const lag = new LagCommits(group, partition);
      let lastTimeMs = 0;
      return {
        from: await ledger.mark('transfers', partition),
        get lastTimeMs() {
          return lastTimeMs;
        },
        async project({ records }) {
          const transfers: Transfer[] = [];
          for (const record of records) transfers.push(await decode(codec, record));
          const fromOffset = records[0]?.offset ?? 0;
          const toOffset = fromOffset + records.length;
          const piece = { fromOffset, toOffset, transfers: transfers.map(ledgerTransfer) };
          const { unpaid, voided } = await ledger
            .applyTransfers(piece)
            .catch((error: unknown) => closeIfBehind(ledger, error));
          for (const withdrawal of unpaid) reportUnpaid(withdrawal, parts);
          for (const withdrawal of voided) reportVoid(withdrawal, parts);
          lastTimeMs = transfers.at(-1)?.timeMs ?? lastTimeMs;
          await lag.at(toOffset);
          return toOffset;
        },
        async close() {},
      };
    },
  };
}

function reportUnpaid(
  withdrawal: UnpaidWithdrawal,
  { log, onUnpaid }: Pick<TransfersViewParts, 'log' | 'onUnpaid'>,
): void {
  onUnpaid();
  log.error({ ...withdrawal }, 'a withdrawal asks for more than its reservation held');
}

function reportVoid(
  withdrawal: VoidWithdrawal,
  { log, onVoid }: Pick<TransfersViewParts, 'log' | 'onVoid'>,
): void {
  onVoid();
  log.warn({ ...withdrawal }, 'a withdrawal came after the fence that makes it void');
}

async function decode(
  codec: RecordCodec<Transfer>,
  { offset, value }: IncomingRecord,
): Promise<Transfer> {
  try {
    if (value !== null && !codec.knows(value)) await codec.prepare(value);
    if (value !== null) return codec.decode(value);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault('transfer_unreadable', 'stop', { facts: { offset }, cause: error });
  }
  throw new Fault('transfer_unreadable', 'stop', { facts: { offset } });
}

function ledgerTransfer({ transferId, wallet, ...facts }: Transfer): LedgerTransfer {
  return {
    ...facts,
    transferId: conditionIdFromBytes(transferId),
    wallet: walletFromBytes(wallet),
  };
}
