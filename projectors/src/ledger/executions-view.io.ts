import {
  ExecutionSource,
  type ExecutionSourceParts,
} from '@pm/domain/executions/execution-reader.io';
import { ledgerCallItemsMax } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { Fault } from '@pm/kit/fault';
import type { RecordBatch } from '@pm/kit/kafka';
import { LagCommits } from '../log/lag-commits.io.ts';
import type { PartitionProjection, ViewDefinition, ViewGroup } from '../log/running-view.io.ts';
import { moneyPieces } from './pieces.ts';

export interface LedgerViewParts extends ExecutionSourceParts {
  readonly ledger: Ledger;
  readonly groupId: string;
  /** No partition of the exchange may have a longer time-to-book limit, milliseconds. */
  readonly bookAgeLimitMs: number;
}

/** Executions into the collateral ledger. */
export function ledgerView(parts: LedgerViewParts): ViewDefinition {
  const { groupId, topic, ledger } = parts;
  return {
    view: 'ledger',
    groupId,
    topic,
    async assign(partition, group) {
      const from = await ledger.mark('executions', partition);
      const source = await ExecutionSource.open(parts, partition, from);
      return new LedgerProjection(parts, source, { partition, from, group });
    },
  };
}

class LedgerProjection implements PartitionProjection {
  readonly from: number;
  readonly #parts: LedgerViewParts;
  readonly #source: ExecutionSource;
  readonly #lag: LagCommits;

  constructor(
    parts: LedgerViewParts,
    source: ExecutionSource,
    at: { partition: number; from: number; group: ViewGroup },
  ) {
    this.#parts = parts;
    this.#source = source;
    this.from = at.from;
    this.#lag = new LagCommits(at.group, at.partition);
  }

  get lastTimeMs(): number {
    return this.#source.lastTimeMs;
  }

  async project({ partition, records }: RecordBatch): Promise<number> {
    const { ledger, bookAgeLimitMs } = this.#parts;
    const executions = await this.#source.take(records);
    for (const piece of moneyPieces(executions, ledgerCallItemsMax)) {
      const clockMs = piece.clockMs ?? 0;
      const applied = ledger.applyExecutions({ ...piece, clockMs, partition, bookAgeLimitMs });
      await applied.catch((error: unknown) => closeIfBehind(ledger, error));
    }
    const position = (records.at(-1)?.offset ?? -1) + 1;
    await this.#lag.at(position);
    return position;
  }

  async close(): Promise<void> {}
}

/** A ledger that stands before what was already applied to it has lost something, and is closed. Throws on. */
export async function closeIfBehind(ledger: Ledger, error: unknown): Promise<never> {
  if (error instanceof Fault && error.code === 'ledger_gap') {
    const { mark, fromOffset } = error.facts;
    if (Number(mark) < Number(fromOffset)) await ledger.close();
  }
  throw error;
}
