import { SharedReads } from '@pm/domain/cache/shared-reads.io';
import { KeptReads, type Sized } from './kept-reads.ts';
import type { TablesState } from './tables-state.ts';

/** A requested value of a market: the name under which it is kept, and the partition of its records. */
export interface WantedRead {
  readonly name: string;
  readonly partition: number;
}

/** How the values of a request are found and read. */
export interface MarketReading<T> {
  /** Says what is read besides the names; requests with the same may share a read. */
  readonly kind: string;
  /** Whether a kept value has all that is requested. */
  isEnough(kept: T): boolean;
  /** Reads the wanted ones at these places, in their order. */
  read(places: readonly number[]): Promise<readonly Sized<T>[]>;
}

/** Values of markets out of the tables, each read once for each state of them. */
export class KeptMarkets<T> {
  readonly #state: TablesState;
  readonly #kept: KeptReads<T>;
  readonly #shared = new SharedReads<readonly T[]>();

  constructor(state: TablesState, bytesMax: number) {
    this.#state = state;
    this.#kept = new KeptReads(bytesMax, () => state.monotonicMs());
  }

  /** One value for each that is wanted, in order; not a promise when all of them are at hand. */
  of(
    wanted: readonly WantedRead[],
    reading: MarketReading<T>,
  ): readonly T[] | Promise<readonly T[]> {
    const kept = this.#keptOf(wanted, reading);
    if (isWhole(kept)) return kept;
    const name = [reading.kind, ...wanted.map((one) => one.name)].join();
    return this.#shared.read(name, () => this.#load(wanted, reading));
  }

  /**
   * Reads the values that are not kept. Kept values are looked up again: the read before this one may have read the
   * same.
   */
  async #load(wanted: readonly WantedRead[], reading: MarketReading<T>): Promise<readonly T[]> {
    const values = [...this.#keptOf(wanted, reading)];
    const missing = [...values.keys()].filter((place) => values[place] === undefined);
    const versions = wanted.map(({ partition }) => this.#state.storedOffset(partition));
    const read = missing.length === 0 ? [] : await reading.read(missing);
    for (const [index, sized] of read.entries()) {
      const place = missing[index] as number;
      values[place] = sized.value;
      this.#kept.keep((wanted[place] as WantedRead).name, versions[place] ?? null, sized);
    }
    return values as T[];
  }

  #keptOf(
    wanted: readonly WantedRead[],
    { isEnough }: MarketReading<T>,
  ): readonly (T | undefined)[] {
    return wanted.map(({ name, partition }) => {
      const kept = this.#kept.get(name, this.#state.storedOffset(partition));
      return kept !== undefined && isEnough(kept) ? kept : undefined;
    });
  }
}

function isWhole<T>(values: readonly (T | undefined)[]): values is readonly T[] {
  return !values.includes(undefined);
}
