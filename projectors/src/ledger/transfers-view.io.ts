import type { LedgerTransfer, TransfersOutcome } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { Fault } from '@pm/kit/fault';
import type { IncomingRecord, RecordBatch } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import { type RecordReader, readValue } from '@pm/kit/registry';
import { conditionIdFromBytes, type Transfer, walletFromBytes } from '@pm/schemas';
import { LagCommits, type ViewDefinition } from '../log/view-definition.io.ts';
import { closeIfLost } from './executions-view.io.ts';

export interface TransfersViewOptions {
  readonly ledger: Ledger;
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
        from: await ledger.mark('transfers', partition),
        get lastTimeMs() {
          return lastTimeMs;
        },
        async project(batch) {
          const { records } = batch;
          const transfers = await readTransfers(options, records);
          const { from: fromOffset, to: toOffset } = offsetsOf(batch);
          const moved = new Map(transfers.map((one, index) => [records[index]?.offset, one]));
          const piece = {
            fromOffset,
            toOffset,
            transfers: [...eachMove(fromOffset, toOffset, moved)],
          };
          const applied = ledger.applyTransfers(piece);
          report(await applied.catch((error: unknown) => closeIfLost(ledger, error)), options);
          lastTimeMs = transfers.at(-1)?.timeMs ?? lastTimeMs;
          await lag.at(toOffset);
          return toOffset;
        },
        async close() {},
      };
    },
  };
}

/** Rejects with the `Fault` `transfer_unreadable` (stop) or `registry_unavailable` (retry). */
async function readTransfers(
  { codec }: Pick<TransfersViewOptions, 'codec'>,
  records: readonly IncomingRecord[],
): Promise<readonly Transfer[]> {
  const transfers: Transfer[] = [];
  for (const { offset, value } of records) {
    const read = readValue(codec, value, (cause) => {
      throw new Fault('transfer_unreadable', 'stop', { facts: { offset }, cause });
    });
    transfers.push(read instanceof Promise ? await read : read);
  }
  return transfers;
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

/** A fence before all time: what the ledger is given for a record that is not proved and was left out. */
const nothing: LedgerTransfer = ledgerTransfer({
  transferId: Buffer.alloc(32),
  wallet: Buffer.alloc(20),
  amountMicro: 0,
  generation: 0,
  timeMs: 0,
});

/** One for each offset, as the ledger counts them. */
function* eachMove(
  from: number,
  to: number,
  moved: ReadonlyMap<number | undefined, Transfer>,
): Generator<LedgerTransfer> {
  for (let offset = from; offset < to; offset += 1) {
    const transfer = moved.get(offset);
    yield transfer === undefined ? nothing : ledgerTransfer(transfer);
  }
}

function ledgerTransfer({ transferId, wallet, ...facts }: Transfer): LedgerTransfer {
  return {
    ...facts,
    transferId: conditionIdFromBytes(transferId),
    wallet: walletFromBytes(wallet),
  };
}

function report(
  { unpaid, voided }: Pick<TransfersOutcome, 'unpaid' | 'voided'>,
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
