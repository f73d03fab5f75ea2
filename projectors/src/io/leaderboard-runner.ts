import type { ClickHouse } from '@pm/kit/clickhouse';
import type { Log } from '@pm/kit/log';
import type { MarketCategories } from '../core/leaderboard/categories.ts';
import {
  computeLeaderboards,
  dropOldLeaderboards,
  newestLeaderboard,
} from './leaderboard-store.ts';

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
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const turn = async (): Promise<void> => {
    const startedMs = performance.now();
    try {
      if (nowMs() - (await newestLeaderboard(clickhouse)) >= REFRESH_EVERY_MS / 2) {
        await computeLeaderboards(clickhouse, categories.masks(), { nowMs: nowMs() });
        await dropOldLeaderboards(clickhouse);
      }
    } catch (error) {
      log.warn({ err: error }, 'leaderboards were not computed');
    }
    const restMs = (performance.now() - startedMs) * REST_TIMES;
    if (!isClosed) timer = setTimeout(() => void turn(), Math.max(REFRESH_EVERY_MS, restMs));
  };
  void turn();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
