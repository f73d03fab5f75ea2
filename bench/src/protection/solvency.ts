import type { NumberedExecution } from '@pm/domain/executions/execution-order';
import { ledgerCallItemsMax } from '@pm/domain/ledger/ledger';
import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { MarketSums } from '@pm/projectors/ledger/market-sums';
import { type MoneyPiece, moneyPieces } from '@pm/projectors/ledger/pieces';
import { decodeExecution, tradingOf } from './records.ts';
import type { Step } from './steps.ts';

/** Records of a batch as projectors fetch them, of so many commands each. */
const batches = [
  { records: 1, commands: 1 },
  { records: 20, commands: 4 },
  { records: 4, commands: 100 },
] as const;

export interface Batch {
  readonly name: string;
  readonly records: readonly NumberedExecution[];
}

/** Consecutive batches of trading, by their size. */
export function tradedBatches(): readonly (readonly Batch[])[] {
  const count = 40;
  return batches.map(({ records, commands }) => {
    const { stream } = tradingOf(commands, records * count);
    const all = stream.map((value, offset) => ({ offset, execution: decodeExecution(value) }));
    return Array.from({ length: count }, (_, at) => ({
      name: `${counted(records, 'record')} of ${counted(commands, 'command')}`,
      records: all.slice(at * records, (at + 1) * records),
    }));
  });
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

/** The fold of a batch into pieces of money, and the part of it that adds the sums of markets. */
export function foldSteps(batchesOf: readonly (readonly Batch[])[]): readonly Step[] {
  return batchesOf.flatMap((some): Step[] => {
    const names = foldNames(some);
    const records = (index: number) => some[index % some.length]?.records ?? [];
    return [
      {
        name: names.sums,
        work: (index) => {
          const sums = new MarketSums();
          for (const { execution } of records(index)) sums.add(execution?.events ?? []);
          sums.changes();
        },
      },
      {
        name: names.whole,
        bare: names.without,
        records: some[0]?.records.length ?? 1,
        work: (index) => void moneyPieces(records(index), ledgerCallItemsMax),
      },
    ];
  });
}

function foldNames(some: readonly Batch[]) {
  const name = some[0]?.name ?? '';
  return {
    sums: `${name}: the sums of markets alone`,
    whole: `${name}: the fold`,
    without: `${name}: the fold without the sums`,
  };
}

/** Samples together with those of the fold without the sums: the whole less the sums of its round. */
export function withFoldsWithoutSums(
  samples: ReadonlyMap<string, readonly number[]>,
  batchesOf: readonly (readonly Batch[])[],
): ReadonlyMap<string, readonly number[]> {
  const all = new Map(samples);
  for (const { sums, whole, without } of batchesOf.map(foldNames)) {
    const parts = samples.get(sums) ?? [];
    const wholes = samples.get(whole) ?? [];
    all.set(
      without,
      wholes.map((micro, round) => micro - (parts[round] ?? Number.NaN)),
    );
  }
  return all;
}

/** Opens an empty ledger for two partitions: one is folded with the sums of markets, the other without them. */
export async function openForBoth(ledger: Ledger): Promise<void> {
  const plan = { id: 'bench', generation: 1 };
  await ledger.planRebuild(plan);
  for (const partition of [0, 1]) {
    await ledger.applyExecutions({ ...noPiece, partition, bookAgeLimitMs: 2_000 });
  }
  const fence = {
    transferId: `0x${'0'.repeat(64)}`,
    wallet: `0x${'0'.repeat(40)}` as never,
    amountMicro: 0,
    timeMs: 1_790_000_000_000,
    generation: 1,
  };
  await ledger.applyTransfers({ fromOffset: 0, toOffset: 1, transfers: [fence] });
  if (!(await ledger.open(plan, [0, 1]))) throw new Error('the ledger did not open');
}

const noPiece = {
  fromOffset: 0,
  toOffset: 1,
  clockMs: 1_790_000_000_000,
  answered: [],
  moves: [],
  markets: [],
  generation: 1,
};

/** Pieces of the log of one partition, applied with or without the sums of markets. */
export class AppliedPieces {
  readonly #ledger: Ledger;
  readonly #partition: number;
  readonly #pieces: readonly MoneyPiece[];
  #offset = 1;

  constructor(ledger: Ledger, partition: 0 | 1, some: readonly Batch[]) {
    this.#ledger = ledger;
    this.#partition = partition;
    const pieces = some.flatMap(({ records }) => moneyPieces(records, ledgerCallItemsMax));
    this.#pieces = partition === 0 ? pieces : pieces.map((piece) => ({ ...piece, markets: [] }));
  }

  /** The offset after the last piece, from which another one begins. */
  startAt(offset: number): void {
    this.#offset = offset;
  }

  get end(): number {
    return this.#offset;
  }

  /** Applies the next piece as one record after the last one. */
  async apply(index: number): Promise<void> {
    const piece = this.#pieces[index % this.#pieces.length];
    if (piece === undefined) throw new RangeError('there are pieces');
    await this.#ledger.applyExecutions({
      ...piece,
      fromOffset: this.#offset,
      toOffset: this.#offset + 1,
      clockMs: piece.clockMs ?? 0,
      partition: this.#partition,
      bookAgeLimitMs: 2_000,
    });
    this.#offset += 1;
  }
}
