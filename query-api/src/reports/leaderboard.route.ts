import { ReadRefusal } from '@pm/domain/reading/refusal';
import type { Profiles } from '@pm/domain/social/profiles';
import type { HttpHandler } from '@pm/kit/http';
import { CachedResponse, readRoute } from '../http/read-route.io.ts';
import type { ProgressWatch } from '../status/progress.io.ts';
import { leaderboardEntry, leaderboardSearch, readLeaderboardQuery } from './leaderboard-query.ts';
import type { Leaderboards } from './newest-leaderboards.io.ts';

export interface LeaderboardParts {
  readonly leaderboards: Pick<Leaderboards, 'read'>;
  readonly profiles: Profiles;
  readonly progress: Pick<ProgressWatch, 'completeThroughAtMs'>;
  nowMs(): number;
}

/** How far the clock of the projectors, who compute it, may be ahead of this one, milliseconds. */
const clockSkewMaxMs = 5_000;

/** GET /v1/leaderboard: traders by profit or volume (conventions.md 6.4). `Age` says how old it is, seconds. */
export function leaderboardRoute(parts: LeaderboardParts): HttpHandler {
  const { leaderboards, profiles } = parts;
  const route = { method: 'GET', path: '/v1/leaderboard', family: 'data' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const requested = readLeaderboardQuery(query, dialect !== 'family');
    if (requested instanceof ReadRefusal) return requested;
    const search = leaderboardSearch(requested, profiles);
    if (search === null) return [];
    const { atMs, rows } = await leaderboards.read(search);
    // The specification has null, readers of the family insist on a text.
    const noXName = dialect === 'family' ? '' : null;
    const entries = rows.map((row) => leaderboardEntry(row, profiles, noXName));
    return new CachedResponse(atMs, parts, entries, clockSkewMaxMs);
  });
}
