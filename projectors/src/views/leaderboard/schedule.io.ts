import type { ClickHouse } from '@pm/kit/clickhouse';
import type { Log } from '@pm/kit/log';
import { runRounds } from '@pm/kit/rounds';
import type { MarketCategories } from './categories.ts';
import { computeLeaderboards, dropOldLeaderboards, newestLeaderboard } from './computation.io.ts';

/** Leaderboards are this old at most while a computation is short, milliseconds. */
const REFRESH_EVERY_MS = 15_000;
/** After a computation at least so many times its length is left to others. */
const REST_TIMES = 9;

/**
 * Computes the leaderboards on a timer. Several processes may: who finds a fresh one leaves it at that, and a snapshot is served
 * only when it is whole. A failure is told and tried again at the next turn.
 */
export function runLeaderboards(parts: {
  readonly clickhouse: Pick<ClickHouse, 'command' | 'selectRows' | 'insertRows'>;
  readonly categories: Pick<MarketCategories, 'masks'>;
  readonly log: Log;
  nowMs(): number;
}): { close(): void } {
  const { clickhouse, categories, log, nowMs } = parts;
  let startedMs = performance.now();
  const restMs = () => Math.max(REFRESH_EVERY_MS, (performance.now() - startedMs) * REST_TIMES);
  const rounds = runRounds({
    async round() {
      startedMs = performance.now();
      if (nowMs() - (await newestLeaderboard(clickhouse)) >= REFRESH_EVERY_MS / 2) {
        await computeLeaderboards(clickhouse, categories.masks(), { nowMs: nowMs() });
        await dropOldLeaderboards(clickhouse);
      }
      return restMs();
    },
    onFailure(error) {
      log.warn({ err: error }, 'leaderboards were not computed');
      return restMs();
    },
  });
  // A computation may take minutes: nobody who stops waits for its end.
  return { close: () => void rounds.close() };
}
