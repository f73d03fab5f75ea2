import { type ExecutionLog, ExecutionReader } from '@pm/domain/executions/execution-reader.io';
import { ledgerCallItemsMax } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import type { ReaderTraces, TracedReader } from '@pm/domain/traces/traced-reader.io';
import { Fault } from '@pm/kit/fault';
import type { RecordBatch } from '@pm/kit/kafka';
import {
  LagCommits,
  type PartitionProjection,
  type ViewDefinition,
  type ViewGroup,
} from '../log/view-definition.io.ts';
import { moneyPieces } from './pieces.ts';
import { type LedgerRecovery, startOf } from './recovery.io.ts';

export interface LedgerViewOptions extends ExecutionLog, TracedReader {
  readonly ledger: Ledger;
  /** Restores a lost ledger before its first record is read; without it the view begins at the mark. */
  readonly recovery?: LedgerRecovery;
  readonly groupId: string;
  /** No partition of the exchange may have a longer time-to-book limit, milliseconds. */
  readonly bookAgeLimitMs: number;
}

/** Executions into the collateral ledger. */
export function ledgerView(options: LedgerViewOptions): ViewDefinition {
  const { groupId, topic } = options;
  return {
    view: 'ledger',
    groupId,
    topic,
    async assign(partition, group) {
      const from = await startOf(options, 'executions', partition);
      const reader = await ExecutionReader.open(options, partition, from);
      reader.requireSameLog(await options.ledger.place(partition));
      return new LedgerProjection(options, { partition, from, reader, group });
    },
  };
}

/** Where a projection into the ledger begins. */
interface LedgerStart {
  readonly partition: number;
  readonly from: number;
  readonly reader: ExecutionReader;
  readonly group: ViewGroup;
}

class LedgerProjection implements PartitionProjection {
  readonly from: number;
  readonly #options: LedgerViewOptions;
  readonly #reader: ExecutionReader;
  readonly #lag: LagCommits;
  readonly #traced: ReaderTraces | null;

  constructor(options: LedgerViewOptions, { partition, from, reader, group }: LedgerStart) {
    this.#options = options;
    this.#reader = reader;
    this.from = from;
    this.#lag = new LagCommits(group, partition);
    this.#traced = options.tracesOf?.(partition) ?? null;
  }

  get lastTimeMs(): number {
    return this.#reader.lastTimeMs;
  }

  async project({ partition, records }: RecordBatch): Promise<number> {
    const { ledger, bookAgeLimitMs } = this.#options;
    const executions = await this.#reader.take(records);
    for (const { offset, execution } of executions)
      if (execution !== null) this.#traced?.take(offset, execution);
    for (const piece of moneyPieces(executions, ledgerCallItemsMax)) {
      const clockMs = piece.clockMs ?? 0;
      const applied = ledger.applyExecutions({ ...piece, clockMs, partition, bookAgeLimitMs });
      await applied.catch((error: unknown) => closeIfLost(ledger, error));
    }
    const position = (records.at(-1)?.offset ?? -1) + 1;
    this.#traced?.stored(position);
    await this.#lag.at(position);
    return position;
  }

  async close(): Promise<void> {}
}

/** A ledger whose mark is below what was already applied to it has lost data, and is closed. Rethrows the error. */
export async function closeIfLost(ledger: Ledger, error: unknown): Promise<never> {
  if (error instanceof Fault && error.code === 'ledger_gap') {
    const { mark, fromOffset } = error.facts;
    if (Number(mark) < Number(fromOffset)) await ledger.close();
  }
  throw error;
}
