import type { NewestInput } from '@pm/domain/executions/input-sequence';
import type { OrderEventRow } from '@pm/domain/orders/order-read';
import type { FillRow } from '@pm/domain/orders/trades';
import type { LogPosition } from '@pm/schemas/http/forms';
import type { Execution } from '@pm/schemas/log/executions';
import { RecentPartition } from './recent-partition.ts';
import type { HoldingChange } from './record-rows.ts';

/**
 * Rows kept over all partitions; about 500 bytes each. Under full load the tables lag by half a second, a few thousand
 * rows.
 */
const recentRowsMax = 200_000;
/** With more rows than this nothing is kept that the tables have. */
const keptRowsMax = 20_000;

/**
 * Per partition the first input offset that is not to be taken from the tables; partitions at the same index.
 * `noCutover` where the tables answer alone.
 */
export type CutoverOffsets = readonly number[];

/** Above every offset. */
export const noCutover = Number.MAX_SAFE_INTEGER;

/** Rows from the cutover on that come with them: together with the tables up to the cutover they are the whole log. */
export interface RecentRows<T> {
  readonly cutover: CutoverOffsets;
  readonly rows: readonly T[];
  /** Where they end. Partitions that the tables answer alone have no place here: theirs is not known. */
  readonly asOf: readonly LogPosition[];
}

/** How much is kept. */
export interface RecentLimits {
  readonly rowsMax: number;
  /** Records stay so long after the tables have them, milliseconds, while there are few. */
  readonly keepMs: number;
}

/** How the newest records of one partition stand, for /status. */
export interface RecentProgress {
  readonly partition: number;
  readonly rows: number;
  readonly storedTo: number;
  readonly hasGap: boolean;
}

/**
 * The newest stretch of all partitions, joined with the tables at an exact cutover. Bounded: over `rowsMax` the largest
 * partition sheds its oldest records, and the tables answer for it alone until they have caught up.
 */
export class RecentLog {
  readonly #partitions: RecentPartition[] = [];
  readonly #rowsMax: number;
  readonly #keepMs: number;

  constructor({ rowsMax = recentRowsMax, keepMs = 0 }: Partial<RecentLimits> = {}) {
    this.#rowsMax = rowsMax;
    this.#keepMs = keepMs;
  }

  /**
   * Starts over at these offsets of `executions`, with the newest inputs in front of them where they are known;
   * partitions are numbered from 0 without holes.
   */
  restart(
    positions: ReadonlyMap<number, number>,
    newest: ReadonlyMap<number, Pick<NewestInput, 'inOffset'>> = new Map(),
  ): void {
    this.#partitions.length = 0;
    for (let partition = 0; partition < positions.size; partition += 1) {
      const before = newest.get(partition)?.inOffset ?? null;
      this.#partitions.push(new RecentPartition(partition, positions.get(partition) ?? 0, before));
    }
  }

  /** Clears the memory; reads then use the tables only. */
  stop(): void {
    this.#partitions.length = 0;
  }

  get rowCount(): number {
    return this.#partitions.reduce((sum, one) => sum + one.rowCount, 0);
  }

  /** False when records are missing before this one. */
  take(partition: number, execution: Execution, offset: number): boolean {
    const taken = this.#partitions[partition]?.take(execution, offset) ?? null;
    if (taken === true) this.#shed();
    return taken !== null;
  }

  /** At `nowMs` the tables hold everything of the partition below this offset of `executions`. */
  stored(partition: number, offset: number, nowMs: number): void {
    const keepMs = this.rowCount > keptRowsMax ? 0 : this.#keepMs;
    this.#partitions[partition]?.stored(offset, { nowMs, keepMs });
  }

  progress(): readonly RecentProgress[] {
    return this.#partitions.map(({ rowCount: rows, storedTo, hasGap }, partition) => ({
      partition,
      rows,
      storedTo,
      hasGap,
    }));
  }

  orders(ids: readonly string[]): RecentRows<OrderEventRow> {
    return this.#rows((one) => ids.flatMap((id) => one.orderRows(id)));
  }

  /** Everything that happened to orders of these keys. */
  ordersOfKeys(keys: Iterable<string>): RecentRows<OrderEventRow> {
    const requested = [...keys];
    return this.#rows((one) => requested.flatMap((key) => one.rowsOfKey(key)));
  }

  /** Each fill once, also when two of the keys met. */
  fillsOfKeys(keys: Iterable<string>): RecentRows<FillRow> {
    const requested = [...keys];
    return this.#rows((one) => [...new Set(requested.flatMap((key) => one.fillsOfKey(key)))]);
  }

  /** The cutover that is reached for longest: memory has what the tables may lack, and nothing before it. */
  newestCutover(): CutoverOffsets {
    return this.#partitions.map(({ newestCutover }) => newestCutover ?? noCutover);
  }

  /** Whether all records from this cutover on are here. */
  reaches(cutover: CutoverOffsets): boolean {
    return (
      cutover.length === this.#partitions.length &&
      this.#partitions.every(
        ({ cutoverOffset }, at) =>
          cutoverOffset !== null && cutoverOffset <= (cutover[at] as number),
      )
    );
  }

  /**
   * Rows that `rowsOf` makes of fills of any wallet; of each partition from its newest fill on, until there are `most`
   * rows. With `from` only fills from this cutover on, otherwise all kept fills.
   */
  newestFills<T>(
    { most, from }: { readonly most: number; readonly from?: CutoverOffsets },
    rowsOf: (fill: FillRow) => readonly T[],
  ): RecentRows<T> {
    const found = this.#rows((one, partition) => {
      const rows: T[] = [];
      for (const fill of one.fills(from?.[partition] ?? 0)) {
        if (rows.length >= most) break;
        rows.push(...rowsOf(fill));
      }
      return rows;
    });
    return { ...found, cutover: from ?? found.cutover };
  }

  holdings(wallets: readonly string[]): RecentRows<HoldingChange> {
    return this.#rows((one) => wallets.flatMap((wallet) => one.holdingsOf(wallet)));
  }

  #rows<T>(rowsOf: (one: RecentPartition, partition: number) => readonly T[]): RecentRows<T> {
    const cutover = this.#partitions.map((one) => one.cutoverOffset ?? noCutover);
    const rows = this.#partitions.flatMap((one, partition) =>
      cutover[partition] === noCutover ? [] : rowsOf(one, partition),
    );
    const asOf = this.#partitions.flatMap(({ newestInput: offset }, partition) =>
      cutover[partition] === noCutover ? [] : [{ partition, offset }],
    );
    return { cutover, rows, asOf };
  }

  #shed(): void {
    const excess = this.rowCount - this.#rowsMax;
    if (excess <= 0) return;
    const largest = this.#partitions.reduce((left, right) =>
      left.rowCount >= right.rowCount ? left : right,
    );
    // A tenth at a time: shedding costs a walk over what is kept.
    largest.shed(Math.max(excess, Math.ceil(this.#rowsMax / 10)));
  }
}
