import {
  type LeaderboardClickHouse,
  LeaderboardComputation,
} from '../../src/reports/leaderboard-computation.io.ts';
import type { LeaderboardSearch } from '../../src/reports/leaderboard-query.ts';
import { wallet } from '../in-memory.ts';

/** The statements of a computation, and when, with a ClickHouse that has one wallet on every board. */
class OneWallet implements LeaderboardClickHouse {
  readonly sent: string[] = [];

  async selectRows<T>(sql: string): Promise<readonly T[]> {
    const [kind, row] = this.#answer(sql);
    this.sent.push(kind);
    await new Promise(setImmediate);
    return [row as T];
  }

  #answer(sql: string): readonly [kind: string, row: object] {
    if (sql.includes('groupArray')) return ['figures', { listed: 1, digits: '8000000000000003' }];
    if (sql.includes('AS larger')) return ['count', { all: 1, unlisted: 0, larger: [0] }];
    if (sql.includes('ORDER BY place'))
      return ['page', { rank: 1, wallet: wallet(1), vol_micro: '3', pnl_micro: '3' }];
    return ['look-up', { wallet: wallet(1), vol: '3', pnl: '3' }];
  }

  take(): readonly string[] {
    return this.sent.splice(0).sort();
  }
}

const board = (category: number): LeaderboardSearch => ({
  period: 'WEEK',
  category,
  orderBy: 'PNL',
  limit: 1,
  offset: 0,
  wallets: null,
});
const rank = (category: number): LeaderboardSearch => ({
  ...board(category),
  wallets: [wallet(1)],
});

test('of boards that are ranked at the same time each comes to be at hand', async () => {
  const clickhouse = new OneWallet();
  const store = new LeaderboardComputation(clickhouse, 1);
  const categories = Array.from({ length: 10 }, (_, category) => category);
  for (let round = 0; round < 8; round += 1)
    await Promise.all(categories.map((category) => store.read(rank(category))));
  expect(clickhouse.take().filter((kind) => kind === 'figures')).toHaveLength(categories.length);
  await Promise.all(categories.map((category) => store.read(rank(category))));
  expect(clickhouse.take()).toEqual(categories.map(() => 'look-up'));
});

test('a page that is no longer read is prepared for some computations only', async () => {
  const clickhouse = new OneWallet();
  let store = new LeaderboardComputation(clickhouse, 1);
  await store.read(board(0));
  const pages: number[] = [];
  for (let snapshot = 2; snapshot <= 40; snapshot += 1) {
    const next = new LeaderboardComputation(clickhouse, snapshot);
    clickhouse.take();
    await next.prepare(store);
    pages.push(clickhouse.take().length);
    store = next;
  }
  expect(pages).toEqual(pages.map((_, at) => (at < 20 ? 1 : 0)));
});
