import type { Log } from '@pm/kit/log';
import { runRounds } from '@pm/kit/rounds';
import type { LeaderboardSource } from './leaderboards.io.ts';

/** A look that failed is repeated after so long, milliseconds; until then the last computation is served. */
const RETRY_AFTER_MS = 2_000;

/** Looks for newer computations of the leaderboards beside the requests. */
export function watchLeaderboards(
  leaderboards: Pick<LeaderboardSource, 'refresh'>,
  log: Log,
): { close(): Promise<void> } {
  return runRounds({
    round: () => leaderboards.refresh(),
    onFailure(error) {
      log.warn({ err: error }, 'a newer computation of the leaderboards could not be looked for');
      return RETRY_AFTER_MS;
    },
  });
}
