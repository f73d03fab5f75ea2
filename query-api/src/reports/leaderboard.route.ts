import type { DoorRoute } from '@pm/kit/http';
import type { ReadPorts } from '../door/ports.ts';
import { AgedAnswer, readRoute } from '../door/read-route.io.ts';
import { ReadRefusal } from '../door/refusal.ts';
import { leaderboardEntry, leaderboardSearch, readLeaderboardQuery } from './leaderboard.ts';

/** How far the clock of the projectors, who compute it, may be ahead of this one, milliseconds. */
const clockSkewMaxMs = 5_000;

/** GET /v1/leaderboard: traders by profit or volume (conventions.md 6.3). `Age` says how old it is, seconds. */
export function leaderboardRoute(
  ports: Pick<ReadPorts, 'reports' | 'social' | 'standing' | 'nowMs'>,
): DoorRoute {
  const { reports, social } = ports;
  const route = { method: 'GET', path: '/v1/leaderboard', family: 'data' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const asked = readLeaderboardQuery(query, dialect !== 'family');
    if (asked instanceof ReadRefusal) return asked;
    const search = leaderboardSearch(asked, social.profiles);
    if (search === null) return [];
    const { atMs, rows } = await reports.leaderboard(search);
    const entries = rows.map((row) => leaderboardEntry(row, social.profiles));
    return new AgedAnswer(atMs, ports, entries, clockSkewMaxMs);
  });
}
