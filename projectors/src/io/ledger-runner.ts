import type { RecordBatch } from '@pm/kit/kafka';
import { type Ledger, ledgerCallItemsMax } from '@pm/kit/ledger';
import { moneyPieces } from '../core/ledger/pieces.ts';
import { ExecutionSource, type ExecutionSourceParts } from './execution-source.ts';
import type { PartitionProjection, ViewDefinition, ViewGroup } from './view-runner.ts';

export interface LedgerViewParts extends ExecutionSourceParts {
  readonly ledger: Ledger;
  readonly groupId: string;
  /** No partition of the exchange may have a longer time-to-book limit, milliseconds. */
  readonly bookAgeLimitMs: number;
}

/** How often a position is committed for those who look at lag; the truth is the mark in the ledger. */
const lagCommitMs = 5_000;

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
      await ledger.applyExecutions({ ...piece, clockMs, partition, bookAgeLimitMs });
    }
    const position = (records.at(-1)?.offset ?? -1) + 1;
    await this.#lag.at(position);
    return position;
  }

  async close(): Promise<void> {}
}

/** Commits a position now and then. */
export class LagCommits {
  readonly #group: ViewGroup;
  readonly #partition: number;
  #committedMs = Number.NEGATIVE_INFINITY;

  constructor(group: ViewGroup, partition: number) {
    this.#group = group;
    this.#partition = partition;
  }

  async at(offset: number): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#committedMs < lagCommitMs) return;
    this.#committedMs = nowMs;
    await this.#group.commit(this.#partition, offset, '');
  }
}
