import type { ClickHouse } from '@pm/kit/clickhouse';
import type { Kept, ReportReads } from '../door/ports.ts';
import { readClosedPositions } from '../positions/read-positions.io.ts';
import { readActivity } from './read-activity.io.ts';
import { readBuilderTrades, readBuilderVolumes } from './read-builders.io.ts';
import { readLedger } from './read-ledger.io.ts';
import { readMakerFees, readMarketPositions, readSupply, readTraded } from './read-markets.io.ts';

/** Sums over everything may be this old, milliseconds; one query serves everybody meanwhile. */
const MAX_AGE_MS = 60_000;
/** Different sums remembered at a time. */
const SUMS_MAX = 100;

/** All reads of public reports but the leaderboards, each by one statement with bound parameters and bounded time and rows. */
export function openReports(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  nowMs: () => number,
): Omit<ReportReads, 'leaderboard'> {
  const remembered = rememberedFor(nowMs);
  const nowS = () => Math.floor(nowMs() / 1000);
  return {
    closedPositions: (wallet, markets) => readClosedPositions(clickhouse, { wallet, markets }),
    traded: (wallet) => readTraded(clickhouse, wallet),
    activity: (search) => readActivity(clickhouse, search),
    ledger: (search) => readLedger(clickhouse, search, nowS()),
    supply: (markets) => readSupply(clickhouse, markets),
    wholeSupply: () => remembered('supply', () => readSupply(clickhouse, null)),
    marketPositions: (search) => readMarketPositions(clickhouse, search),
    makerFees: (wallet, dayS) => readMakerFees(clickhouse, wallet, dayS),
    builderTrades: (search) => readBuilderTrades(clickhouse, search, nowS()),
    builderVolumes: ({ sinceS, builder, daily }) => {
      // Whole minutes, so that requests of one minute share an answer.
      const search = { builder, daily, sinceS: sinceS - (sinceS % 60) };
      return remembered(JSON.stringify(search), () => readBuilderVolumes(clickhouse, search));
    },
  };
}

/** Runs a query at most once in a while for each name; a failure is not remembered. */
function rememberedFor(nowMs: () => number) {
  const kept = new Map<string, { readonly atMs: number; readonly answer: Promise<unknown> }>();
  return <T>(name: string, read: () => Promise<T>): Promise<Kept<T>> => {
    const found = kept.get(name);
    const atMs = nowMs();
    if (found !== undefined && atMs - found.atMs < MAX_AGE_MS)
      return found.answer as Promise<Kept<T>>;
    if (kept.size >= SUMS_MAX) kept.clear();
    const answer = read().then((value): Kept<T> => ({ atMs, value }));
    kept.set(name, { atMs, answer });
    answer.catch(() => kept.delete(name));
    return answer;
  };
}
