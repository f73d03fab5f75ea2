import {
  type LeaderboardClickHouse,
  LeaderboardComputation,
} from '@pm/query-api/reports/leaderboard-computation.io';
import type { LeaderboardSearch } from '@pm/query-api/reports/leaderboard-query';
import type { WalletAddress } from '@pm/schemas/ids';
import type { Read } from './read.ts';

/** Wallets that share the searched name: a few, and as many as a page has. */
const few = 3;
const most = 50;
/** So often ranks are asked for before all figures of a board are taken along. */
const lookups = 5;

/**
 * Every form of GET /v1/leaderboard: of a board that was asked for before the newest computation came, which is taken
 * along, and of one without earlier requests.
 */
export function leaderboardReads(
  clickhouse: LeaderboardClickHouse,
  snapshot: number,
  { ordinary, busiest }: Readonly<Record<'ordinary' | 'busiest', (index: number) => WalletAddress>>,
): ReadonlyMap<string, Read> {
  const board = { category: 0, period: 'WEEK', orderBy: 'PNL', limit: 25, offset: 0 } as const;
  const first: LeaderboardSearch = { ...board, wallets: null };
  const one = (index: number): LeaderboardSearch => ({ ...board, wallets: [ordinary(index)] });
  const named = (count: number) => (index: number) => ({
    ...board,
    limit: most,
    wallets: Array.from({ length: count }, (_, at) => ordinary(index * count + at)),
  });
  const fresh = async (): Promise<LeaderboardComputation> =>
    new LeaderboardComputation(clickhouse, snapshot);
  const swapped = async (): Promise<LeaderboardComputation> => {
    const [before, after] = [await fresh(), await fresh()];
    await before.read(first);
    for (let times = 0; times < lookups; times += 1)
      await before.read({ ...board, wallets: [busiest(times)] });
    await after.prepare(before);
    return after;
  };
  let served: Promise<LeaderboardComputation> | null = null;
  const later = (): Promise<LeaderboardComputation> => {
    served ??= swapped();
    return served;
  };

  /** A store for each request, created before its measurement. */
  const read = (
    store: () => Promise<LeaderboardComputation>,
    search: (index: number) => LeaderboardSearch,
  ): Read => {
    let made: LeaderboardComputation | null = null;
    return {
      async prepare() {
        made = await store();
      },
      run: async (index) => (await made?.read(search(index)))?.length ?? 0,
    };
  };
  return new Map([
    ['/v1/leaderboard, first page after a swap', read(swapped, () => first)],
    ['/v1/leaderboard, a deep page', read(later, () => ({ ...first, offset: 1_000 }))],
    ['/v1/leaderboard, user', read(later, one)],
    [`/v1/leaderboard, userName of ${few} wallets`, read(later, named(few))],
    [`/v1/leaderboard, userName of ${most} wallets`, read(later, named(most))],
    ['/v1/leaderboard, first page, not asked before', read(fresh, () => first)],
    ['/v1/leaderboard, user, not asked before', read(fresh, one)],
  ]);
}
