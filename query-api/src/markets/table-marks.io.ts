import type { ClickHouse } from '@pm/kit/clickhouse';

/** Rows of a table from one moment to before another, Unix seconds. */
export interface TableSpan {
  readonly from: number;
  readonly to: number;
}

/** After all times, Unix seconds. */
export const endOfTime = 4_294_967_295;

/** Least span of old rows that one statement reads, seconds: longer while that is quick, shorter when it is slow. */
const spanLeastS = 3_600;
const quickMs = 500;
const slowMs = 2_000;

/** Tables that are read up to marks. */
export interface MarkedTables {
  readonly clickhouse: Pick<ClickHouse, 'selectRows'>;
  /** Through which moment the tables are complete, Unix milliseconds; null while that is not known. */
  completeThroughMs(): number | null;
}

/** How the rows of a table are read and folded into one value of each market. */
export interface TableFold<S> {
  readonly table: string;
  /** The column of a time; its rows come in about that order. */
  readonly time: string;
  read(span: TableSpan): Promise<ReadonlyMap<number, S>>;
  /** Value of a market out of its known value, undefined for none, and the value of a later span. */
  fold(known: S | undefined, more: S): S;
}

interface Mark<S> {
  /** Rows before it are in, Unix seconds; 0 at the start. */
  toS: number;
  rows: Map<number, S>;
}

/**
 * Values of each market, folded from the rows of a table up to several moments that move on. All moments are before the
 * one through which the table is complete, where no row is added any more. Each row is read once at the start, and then
 * once for each moment that passes it, whatever the size of the table.
 */
export class TableMarks<S> {
  readonly #clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly #fold: TableFold<S>;
  /** Names the table that was read, which a rebuild exchanges. */
  #identity = '';
  #marks: readonly Mark<S>[] = [];
  #spanS = spanLeastS;

  constructor(clickhouse: Pick<ClickHouse, 'selectRows'>, fold: TableFold<S>) {
    this.#clickhouse = clickhouse;
    this.#fold = fold;
  }

  /**
   * Values of the markets up to each moment, as far as it is later than at the call before, in Unix seconds; the oldest
   * first, always the same number of moments. Throws the faults of ClickHouse; the rows that were read stay.
   */
  async upTo(moments: readonly number[]): Promise<readonly ReadonlyMap<number, S>[]> {
    await this.#lookAtTable(moments.length);
    let before: Mark<S> | null = null;
    for (const [index, mark] of this.#marks.entries()) {
      // The moment before this one has read more: at the start, or after a long time.
      if (before !== null && before.toS > mark.toS) {
        mark.toS = before.toS;
        mark.rows = new Map(before.rows);
      }
      await this.#advance(mark, moments[index] ?? 0);
      before = mark;
    }
    return this.#marks.map(({ rows }) => rows);
  }

  /** Up to which moment rows are in, Unix seconds. */
  get throughS(): number {
    return this.#marks.at(-1)?.toS ?? 0;
  }

  /** Starts from scratch with another table. */
  async #lookAtTable(marks: number): Promise<void> {
    const [row] = await this.#clickhouse.selectRows<{ readonly id: string }>(
      `SELECT toString(uuid) AS id FROM system.tables
WHERE database = currentDatabase() AND name = '${this.#fold.table}'`,
    );
    const identity = row?.id ?? '';
    if (identity === this.#identity) return;
    this.#identity = identity;
    this.#marks = Array.from({ length: marks }, () => ({ toS: 0, rows: new Map() }));
  }

  async #advance(mark: Mark<S>, momentS: number): Promise<void> {
    if (momentS <= mark.toS) return;
    if (mark.toS === 0) mark.toS = Math.min(momentS, (await this.#firstS()) ?? momentS);
    while (mark.toS < momentS) {
      const to = Math.min(momentS, mark.toS + this.#spanS);
      const more = await this.#timed({ from: mark.toS, to });
      for (const [market, facts] of more)
        mark.rows.set(market, this.#fold.fold(mark.rows.get(market), facts));
      mark.toS = to;
    }
  }

  /** Null while there are no rows. */
  async #firstS(): Promise<number | null> {
    const { time, table } = this.#fold;
    const [row] = await this.#clickhouse.selectRows<{ readonly first: number }>(
      `SELECT toUnixTimestamp(min(${time})) AS first FROM ${table}`,
    );
    return row === undefined || row.first === 0 ? null : row.first;
  }

  /** A statement that fails is followed by shorter ones, and so is one that is slow. */
  async #timed(span: TableSpan): Promise<ReadonlyMap<number, S>> {
    const [lengthS, spanS] = [span.to - span.from, this.#spanS];
    const beganMs = performance.now();
    this.#spanS = Math.max(spanLeastS, Math.floor(lengthS / 4));
    const rows = await this.#fold.read(span);
    const tookMs = performance.now() - beganMs;
    if (tookMs < quickMs && lengthS === spanS) this.#spanS = spanS * 2;
    else if (tookMs < slowMs) this.#spanS = spanS;
    return rows;
  }
}
