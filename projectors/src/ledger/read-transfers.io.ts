import type { LedgerTransfer, TransfersPiece } from '@pm/domain/ledger/ledger';
import { Fault } from '@pm/kit/fault';
import type { IncomingRecord, LogClient } from '@pm/kit/kafka';
import { type RecordReader, readValue } from '@pm/kit/registry';
import { conditionIdFromBytes, walletFromBytes } from '@pm/schemas/ids';
import type { Transfer } from '@pm/schemas/log/accounts';

/** The topic `transfers`. */
export interface TransfersLog {
  readonly client: LogClient;
  readonly codec: RecordReader<Transfer>;
  /** Its name on the broker. */
  readonly topic: string;
}

/** Offsets that are read, those of records that were left out too. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * The records of a span as the ledger takes them, one transfer for each offset. Rejects with the `Fault`
 * `transfer_unreadable` (stop) or `service_keys_unread` (retry).
 */
export async function transfersPiece(
  codec: RecordReader<Transfer>,
  records: readonly IncomingRecord[],
  { from, to }: Span,
): Promise<TransfersPiece> {
  const moved = new Map<number, LedgerTransfer>();
  for (const { offset, value } of records) {
    const read = readValue(codec, value, (cause) => {
      throw new Fault('transfer_unreadable', 'stop', { facts: { offset }, cause });
    });
    moved.set(offset, ledgerTransfer(read instanceof Promise ? await read : read));
  }
  return { fromOffset: from, toOffset: to, transfers: [...eachMove(from, to, moved)] };
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
  moved: ReadonlyMap<number, LedgerTransfer>,
): Generator<LedgerTransfer> {
  for (let offset = from; offset < to; offset += 1) yield moved.get(offset) ?? nothing;
}

function ledgerTransfer({ transferId, wallet, ...facts }: Transfer): LedgerTransfer {
  return {
    ...facts,
    transferId: conditionIdFromBytes(transferId),
    wallet: walletFromBytes(wallet),
  };
}
