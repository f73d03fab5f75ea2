import { noQuote, type Quote } from '@pm/domain/books/quote';
import { Catalog } from '@pm/domain/markets/catalog';
import { marketNumbers } from '@pm/domain/markets/market-filter';
import { type HeldRow, positionsPage, selectHoldings } from '@pm/domain/positions/positions';
import { type PositionsQuery, readPositionsQuery } from '@pm/domain/positions/positions-query';
import type { RawQuery } from '@pm/domain/reading/query-reader';
import { ReadRefusal } from '@pm/domain/reading/refusal';
import { type PositionSort, positionSorts } from '@pm/schemas/http/report-choices';
import { eventEntry, marketEntry, token, wallet } from '../in-memory.ts';

const user = wallet(1);

function queryOf(query: RawQuery): PositionsQuery {
  const read = readPositionsQuery({ user, ...query }, true);
  if (read instanceof ReadRefusal) throw new Error(read.text);
  return read;
}

const held = (market: number, changes: Partial<HeldRow> = {}): HeldRow => ({
  market,
  outcome: 0,
  sizeMicro: 100_000_000,
  costMicro: 50_000_000,
  totalBoughtMicro: 50_000_000,
  sharesBoughtMicro: 100_000_000,
  realizedMicro: 0,
  updatedS: 1_782_753_357,
  ...changes,
});

function catalogOf(...markets: readonly [number, object?][]): Catalog {
  const catalog = new Catalog();
  catalog.apply(eventEntry('1'));
  for (const [market, changes] of markets) catalog.apply(marketEntry(market, changes));
  return catalog;
}

function page(
  catalog: Catalog,
  rows: readonly HeldRow[],
  query: RawQuery = {},
  quotes: ReadonlyMap<string, Quote> = new Map(),
) {
  const requested = queryOf(query);
  // Markets that are requested from the table.
  const markets = marketNumbers(catalog, requested);
  const read = rows.filter(({ market }) => markets?.includes(market) ?? true);
  const holdings = selectHoldings(catalog, read, requested);
  return positionsPage(holdings, requested, {
    catalog,
    quotes: quotes as never,
    wallet: user,
    form: 'indexed',
  });
}

describe('a position', () => {
  it('follows the formulas of the published samples', () => {
    // K-DATA: size 1185.42 at 0.41 now worth 623.55; realized 212.48 of 1625 bought.
    const row = held(1, {
      sizeMicro: 1_185_420_000,
      costMicro: 486_020_000,
      totalBoughtMicro: 1_625_000_000,
      realizedMicro: 212_480_000,
    });
    const quotes = new Map([[token(1, 0), { ...noQuote, bid: 5240, ask: 5280 }]]);
    const [position] = page(catalogOf([1]), [row], {}, quotes);
    expect(position).toMatchObject({
      size: 1185.42,
      initialValue: 486.02,
      totalBought: 1625,
      realizedPnl: 212.48,
      curPrice: 0.526,
    });
    expect(position?.avgPrice).toBeCloseTo(0.41, 4);
    expect(position?.currentValue).toBeCloseTo(623.53, 2);
    expect(position?.cashPnl).toBeCloseTo(623.55 - 486.02, 1);
    expect(position?.percentPnl).toBeCloseTo(28.3, 1);
    expect(position?.percentRealizedPnl).toBeCloseTo(13.07, 1);
  });

  it.each([
    // Worth 0.5 a share, so 100 shares are worth 50.
    ['a third more than it cost', { costMicro: 37_500_000 }, { percentPnl: 33.3333 }],
    [
      'a sixth of the cost',
      { realizedMicro: 25, totalBoughtMicro: 150 },
      { percentRealizedPnl: 16.6667 },
    ],
    [
      'a sixth lost',
      { realizedMicro: -25, totalBoughtMicro: 150 },
      { percentRealizedPnl: -16.6667 },
    ],
    [
      'half a step',
      { realizedMicro: 1, totalBoughtMicro: 2_000_000 },
      { percentRealizedPnl: 0.0001 },
    ],
    [
      'half a step lost',
      { realizedMicro: -1, totalBoughtMicro: 2_000_000 },
      { percentRealizedPnl: -0.0001 },
    ],
    [
      'less than half a step',
      { realizedMicro: -1, totalBoughtMicro: 2_000_001 },
      { percentRealizedPnl: 0 },
    ],
    ['beyond 2^53', { realizedMicro: 9e15, totalBoughtMicro: 8e15 }, { percentRealizedPnl: 112.5 }],
    [
      'a millionth and a half a share',
      { sizeMicro: 2_000_000, costMicro: 3 },
      { avgPrice: 0.000002 },
    ],
    ['a third of a millionth a share', { sizeMicro: 3_000_000, costMicro: 1 }, { avgPrice: 0 }],
  ])('rounds halves away from zero: %s', (_title, changes, due) => {
    expect(page(catalogOf([1]), [held(1, changes)])).toMatchObject([due]);
  });

  it('has no percentages of nothing', () => {
    const [position] = page(catalogOf([1]), [held(1, { costMicro: 0, totalBoughtMicro: 0 })]);
    expect(position).toMatchObject({ percentPnl: 0, percentRealizedPnl: 0, avgPrice: 0 });
  });

  it('is worth its payout once the market is resolved, and redeemable', () => {
    const catalog = catalogOf([1, { payout0: 10_000, mode: 'RESOLVED', closed: true }]);
    const [won, lost] = page(catalog, [held(1), held(1, { outcome: 1, sizeMicro: 50_000_000 })]);
    expect(won).toMatchObject({
      curPrice: 1,
      currentValue: 100,
      redeemable: true,
      mergeable: true,
    });
    expect(lost).toMatchObject({
      curPrice: 0,
      currentValue: 0,
      redeemable: true,
      oppositeOutcome: 'Yes',
    });
  });

  it('stays exact for amounts whose product passes 2^53', () => {
    const row = held(1, { sizeMicro: 9_000_000_000_000_000, costMicro: 4_500_000_000_000_000 });
    expect(page(catalogOf([1]), [row])[0]).toMatchObject({
      avgPrice: 0.5,
      currentValue: 4_500_000_000,
      cashPnl: 0,
    });
  });
});

describe('filters of positions', () => {
  const catalog = catalogOf(
    [1],
    [2, { question: 'Will 100% WIN?', eventId: '9' }],
    [3, { payout0: 0 }],
  );
  const rows = [
    held(1),
    held(1, { outcome: 1, sizeMicro: 1_000_000 }),
    held(2, { sizeMicro: 999_999 }),
    held(3),
    held(4),
  ];
  const markets = (query: RawQuery) => page(catalog, rows, query).map((one) => one.title);

  it.each<[string, RawQuery, number]>([
    ['shows what reaches the threshold, and knows only listed markets', {}, 3],
    ['takes the threshold as inclusive', { sizeThreshold: '0.999999' }, 4],
    ['rounds a finer threshold up', { sizeThreshold: '0.9999991' }, 3],
    ['redeemable', { redeemable: 'true' }, 1],
    ['mergeable', { mergeable: 'TRUE' }, 2],
    ['title without case, wildcards taken literally', { title: '100% win', sizeThreshold: '0' }, 1],
    ['a title that none has', { title: '%', sizeThreshold: '100' }, 0],
    ['event', { eventId: '9', sizeThreshold: '0' }, 1],
    ['offset beyond the end', { offset: '10000' }, 0],
    ['limit', { limit: '1' }, 1],
    ['limit 0', { limit: '0' }, 0],
  ])('%s', (_title, query, count) => {
    expect(markets(query)).toHaveLength(count);
  });
});

describe('sorting of positions', () => {
  const catalog = catalogOf([1, { question: 'b' }], [2, { question: 'A' }], [3, { question: 'c' }]);
  const rows = [
    held(1, { sizeMicro: 3_000_000, costMicro: 900_000 }),
    held(2, { sizeMicro: 1_000_000, costMicro: 800_000 }),
    held(3, { sizeMicro: 2_000_000, costMicro: 1_000_000 }),
  ];
  const quotes = new Map(
    [4000, 9000, 5000].map((price, index) => [
      token(index + 1, 0),
      { ...noQuote, bid: price, ask: price },
    ]),
  );
  const ascending: Record<PositionSort, string> = {
    TOKENS: '2 3 1',
    CURRENT: '2 3 1',
    INITIAL: '2 1 3',
    CASHPNL: '3 2 1',
    PERCENTPNL: '3 2 1',
    TITLE: '2 1 3',
    RESOLVING: '1 2 3',
    PRICE: '1 3 2',
    AVGPRICE: '1 3 2',
  };
  const order = (query: RawQuery) =>
    page(catalog, rows, query, quotes)
      .map((one) => one.slug.slice(-1))
      .join(' ');

  it.each(positionSorts)('%s, both ways', (sortBy) => {
    expect(order({ sortBy, sortDirection: 'ASC' })).toBe(ascending[sortBy]);
    expect(order({ sortBy, sortDirection: 'DESC' })).toBe(
      ascending[sortBy].split(' ').reverse().join(' '),
    );
  });

  it('is by TOKENS DESC without a word and breaks ties by asset', () => {
    expect(order({})).toBe('1 3 2');
    const equal = [held(3), held(1), held(2)];
    for (const sortDirection of ['ASC', 'DESC']) {
      expect(page(catalog, equal, { sortDirection }).map((one) => one.slug)).toEqual([
        'market-1',
        'market-2',
        'market-3',
      ]);
    }
  });
});
