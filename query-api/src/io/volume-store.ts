import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas';
import type { Volume, Volumes } from '../core/figures.ts';
import { storedMicro } from '../core/stored-numbers.ts';

const DAY_SECONDS = 86_400;

interface Row {
  readonly market: number;
  readonly settled: string;
  readonly fresh: string;
  readonly day: string;
}

const { name: fills } = tables.fills;

const identitySql = `
SELECT toString(uuid) AS id FROM system.tables WHERE database = currentDatabase() AND name = '${fills}'`;

/**
 * A fill stands in one fill row, while its candles may stand under both tokens. The product of two narrow decimals would overflow,
 * and bounds have the precision of the column (docs/traps.md).
 */
const volumesSql = `
WITH toDateTime64({from:UInt32}, 3) AS since_settled, toDateTime64({to:UInt32}, 3) AS until_settled,
  toDateTime64({day:UInt32}, 3) AS since_day, toDecimal128(taker_price, 4) * size AS notional
SELECT market, toString(sumIf(notional, time >= since_settled AND time < until_settled)) AS settled,
  toString(sumIf(notional, time >= until_settled)) AS fresh, toString(sumIf(notional, time >= since_day)) AS day
FROM ${fills} FINAL
WHERE time >= least(since_settled, since_day)
GROUP BY market
SETTINGS max_execution_time = 10`;

/** What the fills in front of a moment add up to: nothing is added there any more. */
interface Settled {
  /** Of the table that was read; a rebuild exchanges it. */
  readonly identity: string;
  /** Unix seconds. */
  readonly toS: number;
  /** Micro-USDC by market. */
  readonly sums: ReadonlyMap<number, number>;
}

const nothing: Omit<Settled, 'identity'> = { toS: 0, sums: new Map() };

/** What is known of the tables beside their rows. */
export interface VolumeParts {
  readonly clickhouse: Pick<ClickHouse, 'selectRows'>;
  /** Through which moment the fills are complete, Unix milliseconds; null while that is not known. */
  completeThroughMs(): number | null;
}

/**
 * Notional by market, as of each call. All fills are read once; from then on those of the last day, and those behind the moment
 * through which they were complete when they were read last.
 */
export class VolumeStore {
  readonly #parts: VolumeParts;
  #settled: Settled = { identity: '', ...nothing };

  constructor(parts: VolumeParts) {
    this.#parts = parts;
  }

  /** One call at a time. Throws the faults of ClickHouse; what was settled stays. */
  async read(nowMs: number): Promise<Volumes> {
    const { clickhouse } = this.#parts;
    const throughMs = this.#parts.completeThroughMs();
    const [table] = await clickhouse.selectRows<{ readonly id: string }>(identitySql);
    const identity = table?.id ?? '';
    const known = this.#settled.identity === identity ? this.#settled : nothing;
    const toS = Math.max(known.toS, Math.floor((throughMs ?? 0) / 1000));
    const day = Math.max(0, Math.floor(nowMs / 1000) - DAY_SECONDS);
    const params = { from: known.toS, to: toS, day };
    const rows = await clickhouse.selectRows<Row>(volumesSql, params);
    const sums = new Map(known.sums);
    const volumes = new Map<number, Volume>();
    for (const { market, settled } of rows)
      sums.set(market, (sums.get(market) ?? 0) + storedMicro(settled));
    for (const [market, totalMicro] of sums) volumes.set(market, { totalMicro, dayMicro: 0 });
    for (const { market, fresh, day: dayText } of rows) {
      const totalMicro = (sums.get(market) ?? 0) + storedMicro(fresh);
      volumes.set(market, { totalMicro, dayMicro: storedMicro(dayText) });
    }
    this.#settled = { identity, toS, sums };
    return volumes;
  }
}
