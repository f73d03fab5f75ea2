import { createHash } from 'node:crypto';
import { noQuote, priceOfMicro, quoteFields, quoteOf } from '@pm/domain/books/quote';
import { Catalog } from '@pm/domain/markets/catalog';
import type { Listing } from '@pm/domain/markets/market';
import { anyPosition, currentMicro, selectHoldings } from '@pm/domain/positions/positions';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { microText } from '@pm/schemas/decimal';
import { walletFromBytes } from '@pm/schemas/ids';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import { leaderboardColumn, leaderboardTables } from '@pm/schemas/tables/leaderboard-tables';
import { workedQueries } from '@pm/schemas/tables/worked-queries';
import { bytesOf } from '../../../kit/test/seeded.ts';
import { MarketBook } from '../../../projectors/src/books/book.ts';
import { foldBooks } from '../../../projectors/src/books/fold.ts';
import { renderBook } from '../../../projectors/src/books/render.ts';
import { computeLeaderboards } from '../../../projectors/src/views/leaderboard/leaderboards.io.ts';
import { executionOf, fillOf, marketSet, moved } from '../../../projectors/test/log.ts';
import { project, RealTables } from '../../../projectors/test/tables/real-tables.ts';
import { historyPoints, noPrices } from '../../../query-api/src/history/history.ts';
import { WalletPositions } from '../../../query-api/src/positions/wallet-positions.io.ts';
import { TableReads } from '../../../query-api/src/tables/tables.io.ts';
import { marketEntry, token } from '../../../query-api/test/in-memory.ts';

/** One price everywhere: in books, positions and their value, documented queries, histories and leaderboards. */
const startMs = Date.UTC(2026, 5, 1);
const minuteMs = 60_000;
const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

/** Token 1 sold at a price, token 0 sold at a price. */
const no = (market: number, takerPrice: number) =>
  fillOf({ market, takerSide: 'SELL', takerOutcome: 1, takerPrice });
const yes = (market: number, takerPrice: number) =>
  fillOf({ market, takerSide: 'SELL', takerPrice });
const quoted = (market: number, bid: number, ask: number): readonly ExecutionEvent[] => [
  ...(bid > 0
    ? [{ kind: 'LevelChanged', market, side: 'BUY', price: bid, sizeMicro: 5e6 } as const]
    : []),
  ...(ask > 0
    ? [{ kind: 'LevelChanged', market, side: 'SELL', price: ask, sizeMicro: 5e6 } as const]
    : []),
  { kind: 'TopChanged', market, bid, ask },
];
const resolved = (market: number): ExecutionEvent => ({
  kind: 'MarketResolved',
  command: 0,
  market,
  payout0: 10_000,
});

/** Events of a market, record by record, and the resulting price of token 0, micro-USDC. */
const histories: readonly (readonly [
  number,
  (market: number) => readonly (readonly ExecutionEvent[])[],
])[] = [
  [520_000, (m) => [quoted(m, 5_000, 5_400), [yes(m, 9_000)]]],
  [377_700, (m) => [[no(m, 4_000)], [yes(m, 3_777)]]],
  [600_000, (m) => [[yes(m, 3_777)], [no(m, 4_000)]]],
  [990_000, (m) => [quoted(m, 9_800, 0), [no(m, 5_000)], [yes(m, 9_900)]]],
  [540_000, (m) => [[fillOf({ market: m, match: 'MINT', takerPrice: 5_400 }), yes(m, 5_600)]]],
  [500_000, () => []],
  // Wide books follow the newest trade, or the midpoint where there was none.
  [420_000, (m) => [quoted(m, 3_000, 6_000), [yes(m, 4_200)]]],
  [450_000, (m) => [quoted(m, 4_000, 5_000), [yes(m, 9_000)]]],
  [350_000, (m) => [quoted(m, 3_000, 4_000)]],
  [650_000, (m) => [quoted(m, 3_000, 0)]],
  [1_000_000, (m) => [[no(m, 9_000)], [resolved(m)]]],
];
const markets = histories.map((_one, index) => index + 1);

/** Everybody has tokens to sell. */
const endowed = [1, 2].flatMap((wallet) =>
  markets.map((market) => {
    const amount = { token0Micro: 50_000_000, token1Micro: 50_000_000, paidMicro: -50_000_000 };
    return moved('SPLIT', { wallet, market, ...amount });
  }),
);
const executions = [
  [...markets.map((market) => marketSet(market)), ...endowed],
  ...histories.flatMap(([, events], index) => events(index + 1)),
].map((events, index) => executionOf(index, events, startMs + index * minuteMs));
const endMs = startMs + executions.length * minuteMs;

const catalog = new Catalog();
for (const market of markets) catalog.apply(marketEntry(market));
// The last one is resolved.
catalog.apply(marketEntry(histories.length, { payout0: 10_000 }));
const listing = (market: number, outcome: 0 | 1) =>
  catalog.listing(token(market, outcome)) as Listing;
const quotes = quotesOf();

function quotesOf() {
  const books = new Map(markets.map((market) => [market, new MarketBook(market)]));
  for (const execution of executions) foldBooks(books, execution);
  return new Map(
    [...books].flatMap(([market, book]) =>
      renderBook(book, listing(market, 0).market, sha1).map((hash, outcome) => {
        const quote = quoteOf(quoteFields.map((field) => hash[field]));
        return [token(market, outcome === 0 ? 0 : 1), quote] as const;
      }),
    ),
  );
}

const real = new RealTables(`displayed_prices_${process.pid}`);
let clickhouse: ClickHouse;

beforeAll(async () => {
  clickhouse = await real.fresh(Object.values(leaderboardTables));
  await project(clickhouse, executions);
}, 120_000);

afterAll(() => real.close(), 30_000);

it('adds up to one for the two tokens of a market, by its newest trade where the book has no price', () => {
  for (const [index, [price0Micro]] of histories.entries()) {
    const { market } = listing(index + 1, 0);
    expect([index, priceOfMicro(market, 0, quotes)]).toEqual([index, price0Micro]);
    expect([index, priceOfMicro(market, 1, quotes)]).toEqual([index, 1_000_000 - price0Micro]);
  }
});

it('is that of the leaderboards', async () => {
  const pnl = leaderboardColumn('pnl', 'ALL');
  await computeLeaderboards(clickhouse, [], { nowMs: endMs });
  const rows = await clickhouse.selectRows<{ wallet: string; pnl: string }>(
    `SELECT wallet, toString(${pnl}) AS pnl FROM ${leaderboardTables.wallets.name} WHERE category = 0`,
  );
  const expected = await Promise.all(
    [1, 2].map(async (index) => {
      const wallet = walletFromBytes(bytesOf(20, index));
      const held = await new WalletPositions({ clickhouse }).open(wallet, null);
      const holdings = selectHoldings(catalog, held, anyPosition);
      const profit = holdings.reduce(
        (sum, one) => sum + one.row.realizedMicro + currentMicro(one, quotes) - one.row.costMicro,
        0,
      );
      return [wallet, String(profit)];
    }),
  );
  expect(rows.map((row) => [row.wallet, row.pnl]).sort()).toEqual(expected.sort());
});

it('is that of the documented query for the PnL of a wallet, row by row', async () => {
  const sql = workedQueries.find((one) => one.name === 'walletPnl')?.sql ?? '';
  for (const index of [1, 2]) {
    const wallet = walletFromBytes(bytesOf(20, index));
    const rows = await clickhouse.selectRows<Record<string, string | number>>(sql, { wallet });
    const heldRows = rows.filter((row) => Number(row['held']) > 0);
    const held = await new WalletPositions({ clickhouse }).open(wallet, null);
    const expected = selectHoldings(catalog, held, anyPosition).map((one) => {
      const value = currentMicro(one, quotes);
      const { market, outcome, costMicro } = one.row;
      return [market, outcome, microText(value), microText(value - costMicro)];
    });
    expect(expected.length).toBeGreaterThan(10);
    const shown = (cell: string | number | undefined) => String(Number(cell));
    expect(
      heldRows.map((row) => [
        row['market'],
        row['outcome'],
        shown(row['value']),
        shown(row['unrealized']),
      ]),
    ).toEqual(
      expected.sort(
        ([a = 0, x = 0], [b = 0, y = 0]) => Number(a) - Number(b) || Number(x) - Number(y),
      ),
    );
  }
});

it('is the last point of the histories of both tokens, where there is one', async () => {
  const plan = { fromS: startMs / 1000, toS: endMs / 1000, stepS: 60 };
  for (const [index, [price0Micro]] of histories.entries()) {
    // A history has no payouts and no default price, and for wide books the midpoint.
    if (index >= 5) continue;
    const both = [listing(index + 1, 0), listing(index + 1, 1)];
    const facts = await new TableReads(clickhouse).prices(both, plan);
    const lasts = both.map(({ outcome }, at) =>
      historyPoints(plan, facts[at] ?? noPrices, outcome).at(-1),
    );
    expect([index, ...lasts.map((point) => point?.p)]).toEqual([
      index,
      price0Micro / 1e6,
      (1_000_000 - price0Micro) / 1e6,
    ]);
  }
});

it('leaves the last trade of a token to itself', () => {
  const last = (outcome: 0 | 1) => (quotes.get(token(2, outcome)) ?? noQuote).last;
  expect([last(0), last(1)]).toEqual([3_777, 4_000]);
});
