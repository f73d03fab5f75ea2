import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas';
import { storedMicro } from '../tables/numbers.ts';
import type { Volume, Volumes } from './figures.ts';

const daySeconds = 86_400;
/** Past all times, Unix seconds. */
const endOfTime = 4_294_967_295;

const { name: tape } = tables.tape;

const identitySql = `
SELECT toString(uuid) AS id FROM system.tables WHERE database = currentDatabase() AND name = '${tape}'`;

/** 0 while there are none. */
const firstSql = `SELECT toUnixTimestamp(min(time)) AS first FROM ${tape}`;

/**
 * A fill has one row of its taker, in the order of time, while its candles may stand under both tokens. The product of
 * two narrow decimals would overflow, and bounds have the precision of the column (traps.md).
 */
const volumesSql = `
WITH toDecimal128(price, 4) * size AS notional
SELECT market, toString(sum(notional)) AS total,
  toString(sumIf(notional, time >= toDateTime64({day:UInt32}, 3))) AS day
FROM ${tape} FINAL
WHERE role = 'TAKER' AND time >= toDateTime64({from:UInt32}, 3) AND time < toDateTime64({to:UInt32}, 3)
GROUP BY market
SETTINGS max_execution_time = 10, max_threads = 1`;

/** Of how long a time one statement adds up what is old, seconds; more while that is quick, less when it is slow. */
const spanLeastS = 3_600;
const quickMs = 500;
const slowMs = 2_000;

/** Unix seconds. Rows of `to` are not in it; those from `day` on are of the day. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly day: number;
}

/** Dependencies and state of the tables besides their rows. */
export interface VolumeSumsOptions {
  readonly clickhouse: Pick<ClickHouse, 'selectRows'>;
  /** Through which moment the tables are complete, Unix milliseconds; null while that is not known. */
  completeThroughMs(): number | null;
}

/**
 * Notional by market, as of each call. Where the tables are complete nothing is added any more: that is added up once,
 * piece by piece, and what leaves the last 24 hours is taken off. So a call reads what came and what left since the one
 * before, whatever there is.
 */
export class VolumeSums {
  readonly #parts: VolumeSumsOptions;
  /** Of the table that was read; a rebuild exchanges it. */
  #identity = '';
  /** Fills before it are in the sums, Unix seconds. */
  #toS = 0;
  /** Where the day of the sums begins, Unix seconds. */
  #dayS = 0;
  #sums = new Map<number, Volume>();
  #spanS = spanLeastS;

  constructor(parts: VolumeSumsOptions) {
    this.#parts = parts;
  }

  /** One call at a time. Throws the faults of ClickHouse; what was added up stays. */
  async read(nowMs: number): Promise<Volumes> {
    const throughMs = this.#parts.completeThroughMs() ?? 0;
    const dayS = Math.max(0, Math.floor(nowMs / 1000) - daySeconds);
    await this.#lookAtTable(dayS);
    await this.#moveDay(dayS);
    await this.#settle(Math.floor(throughMs / 1000));
    const newest = await this.#volumesIn({ from: this.#toS, to: endOfTime, day: this.#dayS });
    const volumes = new Map(this.#sums);
    for (const [market, volume] of newest) add(volumes, market, volume);
    return volumes;
  }

  /** Starts from scratch with another table. */
  async #lookAtTable(dayS: number): Promise<void> {
    const { clickhouse } = this.#parts;
    const [table] = await clickhouse.selectRows<{ readonly id: string }>(identitySql);
    const identity = table?.id ?? '';
    if (identity === this.#identity) return;
    this.#identity = identity;
    this.#toS = 0;
    this.#dayS = dayS;
    this.#sums = new Map();
  }

  /** Takes off what is older than a day by now. */
  async #moveDay(dayS: number): Promise<void> {
    const to = Math.min(dayS, this.#toS);
    if (to > this.#dayS) {
      const left = await this.#volumesIn({ from: this.#dayS, to, day: 0 });
      for (const [market, { totalMicro }] of left)
        add(this.#sums, market, { totalMicro: 0, dayMicro: -totalMicro });
    }
    this.#dayS = Math.max(this.#dayS, dayS);
  }

  async #settle(throughS: number): Promise<void> {
    if (throughS <= this.#toS) return;
    if (this.#toS === 0) this.#toS = Math.min(throughS, (await this.#firstS()) ?? throughS);
    while (this.#toS < throughS) {
      const to = Math.min(throughS, this.#toS + this.#spanS);
      const more = await this.#timed({ from: this.#toS, to, day: this.#dayS });
      for (const [market, volume] of more) add(this.#sums, market, volume);
      this.#toS = to;
    }
  }

  async #firstS(): Promise<number | null> {
    const [row] = await this.#parts.clickhouse.selectRows<{ readonly first: number }>(firstSql);
    return row === undefined || row.first === 0 ? null : row.first;
  }

  /** A statement that fails is followed by shorter ones, and so is one that is slow. */
  async #timed(span: Span): Promise<Volumes> {
    const [lengthS, spanS] = [span.to - span.from, this.#spanS];
    const beganMs = performance.now();
    this.#spanS = Math.max(spanLeastS, Math.floor(lengthS / 4));
    const volumes = await this.#volumesIn(span);
    const tookMs = performance.now() - beganMs;
    if (tookMs < quickMs && lengthS === spanS) this.#spanS = spanS * 2;
    else if (tookMs < slowMs) this.#spanS = spanS;
    return volumes;
  }

  async #volumesIn({ from, to, day }: Span): Promise<Volumes> {
    const rows = await this.#parts.clickhouse.selectRows<{
      readonly market: number;
      readonly total: string;
      readonly day: string;
    }>(volumesSql, { from, to, day });
    return new Map(
      rows.map(({ market, total, day: ofDay }): [number, Volume] => [
        market,
        { totalMicro: storedMicro(total), dayMicro: storedMicro(ofDay) },
      ]),
    );
  }
}

function add(sums: Map<number, Volume>, market: number, { totalMicro, dayMicro }: Volume): void {
  const known = sums.get(market);
  sums.set(market, {
    totalMicro: (known?.totalMicro ?? 0) + totalMicro,
    dayMicro: (known?.dayMicro ?? 0) + dayMicro,
  });
}
