import { anyTrade, type FillRow } from '@pm/domain/orders/trades';
import type { ActivitySearch } from '@pm/domain/reports/activity';
import type { BuilderRow } from '@pm/domain/reports/rows';
import type { TapeSearch } from '@pm/domain/reports/tape-query';
import { tables } from '@pm/schemas/tables/tables';
import { seeded } from '../../../kit/test/seeded.ts';
import type { OpenOrderRow } from '../../src/orders/open-orders.ts';
import type { MarketPositionsSearch } from '../../src/positions/market-positions.ts';
import { OwnRecords } from '../../src/recent/own-reads.io.ts';
import { RecentLog } from '../../src/recent/recent-log.ts';
import type { BuilderQuery } from '../../src/reports/builder-trades.ts';
import { Reports } from '../../src/reports/reports.io.ts';
import { code, type Fill, sides, whole } from '../fill-rows.ts';
import { at, type FreshDatabase, freshDatabase, type Row } from '../fresh-database.ts';
import { apiKey, wallet } from '../in-memory.ts';
import { clockOf } from '../read-clock.ts';
import { type Page, walked, walkedBehind } from '../walked.ts';

/**
 * Every list that tables answer page by page: each row once whatever the size of the pages, in an order that does not
 * depend on how rows are stored. The rows tie in all that lists are sorted by, and most fills are of a wallet with
 * itself.
 */
let database: FreshDatabase;
let reports: Reports;
let own: OwnRecords;
const day = Date.UTC(2026, 5, 1) / 1000;

const below = seeded(11);
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at + 1);

/** Two fills a record, of two partitions whose clocks show the same. */
const fills = upTo(9).map(
  (one): Fill => ({
    partition: one % 2,
    offset: Math.floor(one / 4),
    index: Math.floor(one / 2) % 2,
    seconds: day + Math.floor(one / 8),
    market: 1 + below(2),
    size: 5,
    price: 50,
    taker: 1,
    maker: one % 3 === 0 ? 2 : 1,
    side: below(2) === 0 ? 'BUY' : 'SELL',
    builder: 1,
  }),
);
const moves = [0, 1].flatMap((offset) =>
  [0, 1].map(
    (outcome): Row => ({
      partition: 0,
      in_offset: 100 + offset,
      event_index: 0,
      time: at(day),
      wallet: wallet(1),
      action: 'SPLIT',
      market: 1,
      outcome,
      price: 0.5,
      size: 5,
    }),
  ),
);
const orders = upTo(9).map(
  (one): Row => ({
    wallet: wallet(1),
    order_id: code(one),
    api_key: apiKey(1),
    market: 1,
    outcome: 0,
    placed_at: at(day),
    partition: one % 2,
    version: Math.floor(one / 4),
    ended: 0,
  }),
);
const owners = upTo(7).map(wallet);
const held = owners.flatMap((owner) =>
  [0, 1].map(
    (outcome): Row => ({
      market: 1,
      outcome,
      wallet: owner,
      size: 10,
      cost: 4,
      total_bought: 9,
      realized_pnl: 3,
      version: 1,
    }),
  ),
);

beforeAll(async () => {
  database = await freshDatabase();
  const { clickhouse } = database;
  reports = new Reports(
    clickhouse,
    clockOf(() => (day + 60) * 1000),
  );
  own = new OwnRecords({ clickhouse, recent: new RecentLog(), settle: async () => true });
  const bySide = fills.flatMap(sides);
  const attributed = fills.flatMap((fill) =>
    ['TAKER', 'MAKER'].map((role) => ({ ...whole(fill), role, builder: code(1) })),
  );
  const all = [
    [tables.fills, fills.map(whole)],
    [tables.walletFills, bySide],
    [tables.tape, bySide],
    [tables.builderFills, attributed],
    [tables.walletMoves, moves],
    [tables.openOrders, orders],
    [tables.holders, held],
  ] as const;
  // In parts of their own, some of it twice: a repeated row counts once.
  const parts = [
    (at: number) => at % 3 > 0,
    (at: number) => at % 3 === 0,
    (at: number) => at % 5 === 0,
  ];
  for (const isIn of parts) {
    for (const [table, rows] of all)
      await database.fill(
        table,
        rows.filter((_, at) => isIn(at)),
      );
  }
}, 60_000);

afterAll(() => database.drop());

/** A list, all that is due in it, and how a page of it is read. */
interface List {
  readonly name: string;
  readonly due: readonly string[];
  /** All rows, read in pages of so many. */
  walk(limit: number): Promise<readonly string[]>;
}

const byOffset =
  (read: (page: Page) => Promise<readonly string[]>): List['walk'] =>
  (limit) =>
    walked(limit, read);

const placeOf = (row: { partition: number; inOffset: string; eventIndex: number }) =>
  `${row.partition}-${row.inOffset}-${row.eventIndex}`;
const placeOfFill = ({ partition, offset, index }: Fill) => `${partition}-${offset}-${index}`;
const directions = ['ASC', 'DESC'] as const;

/** Place, wallet and side of both sides of fills, the taker's first. */
const sidesOf = (fill: Fill): readonly [string, string] => {
  const other = fill.side === 'BUY' ? 'SELL' : 'BUY';
  const place = placeOfFill(fill);
  return [`${place} ${wallet(fill.taker)} ${fill.side}`, `${place} ${wallet(fill.maker)} ${other}`];
};

function ledgers(): readonly List[] {
  const any: Omit<TapeSearch, keyof Page> = {
    user: null,
    side: null,
    takerOnly: false,
    least: null,
    startS: null,
    endS: null,
    markets: null,
  };
  const ledger = (name: string, search: Partial<TapeSearch>): List => ({
    name: `trades of ${name}`,
    due: fills
      .filter(({ market }) => search.markets?.includes(market) ?? true)
      .flatMap((fill) => sidesOf(fill).slice(0, search.takerOnly === true ? 1 : 2))
      .filter((side) => side.includes(search.user ?? '')),
    walk: byOffset(async (page) => {
      const rows = await reports.tape({ ...any, ...search, ...page });
      return rows.map((row) => `${placeOf(row)} ${row.wallet} ${row.side}`);
    }),
  });
  return [
    ledger('everybody', {}),
    ledger('all takers', { takerOnly: true }),
    ledger('a market', { markets: [1] }),
    ledger('takers of markets', { markets: [1, 2], takerOnly: true }),
    ledger('a wallet', { user: wallet(1) }),
    ledger('a wallet as taker', { user: wallet(1), takerOnly: true }),
  ];
}

function activities(): readonly List[] {
  const any: Omit<ActivitySearch, keyof Page | 'sortBy' | 'sortDirection'> = {
    user: wallet(1),
    types: null,
    side: null,
    startS: null,
    endS: null,
    markets: null,
  };
  const traded = fills.flatMap(sidesOf).filter((side) => side.includes(wallet(1)));
  return (['TIMESTAMP', 'TOKENS', 'CASH'] as const).flatMap((sortBy) =>
    directions.map((sortDirection) => ({
      name: `activity by ${sortBy} ${sortDirection}`,
      due: [...traded, ...[100, 101].map((offset) => `0-${offset}-0 ${wallet(1)} null`)],
      walk: byOffset(async (page) => {
        const rows = await reports.activity({ ...any, sortBy, sortDirection, ...page });
        return rows.map((row) => `${placeOf(row)} ${wallet(1)} ${row.side}`);
      }),
    })),
  );
}

function builderTrades(): List {
  const any: BuilderQuery = {
    place: null,
    wallet: null,
    condition: null,
    asset: null,
    builder: null,
    beforeS: null,
    afterS: null,
  };
  return {
    name: 'trades of builders',
    due: fills.map(placeOfFill).flatMap((place) => [`${place} TAKER`, `${place} MAKER`]),
    walk: async (limit) => {
      const search = { query: any, market: null, outcome: null, limit };
      const read = (after: BuilderRow | null) => reports.builderTrades({ ...search, after });
      return (await walkedBehind(limit, read)).map((row) => `${placeOf(row)} ${row.role}`);
    },
  };
}

/** A page of them is one of each token. */
function positions(): readonly List[] {
  const any: Omit<MarketPositionsSearch, keyof Page | 'sortBy' | 'sortDirection'> = {
    market: 1,
    user: null,
    status: 'ALL',
    pricesMicro: [500_000, 500_000],
  };
  return (['TOKENS', 'CASH_PNL', 'REALIZED_PNL', 'TOTAL_PNL'] as const).flatMap((sortBy) =>
    directions.map((sortDirection) => ({
      name: `positions of a market by ${sortBy} ${sortDirection}`,
      due: owners,
      walk: byOffset(async (page) => {
        const rows = await reports.marketPositions({ ...any, sortBy, sortDirection, ...page });
        return rows.filter(({ outcome }) => outcome === 1).map((row) => row.wallet);
      }),
    })),
  );
}

function ownLists(): readonly List[] {
  const keys = new Set([apiKey(1), apiKey(2)]);
  const wallets = [wallet(1), wallet(2)];
  const any = { keys, market: null, outcome: null };
  const trades = (name: string, maker: Fill['maker'] | null): List => ({
    name: `own trades ${name}`,
    due: fills.filter((fill) => maker === null || fill.maker === maker).map(placeOfFill),
    walk: async (limit) => {
      const query = { ...anyTrade, maker: maker === null ? null : wallet(maker) };
      const search = { ...any, wallets: new Set(wallets), query, limit };
      const read = async (after: FillRow | null) => (await own.trades({ ...search, after })).rows;
      return (await walkedBehind(limit, read)).map(placeOf);
    },
  });
  const openOrders: List = {
    name: 'own open orders',
    due: orders.map((row) => String(row['order_id'])),
    walk: async (limit) => {
      const search = { ...any, wallets, orderId: null, limit };
      const read = async (after: OpenOrderRow | null) =>
        (await own.openOrders({ ...search, after })).rows;
      return (await walkedBehind(limit, read)).map(({ orderId }) => orderId);
    },
  };
  return [trades('of both', null), trades('made by one', 2), openOrders];
}

const lists = [...ledgers(), ...activities(), builderTrades(), ...positions(), ...ownLists()];
const entire = ({ due, walk }: List) => walk(due.length + 1);

it.each(lists)('$name: each row is on one page, whatever their size', async (list) => {
  const all = await entire(list);
  expect([...all].sort()).toEqual([...list.due].sort());
  for (const limit of upTo(list.due.length)) {
    expect([limit, await list.walk(limit)]).toEqual([limit, all]);
  }
});

it('stays in its order when the parts are merged', async () => {
  const orderOf = async () => {
    const found: (readonly [string, readonly string[]])[] = [];
    for (const list of lists) found.push([list.name, await entire(list)]);
    return found;
  };
  const before = await orderOf();
  for (const { name } of Object.values(tables)) {
    await database.clickhouse.command(`OPTIMIZE TABLE ${name} FINAL`);
  }
  expect(await orderOf()).toEqual(before);
});
