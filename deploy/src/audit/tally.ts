import { type Execution, notionalMicro } from '@pm/schemas';

/** What the rows of facts of one partition add up to; micro-shares and micro-USDC, exact at any size. */
export interface PartitionTally {
  fills: number;
  sizeMicro: bigint;
  notionalMicro: bigint;
  feeMicro: bigint;
  placed: number;
  refused: number;
  canceled: number;
  levels: number;
}

/** Counts and sums of a log by partition, to be compared with what the tables of facts hold. */
export class LogTally {
  readonly #partitions = new Map<number, PartitionTally>();

  record(partition: number, { events }: Pick<Execution, 'events'>): void {
    const tally = this.of(partition);
    for (const event of events) {
      if (event.kind === 'OrderPlaced') tally.placed += 1;
      if (event.kind === 'OrderRefused') tally.refused += 1;
      if (event.kind === 'OrderCanceled') tally.canceled += 1;
      if (event.kind === 'LevelChanged') tally.levels += 1;
      if (event.kind !== 'Fill') continue;
      tally.fills += 1;
      tally.sizeMicro += BigInt(event.sizeMicro);
      tally.notionalMicro += BigInt(notionalMicro(event.takerPrice, event.sizeMicro));
      tally.feeMicro += BigInt(event.feeMicro);
    }
  }

  of(partition: number): PartitionTally {
    const known = this.#partitions.get(partition);
    if (known !== undefined) return known;
    const sums = { sizeMicro: 0n, notionalMicro: 0n, feeMicro: 0n };
    const fresh = { ...sums, fills: 0, placed: 0, refused: 0, canceled: 0, levels: 0 };
    this.#partitions.set(partition, fresh);
    return fresh;
  }
}
