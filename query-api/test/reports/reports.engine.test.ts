import { ReadRefusal } from '@pm/domain/reading/refusal';
import { readActivityQuery } from '@pm/domain/reports/activity';
import { readTapeQuery } from '@pm/domain/reports/tape-query';
import { Random } from '@pm/kit/random';
import { tables } from '@pm/schemas/tables/tables';
import type { MarketPositionsSearch } from '../../src/positions/market-positions.ts';
import { readBuilderQuery } from '../../src/reports/builder-trades.ts';
import { Reports } from '../../src/reports/reports.io.ts';
import { code, type Fill, sides, whole } from '../fill-rows.ts';
import { at, type FreshDatabase, freshDatabase, type Row } from '../fresh-database.ts';
import { wallet } from '../in-memory.ts';
import { clockOf } from '../read-clock.ts';

/** SQL of public reports against real tables, judged by a fold of the same random fills. */
let database: FreshDatabase;
let reports: Reports;
const day = Date.UTC(2026, 5, 1) / 1000;

const random = new Random(7);
const below = (count: number) => random.below(count);
const fills: readonly Fill[] = Array.from({ length: 200 }, (_, offset) => ({
  partition: 0,
  offset,
  index: 2,
  seconds: day + offset * 60,
  market: 1 + below(3),
  size: 1 + below(50),
  price: 1 + below(98),
  taker: 1 + below(4),
  maker: 5 + below(4),
  side: below(2) === 0 ? 'BUY' : 'SELL',
  builder: below(3),
}));

beforeAll(async () => {
  database = await freshDatabase();
  reports = new Reports(
    database.clickhouse,
    clockOf(() => day * 1000),
  );
  // Everything twice: a repeated row counts once.
  for (let turn = 0; turn < 2; turn += 1) {
    await database.fill(tables.fills, fills.map(whole));
    await database.fill(tables.walletFills, fills.flatMap(sides));
    await database.fill(tables.tape, fills.flatMap(sides));
    const attributed = fills.filter(({ builder }) => builder > 0);
    await database.fill(
      tables.builderFills,
      attributed.map((fill) => ({ ...whole(fill), role: 'TAKER', builder: code(fill.builder) })),
    );
    const move = (offset: number, action: string, outcome: number, price: number): Row => ({
      partition: 0,
      in_offset: 1_000 + offset,
      event_index: 0,
      action,
      market: 1,
      outcome,
      time: at(day + 100_000 + offset),
      wallet: wallet(1),
      price,
      size: '7.5',
    });
    await database.fill(tables.walletMoves, [
      ...[move(0, 'SPLIT', 0, 0.5), move(0, 'SPLIT', 1, 0.5)],
      ...[move(1, 'REDEEM', 0, 1), move(1, 'REDEEM', 1, 0)],
    ]);
  }
}, 60_000);

afterAll(() => database.drop());

function sound<T>(requested: T | ReadRefusal): T {
  if (requested instanceof ReadRefusal) throw new Error(requested.text);
  return requested;
}

const newest = <T extends { offset: number }>(list: readonly T[]) =>
  [...list].sort((left, right) => right.offset - left.offset).map(({ offset }) => offset);

describe('the public tape', () => {
  const offsets = async (query: Record<string, string>, markets: number[] | null = null) => {
    const requested = sound(readTapeQuery(query, true));
    const rows = await reports.tape({ ...requested, markets });
    return rows.map(({ inOffset }) => Number(inOffset));
  };

  it('is every fill once, newest first, page after page', async () => {
    const all = newest(fills);
    expect(await offsets({ limit: '500' })).toEqual(all);
    expect(await offsets({ limit: '7', offset: '13' })).toEqual(all.slice(13, 20));
  });

  it('passes by wallet, market, side, time and size', async () => {
    const of = (keep: (fill: Fill) => boolean) => newest(fills.filter(keep));
    expect(await offsets({ user: wallet(2), limit: '500' })).toEqual(of((one) => one.taker === 2));
    expect(await offsets({ user: wallet(6), takerOnly: 'false', limit: '500' })).toEqual(
      of((one) => one.maker === 6),
    );
    expect(await offsets({ limit: '500' }, [2])).toEqual(of((one) => one.market === 2));
    expect(await offsets({ limit: '500', side: 'SELL' }, [1, 3])).toEqual(
      of((one) => one.market !== 2 && one.side === 'SELL'),
    );
    expect(await offsets({ limit: '500', takerOnly: 'false' }, [2])).toEqual(
      of((one) => one.market === 2).flatMap((offset) => [offset, offset]),
    );
    const range = { start: String(day + 600), end: String(day + 1_200), limit: '500' };
    expect(await offsets(range)).toEqual(of(({ offset }) => offset >= 10 && offset <= 20));
    const least = { limit: '500', filterAmount: '12.5' };
    expect(await offsets({ ...least, filterType: 'CASH' })).toEqual(
      of((one) => one.size * one.price >= 1_250),
    );
    expect(await offsets({ ...least, filterType: 'TOKENS' })).toEqual(of((one) => one.size >= 13));
  });
});

describe('activity of a wallet', () => {
  const rowsOf = async (query: Record<string, string>) => {
    const requested = sound(readActivityQuery({ user: wallet(1), limit: '500', ...query }, true));
    return await reports.activity({ ...requested, markets: null });
  };

  it('is its trades and its moves, each once', async () => {
    const rows = await rowsOf({});
    expect(rows.slice(0, 2)).toMatchObject([
      { type: 'REDEEM', sizeMicro: 15_000_000, usdcMicro: 7_500_000, outcome: null, side: null },
      { type: 'SPLIT', sizeMicro: 7_500_000, usdcMicro: 7_500_000 },
    ]);
    const traded = newest(fills.filter(({ taker }) => taker === 1));
    expect(rows.slice(2).map(({ inOffset }) => Number(inOffset))).toEqual(traded);
  });

  it('passes by type and side, and is sorted by size and money', async () => {
    expect(await rowsOf({ type: 'SPLIT' })).toHaveLength(1);
    expect(await rowsOf({ type: 'REWARD,CONVERSION' })).toEqual([]);
    const bought = fills.filter(({ taker, side }) => taker === 1 && side === 'BUY');
    expect(await rowsOf({ side: 'BUY' })).toHaveLength(bought.length);
    const cash = (await rowsOf({ sortBy: 'CASH' })).map(({ usdcMicro }) => usdcMicro);
    expect(cash).toEqual([...cash].sort((left, right) => right - left));
    const sizes = (await rowsOf({ sortBy: 'TOKENS', sortDirection: 'ASC' })).map(
      ({ sizeMicro }) => sizeMicro,
    );
    expect(sizes).toEqual([...sizes].sort((left, right) => left - right));
  });
});

describe('trades of builders', () => {
  const offsets = async (query: Record<string, string>, place = {}) => {
    const requested = sound(readBuilderQuery(query));
    const search = { query: requested, market: null, outcome: null, limit: 500, ...place };
    return (await reports.builderTrades({ ...search, after: requested.start.after })).map(
      ({ inOffset }) => Number(inOffset),
    );
  };

  it('are the attributed fills, newest first, by every filter', async () => {
    const of = (keep: (fill: Fill) => boolean) =>
      newest(fills.filter((one) => one.builder > 0 && keep(one)));
    expect(await offsets({})).toEqual(of(() => true));
    expect(await offsets({ builder_code: code(2) })).toEqual(of(({ builder }) => builder === 2));
    expect(await offsets({ maker_address: wallet(3) })).toEqual(of(({ taker }) => taker === 3));
    expect(await offsets({ maker_address: wallet(6) })).toEqual([]);
    expect(await offsets({}, { market: 2, outcome: 0 })).toEqual(of(({ market }) => market === 2));
    expect(await offsets({}, { outcome: 1 })).toEqual([]);
    const [first = 0] = of(() => true);
    expect(await offsets({ id: `0-${first}-2` })).toEqual([first]);
    expect(await offsets({ id: `0-${first}-2-maker` })).toEqual([]);
    const times = { after: String(day + 600), before: String(day + 1_200) };
    expect(await offsets(times)).toEqual(of(({ offset }) => offset > 10 && offset < 20));
  });

  it('add up to their volume, in all and by day', async () => {
    const { value: rows } = await reports.builderVolumes({
      sinceS: day,
      builder: null,
      daily: false,
    });
    for (const { builder, volumeMicro, wallets } of rows) {
      const own = fills.filter((fill) => code(fill.builder) === builder);
      const cents = own.reduce((sum, { size, price }) => sum + size * price, 0);
      expect(volumeMicro).toBe(cents * 10_000);
      expect(wallets).toBe(new Set(own.map(({ taker }) => taker)).size);
    }
    expect(rows).toHaveLength(2);
    const { value: daily } = await reports.builderVolumes({
      sinceS: day,
      builder: code(1),
      daily: true,
    });
    expect(daily).toMatchObject([{ day: '2026-06-01' }]);
  });

  it('give makers the fees of their fills', async () => {
    const made = fills.filter(({ maker }) => maker === 5);
    const rows = await reports.makerFees(wallet(5), day);
    expect(rows).toEqual(
      [1, 2, 3].map((market) => ({
        market,
        feesMicro: made.filter((fill) => fill.market === market).length * 500_000,
      })),
    );
    expect(await reports.makerFees(wallet(5), day + 86_400)).toEqual([]);
  });
});

describe('the last second before a bound', () => {
  // A month of its own is a part of its own: nothing else keeps its rows from being pruned.
  const last: Fill = {
    partition: 0,
    offset: 5_000,
    index: 2,
    market: 9,
    seconds: Date.UTC(2026, 6, 31, 23, 59, 59, 471) / 1000,
    size: 10,
    price: 50,
    taker: 11,
    maker: 12,
    side: 'BUY',
    builder: 7,
  };
  const midnight = Date.UTC(2026, 7, 1) / 1000;
  const bound = { end: String(midnight - 1) };
  beforeAll(async () => {
    await database.fill(tables.fills, [whole(last)]);
    await database.fill(tables.walletFills, sides(last));
    await database.fill(tables.tape, sides(last));
    await database.fill(tables.builderFills, [
      { ...whole(last), role: 'TAKER', builder: code(last.builder) },
    ]);
  });

  it('is read by every report that has one', async () => {
    const requested = sound(readBuilderQuery({ builder: code(7), before: String(midnight) }));
    const attributed = await reports.builderTrades({
      query: requested,
      market: null,
      outcome: null,
      after: null,
      limit: 10,
    });
    const tapes = [{ market: '' }, { user: wallet(11) }].map(async (query) =>
      reports.tape({
        ...sound(readTapeQuery({ ...query, ...bound, start: String(midnight - 60) }, true)),
        markets: null,
      }),
    );
    const activity = await reports.activity({
      ...sound(readActivityQuery({ user: wallet(11), ...bound }, true)),
      markets: null,
    });
    const counts = [attributed, ...(await Promise.all(tapes)), activity].map((rows) => rows.length);
    expect(counts).toEqual([1, 1, 1, 1]);
    expect(await reports.makerFees(wallet(12), midnight - 86_400)).toEqual([
      { market: 9, feesMicro: 500_000 },
    ]);
  });
});

describe('positions of a market', () => {
  const row = (market: number, outcome: number, owner: number, size: number): Row => ({
    market,
    outcome,
    wallet: wallet(owner),
    size,
    cost: owner,
    total_bought: 9,
    version: 1,
    realized_pnl: -owner,
  });
  beforeAll(() =>
    database.fill(tables.holders, [
      ...[row(1, 0, 1, 10), row(1, 0, 2, 30), row(1, 0, 3, 0), row(1, 1, 4, 40), row(2, 0, 1, 5)],
    ]),
  );
  const base: MarketPositionsSearch = {
    market: 1,
    user: null,
    status: 'ALL',
    sortBy: 'TOKENS',
    sortDirection: 'DESC',
    limit: 10,
    offset: 0,
    pricesMicro: [500_000, 500_000],
  };
  const owners = async (changes: Partial<MarketPositionsSearch>) =>
    (await reports.marketPositions({ ...base, ...changes })).map(
      (one) => `${one.outcome}:${Number(one.wallet)}`,
    );

  it('are sorted and cut per token', async () => {
    expect(await owners({})).toEqual(['0:2', '0:1', '0:3', '1:4']);
    expect(await owners({ status: 'OPEN', limit: 1 })).toEqual(['0:2', '1:4']);
    expect(await owners({ status: 'CLOSED' })).toEqual(['0:3']);
    expect(await owners({ sortBy: 'REALIZED_PNL' })).toEqual(['0:1', '0:2', '0:3', '1:4']);
    expect(await owners({ sortBy: 'TOTAL_PNL', sortDirection: 'ASC' })).toEqual([
      ...['0:3', '0:1', '0:2', '1:4'],
    ]);
    expect(await owners({ user: wallet(1) })).toEqual(['0:1']);
  });

  it('add up to the supply', async () => {
    const first = { market: 1, size0Micro: 40_000_000, size1Micro: 40_000_000 };
    expect(await reports.supply([1])).toEqual([first]);
    expect((await reports.wholeSupply()).value).toHaveLength(2);
  });
});
