import { Fault } from '@pm/kit/fault';
import type { IncomingRecord } from '@pm/kit/kafka';
import type { Ledger } from '@pm/kit/ledger';
import type { RecordCodec } from '@pm/kit/registry';
import { conditionIdFromBytes, type Transfer, walletFromBytes } from '@pm/schemas';
import { LagCommits } from './lag-commit-sink.ts';
import { closeIfBehind } from './ledger-runner.ts';
import type { ViewDefinition } from './view-runner.ts';

export interface TransfersViewParts {
  readonly ledger: Ledger;
  readonly codec: RecordCodec<Transfer>;
  readonly topic: string;
  readonly groupId: string;
}

/** Deposits and withdrawals into the collateral ledger. */
export function transfersView({
  ledger,
  codec,
  topic,
  groupId,
}: TransfersViewParts): ViewDefinition {
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
          await ledger
            .applyTransfers(piece)
            .catch((error: unknown) => closeIfBehind(ledger, error));
          lastTimeMs = transfers.at(-1)?.timeMs ?? lastTimeMs;
          await lag.at(toOffset);
          return toOffset;
        },
        async close() {},
      };
    },
  };
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

function ledgerTransfer({ transferId, wallet, amountMicro, generation }: Transfer) {
  const id: string = conditionIdFromBytes(transferId);
  return { transferId: id, wallet: walletFromBytes(wallet), amountMicro, generation };
}
