import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas';
import type { Volume, Volumes } from '../core/figures.ts';
import { storedMicro } from '../core/stored-numbers.ts';

/** Volumes are for sorting only, so they may be this old; one query serves everybody meanwhile. */
const MAX_AGE_MS = 60_000;
const DAY_SECONDS = 86_400;

interface Row {
  readonly market: number;
  readonly total: string;
  readonly day: string;
}

/** A fill stands in one fill row, while its candles may stand under both tokens. */
const sql = `
SELECT market, toString(sum(size * taker_price)) AS total,
  toString(sumIf(size * taker_price, time >= fromUnixTimestamp({since:UInt32}))) AS day
FROM ${tables.fills.name} FINAL
GROUP BY market
SETTINGS max_execution_time = 10`;

/** Notional by market, read at most once a minute and only when somebody asks. */
export function openVolumes(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
): (nowMs: number) => Promise<Volumes> {
  let kept: { readonly atMs: number; readonly volumes: Promise<Volumes> } | null = null;
  return (nowMs) => {
    if (kept !== null && nowMs - kept.atMs < MAX_AGE_MS) return kept.volumes;
    const volumes = readVolumes(clickhouse, nowMs);
    const mine = { atMs: nowMs, volumes };
    kept = mine;
    volumes.catch(() => {
      if (kept === mine) kept = null;
    });
    return volumes;
  };
}

async function readVolumes(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  nowMs: number,
): Promise<Volumes> {
  const since = Math.floor(nowMs / 1000) - DAY_SECONDS;
  const rows = await clickhouse.selectRows<Row>(sql, { since });
  return new Map(
    rows.map((row): [number, Volume] => [
      row.market,
      { totalMicro: storedMicro(row.total), dayMicro: storedMicro(row.day) },
    ]),
  );
}
