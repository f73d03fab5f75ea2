import { Catalog } from '@pm/domain/markets/catalog';
import type { Listing } from '@pm/domain/markets/market';
import { openClickHouse } from '@pm/kit/clickhouse';
import { silentLog } from '@pm/kit/log';
import { tables } from '@pm/schemas/tables/tables';
import { historyPoints, noPrices } from '../../src/history/history.ts';
import { WalletPositions } from '../../src/positions/wallet-positions.io.ts';
import { TableReads } from '../../src/tables/tables.io.ts';
import { at, type FreshDatabase, freshDatabase, type Row } from '../fresh-database.ts';
import { marketEntry, token, wallet } from '../in-memory.ts';

/** SQL of positions, holders and prices against real tables. */
let database: FreshDatabase;
let reads: TableReads;
let positions: WalletPositions;
const day = Date.UTC(2026, 5, 1) / 1000;

beforeAll(async () => {
  database = await freshDatabase();
  reads = new TableReads(database.clickhouse);
  positions = new WalletPositions(database);
}, 60_000);

afterAll(() => database.drop());

const minute = (seconds: number) => at(seconds).slice(0, 19);

const position = (changes: Row): Row => ({
  wallet: wallet(1),
  market: 1,
  outcome: 0,
  partition: 0,
  size: '10.5',
  cost: '4.2',
  total_bought: '5',
  shares_bought: '12.5',
  realized_pnl: '-1.25',
  volume: '6',
  updated: at(day),
  version: 1,
  ...changes,
});

describe('positions', () => {
  beforeAll(() =>
    database.fill(tables.positions, [
      position({ version: 1, size: '99' }),
      position({ version: 2 }),
      position({ outcome: 1, size: '0' }),
      position({ market: 2, size: '3.000001' }),
      position({ wallet: wallet(2), size: '1000' }),
    ]),
  );

  it('are the newest rows of the wallet, without empty ones', async () => {
    const first = {
      partition: 0,
      version: 2,
      market: 1,
      outcome: 0,
      sizeMicro: 10_500_000,
      costMicro: 4_200_000,
      totalBoughtMicro: 5_000_000,
      sharesBoughtMicro: 12_500_000,
      realizedMicro: -1_250_000,
      updatedS: day,
    };
    expect(await positions.open(wallet(1), null)).toEqual([
      first,
      { ...first, version: 1, market: 2, sizeMicro: 3_000_001 },
    ]);
    expect(await positions.open(wallet(1), [2, 7])).toMatchObject([{ market: 2 }]);
    expect(await positions.open(wallet(9), null)).toEqual([]);
  });
});

describe('positions and the newest executions', () => {
  const place = { partition: 0, eventIndex: 0, timeMs: day * 1_000 + 5_000 } as const;
  const change = { ...place, wallet: wallet(1), outcome: 0, cause: 'TAKER' } as const;
  const changes = [
    { ...change, market: 1, inOffset: 2, changeMicro: 7, price: 5_000 },
    { ...change, market: 1, inOffset: 3, changeMicro: -10_500_000, price: 5_000 },
    { ...change, market: 4, inOffset: 4, changeMicro: 2_000_000, price: 2_500 },
  ];
  const recent = { holdings: () => ({ cutover: [2], rows: changes, asOf: [] }) };

  it('show what was bought and sold since, once', async () => {
    const newest = new WalletPositions({ ...database, recent });
    const open = await newest.open(wallet(1), null);
    expect(open.map(({ market, sizeMicro }) => [market, sizeMicro])).toEqual([
      [2, 3_000_001],
      [4, 2_000_000],
    ]);
    expect(open[1]).toMatchObject({ costMicro: 500_000, updatedS: day + 5 });
    const closed = await newest.closed(wallet(1), [1]);
    expect(closed.map(({ outcome }) => outcome).sort()).toEqual([0, 1]);
    expect(closed.find(({ outcome }) => outcome === 0)?.realizedMicro).toBe(
      -1_250_000 + 5_250_000 - 4_200_000,
    );
  });
});

describe('holders', () => {
  const catalog = new Catalog();
  for (const market of [1, 2]) catalog.apply(marketEntry(market));
  const markets = [...catalog.markets()];
  const holder = (
    market: number,
    outcome: number,
    owner: number,
    size: string,
    version = 1,
  ): Row => ({
    market,
    outcome,
    wallet: wallet(owner),
    size,
    version,
    cost: '1',
    total_bought: '1',
    realized_pnl: '0',
  });
  beforeAll(() =>
    database.fill(tables.holders, [
      holder(1, 0, 1, '5'),
      holder(1, 0, 2, '7'),
      holder(1, 0, 3, '7'),
      holder(1, 0, 4, '0'),
      holder(1, 0, 5, '100', 1),
      holder(1, 0, 5, '1', 2),
      holder(1, 1, 1, '2'),
      holder(2, 0, 1, '0.999999'),
      holder(3, 0, 1, '50'),
    ]),
  );
  const seen = async (limit: number, minBalanceMicro: number) =>
    (await reads.holders(markets, { limit, minBalanceMicro })).map(
      (row) => `${row.market}:${row.outcome} ${Number(row.wallet)} ${row.sizeMicro}`,
    );

  it('are the largest of each token, equal ones by wallet', async () => {
    expect(await seen(2, 1_000_000)).toEqual(['1:0 2 7000000', '1:0 3 7000000', '1:1 1 2000000']);
    expect(await seen(500, 0)).toHaveLength(6);
    expect(await seen(500, 5_000_000)).toHaveLength(3);
    expect(await seen(500, Number.MAX_SAFE_INTEGER)).toEqual([]);
  });
});

describe('prices', () => {
  const listing = (
    market: number,
    outcome: 0 | 1,
    listedS = day - 86_400 * 90,
    payout0 = -1,
  ): Listing => {
    const catalog = new Catalog();
    catalog.apply({ ...marketEntry(market, { payout0 }), createdAtMs: listedS * 1000 });
    const found = catalog.listing(token(market, outcome));
    if (found === undefined) throw new Error('listed');
    return found;
  };
  const midpoint = (market: number, seconds: number, value: string | null, version = 1): Row => ({
    market,
    bucket: minute(seconds),
    midpoint: value,
    // Histories look at the midpoint alone.
    bid: null,
    ask: null,
    // As offsets are: the later minute has the larger ones.
    version: seconds * 10 + version,
  });
  const candle = (market: number, outcome: number, seconds: number, close: string): Row => ({
    market,
    outcome,
    bucket: minute(seconds),
    open: close,
    high: close,
    low: close,
    close,
    volume: '1',
    notional: '1',
    trades: 1,
    version: seconds,
  });
  beforeAll(async () => {
    await database.fill(tables.midpoints, [
      midpoint(1, day - 7_200, '0.3'),
      midpoint(1, day - 3_600, '0.4'),
      midpoint(1, day - 3_600, '0.41', 2),
      midpoint(1, day, '0.5'),
      midpoint(1, day + 240, '0.52005'),
      midpoint(1, day + 240, '0.52', 0),
      midpoint(1, day + 660, '0.6'),
      midpoint(2, day + 300, '0.7'),
      midpoint(4, day - 40 * 86_400, '0.2'),
      midpoint(4, day - 30 * 86_400, '0.25'),
      midpoint(5, day - 31 * 86_400, '0.5'),
      midpoint(5, day - 30 * 86_400, null),
      midpoint(6, day - 2 * 86_400, '0.45'),
    ]);
    await database.fill(tables.candles, [
      candle(2, 0, day - 60, '0.65'),
      candle(2, 1, day - 60, '0.35'),
      candle(2, 0, day + 60, '0.66'),
      candle(1, 0, day, '0.99'),
      candle(5, 0, day - 40 * 86_400, '0.8'),
      candle(5, 0, day - 35 * 86_400, '0.81'),
      candle(5, 1, day - 60, '0.17'),
    ]);
  });
  const plan = { fromS: day, toS: day + 900, stepS: 300 };

  it('are the newest value of each bucket and the one before the range', async () => {
    const [facts] = await reads.prices([listing(1, 0)], plan);
    expect(facts).toEqual({
      midpointBefore: 410_000,
      midpoints: [
        { bucketS: day, priceMicro: 520_050 },
        { bucketS: day + 600, priceMicro: 600_000 },
      ],
      tradeBefore: null,
      trades: [],
      payout: null,
    });
  });

  it('are the payout from the bucket of the resolution on', async () => {
    const at = { partition: 0, in_offset: 3, event_index: 0, time: minute(day + 400) };
    await database.fill(tables.resolutions, [{ ...at, market: 1, payout0: '1', version: 9 }]);
    const since = day - 86_400 * 90;
    const listings = [listing(1, 0, since, 10_000), listing(1, 1, since, 10_000)];
    const facts = await reads.prices(listings, plan);
    expect(facts[0]?.payout).toEqual({ bucketS: day + 300, priceMicro: 1_000_000 });
    const points = listings.map((one, index) =>
      historyPoints(plan, facts[index] as never, one.outcome).map(({ p }) => p),
    );
    expect(points).toEqual([
      [0.52005, 1, 1],
      [0.47995, 0, 0],
    ]);
  });

  it('make histories of both tokens, by trades until there is a midpoint', async () => {
    const listings = [listing(1, 1), listing(2, 0), listing(2, 1), listing(3, 0)];
    const facts = await reads.prices(listings, plan);
    const points = listings.map((one, index) =>
      historyPoints(plan, facts[index] as never, one.outcome).map(({ p }) => p),
    );
    expect(points).toEqual([[0.47995, 0.47995, 0.4], [0.66, 0.7, 0.7], [0.34, 0.3, 0.3], []]);
  });

  it('know the newest value before the range however long ago it was', async () => {
    const facts = await reads.prices([listing(4, 0), listing(5, 0), listing(5, 1)], plan);
    expect(facts.map(({ midpointBefore, tradeBefore }) => [midpointBefore, tradeBefore])).toEqual([
      [250_000, null],
      [0, 830_000],
      [0, 830_000],
    ]);
  });

  it('are looked for as far back as a market is listed, whatever the clocks say', async () => {
    const firstS = day - 2 * 86_400;
    for (const listedS of [0, firstS - 1, firstS, firstS + 3_000]) {
      const [facts] = await reads.prices([listing(6, 0, listedS)], plan);
      expect(facts?.midpointBefore).toBe(450_000);
    }
    let statements = 0;
    const counted = new TableReads({
      selectRows: (...requested) => {
        statements += 1;
        return database.clickhouse.selectRows(...requested);
      },
    });
    for (const [listedS, due] of [
      [day - 80_000, 2],
      [day - 86_400 * 3, 4],
    ] as const) {
      statements = 0;
      const [facts] = await counted.prices([listing(7, 0, listedS)], plan);
      expect([facts, statements]).toEqual([noPrices, due]);
    }
  });

  it('take the whole history from the year 1970 on', async () => {
    const [facts] = await reads.prices([listing(1, 0)], {
      fromS: 0,
      toS: day + 43_200,
      stepS: 43_200,
    });
    expect(facts?.midpoints).toEqual([
      { bucketS: day - 43_200, priceMicro: 410_000 },
      { bucketS: day, priceMicro: 600_000 },
    ]);
  });
});

it('a server that is away is a fault that passes', async () => {
  const options = { database: 'pm', user: 'default', password: '', log: silentLog };
  const absent = openClickHouse({ url: 'http://127.0.0.1:9', ...options });
  const read = new WalletPositions({ clickhouse: absent }).open(wallet(1), null);
  await expect(read).rejects.toMatchObject({ reaction: 'retry' });
  await absent.close();
});
