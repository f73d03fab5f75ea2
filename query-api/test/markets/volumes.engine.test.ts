import { windowStarts } from '@pm/domain/markets/figures';
import { Fault } from '@pm/kit/fault';
import { tables } from '@pm/schemas/tables/tables';
import { seeded } from '../../../kit/test/seeded.ts';
import { BookMarks, type PastBooks } from '../../src/markets/book-marks.io.ts';
import { type TapeFigures, VolumeSums } from '../../src/markets/volumes.io.ts';
import { at, type FreshDatabase, freshDatabase, type Row } from '../fresh-database.ts';
import { wallet } from '../in-memory.ts';

/** Figures that are settled piece by piece against those of all fills and all books. */
const startS = Date.UTC(2026, 5, 1) / 1000;
let database: FreshDatabase;

beforeAll(async () => {
  database = await freshDatabase();
}, 60_000);

afterAll(() => database.drop());

interface Trade {
  readonly index: number;
  readonly market: number;
  readonly timeS: number;
  readonly size: number;
  /** Price in 1/10000 USDC. */
  readonly price: number;
}

/** Both sides of a fill, as the tape has them; the taker's is of token 0 or 1, the maker's of the other one. */
function rowsOf({ index, market, timeS, size, price }: Trade): Row[] {
  const place = { partition: 1, in_offset: index, event_index: 0, time: at(timeS), market, size };
  const outcome = index % 2;
  const taker = { role: 'TAKER', wallet: wallet(1), outcome, side: 'BUY', price: price / 10_000 };
  const rest = (10_000 - price) / 10_000;
  const maker = {
    role: 'MAKER',
    wallet: wallet(2),
    outcome: 1 - outcome,
    side: 'BUY',
    price: rest,
  };
  return [taker, maker].map((side) => ({ ...place, ...side }));
}

/** Which rows are settled, as the reads before have left them. */
class Settled {
  #starts = { day: 0, week: 0, month: 0, year: 0 };

  /** The moments of past trades: starts of windows, as far as the table is complete, never earlier than before. */
  at(nowMs: number, throughMs: number | null) {
    const throughS = Math.floor((throughMs ?? 0) / 1000);
    const starts = windowStarts(nowMs);
    const later = (name: keyof typeof starts) =>
      Math.max(this.#starts[name], Math.min(starts[name], throughS));
    this.#starts = {
      day: later('day'),
      week: later('week'),
      month: later('month'),
      year: later('year'),
    };
    return this.#starts;
  }
}

function figuresOf(
  trades: readonly Trade[],
  nowMs: number,
  settled: { readonly day: number; readonly week: number; readonly month: number },
): ReadonlyMap<number, TapeFigures> {
  const starts = windowStarts(nowMs);
  return new Map(
    [...new Set(trades.map(({ market }) => market))].map((market): [number, TapeFigures] => {
      const own = trades.filter((trade) => trade.market === market);
      const since = (startS: number) =>
        own
          .filter(({ timeS }) => timeS >= startS)
          .reduce((sum, { size, price }) => sum + size * price * 100, 0);
      const before = (endS: number) => {
        const last = own
          .filter(({ timeS }) => timeS < endS)
          .reduce<Trade | null>(
            (newest, trade) => (newest && newest.index > trade.index ? newest : trade),
            null,
          );
        if (last === null) return null;
        return last.index % 2 === 0 ? last.price : 10_000 - last.price;
      };
      const volume = {
        volumeMicro: since(0),
        dayVolumeMicro: since(starts.day),
        weekVolumeMicro: since(starts.week),
        monthVolumeMicro: since(starts.month),
        yearVolumeMicro: since(starts.year),
      };
      const { day, week, month } = settled;
      const past = { day: before(day), week: before(week), month: before(month) };
      return [market, { volume, trades: { now: before(Number.POSITIVE_INFINITY), ...past } }];
    }),
  );
}

test('volumes are those of all fills, however many were settled before, and whichever table is served', async () => {
  const { clickhouse, fill } = database;
  const next = seeded(7);
  let throughMs: number | null = null;
  const store = new VolumeSums({ clickhouse, completeThroughMs: () => throughMs });
  const trades: Trade[] = [];
  const settled = new Settled();
  expect(await store.read(startS * 1000)).toEqual(new Map());
  // The last step is longer than a day after the one before.
  for (const [step, hours] of [6, 12, 30, 36, 54, 66, 120].entries()) {
    const stepS = startS + hours * 3_600;
    // The largest orders there are: their notional has more digits than a narrow decimal.
    const some = Array.from({ length: 20 }, (_, index) => ({
      index: step * 100 + index,
      market: 1 + next(3),
      timeS: stepS - 3_000 + index * 150 + next(150),
      size: 1 + next(9_999_999),
      price: 1 + next(9_999),
    }));
    trades.push(...some);
    await fill(tables.tape, some.flatMap(rowsOf));
    const nowMs = stepS * 1000 + next(5_000);
    for (const through of [throughMs, (stepS - 3_000) * 1000 + next(900), throughMs]) {
      throughMs = through;
      expect(await store.read(nowMs)).toEqual(
        figuresOf(trades, nowMs, settled.at(nowMs, throughMs)),
      );
    }
    throughMs = (stepS - 1_500) * 1000 + next(900);
    // Later rows are not before the moment through which the tables are complete.
    trades.push({
      index: step * 100 + 99,
      market: 1,
      timeS: stepS + next(9),
      size: 3,
      price: 5,
    });
    await fill(tables.tape, trades.slice(-1).flatMap(rowsOf));
    expect(await store.read(nowMs)).toEqual(figuresOf(trades, nowMs, settled.at(nowMs, throughMs)));
  }
  // A rebuild puts another table in its place.
  await clickhouse.command(`CREATE TABLE rebuilt AS ${tables.tape.name}`);
  const kept = trades.filter(({ market }) => market !== 2);
  await clickhouse.command(
    `INSERT INTO rebuilt SELECT * FROM ${tables.tape.name} WHERE market != 2`,
  );
  await clickhouse.command(`EXCHANGE TABLES rebuilt AND ${tables.tape.name}`);
  const nowMs = (startS + 90 * 3_600) * 1000;
  const again = new Settled().at(nowMs, throughMs);
  expect(await store.read(nowMs)).toEqual(figuresOf(kept, nowMs, again));
}, 60_000);

describe('sixteen months of trades', () => {
  const endS = startS + 200 * 86_400;
  const trades = Array.from({ length: 960 }, (_, back) => ({
    index: 10_960 - back,
    market: 1 + (back % 3),
    timeS: endS - back * 43_200 - 60,
    size: 1 + back,
    price: 1 + back,
  }));

  beforeAll(async () => {
    await database.clickhouse.command(`TRUNCATE TABLE ${tables.tape.name}`);
    await database.fill(tables.tape, trades.flatMap(rowsOf));
  }, 60_000);

  test('are read once, and then only the rows that came and left', async () => {
    const spans: { readonly from: number; readonly to: number }[] = [];
    const clickhouse = {
      selectRows: <T>(sql: string, params: Record<string, number> = {}) => {
        if (params['from'] !== undefined)
          spans.push({ from: params['from'], to: params['to'] ?? 0 });
        return database.clickhouse.selectRows<T>(sql, params);
      },
    };
    let nowMs = endS * 1000;
    const store = new VolumeSums({ clickhouse, completeThroughMs: () => nowMs - 2_000 });
    const settled = new Settled();
    const expected = () => figuresOf(trades, nowMs, settled.at(nowMs, nowMs - 2_000));
    expect(await store.read(nowMs)).toEqual(expected());
    expect(spans.length).toBeLessThan(40);
    for (let round = 0; round < 5; round += 1) {
      spans.length = 0;
      nowMs += 1_800_000;
      expect(await store.read(nowMs)).toEqual(expected());
      // Seconds of the rows that came, and of those that left each of the four windows.
      const read = spans.map(({ from, to }) => Math.min(to, nowMs / 1000) - from);
      expect(read.reduce((sum, seconds) => sum + seconds, 0)).toBeLessThanOrEqual(5 * 1_800 + 2);
    }
  });

  test('are added up though statements fail, each time', async () => {
    const next = seeded(3);
    const clickhouse = {
      selectRows: <T>(sql: string, params: Record<string, number> = {}) => {
        if (next(3) === 0) throw new Fault('clickhouse_busy', 'retry');
        return database.clickhouse.selectRows<T>(sql, params);
      },
    };
    const throughMs = endS * 1000 - 2_000;
    const store = new VolumeSums({ clickhouse, completeThroughMs: () => throughMs });
    let failed = 0;
    for (let hour = 0; hour < 30; hour += 1) {
      const nowMs = (endS + hour * 3_600) * 1000;
      const volumes = await store.read(nowMs).catch(() => null);
      if (volumes === null) failed += 1;
      else expect(volumes).toEqual(figuresOf(trades, nowMs, new Settled().at(nowMs, throughMs)));
    }
    expect(failed).toBeGreaterThan(5);
    expect(failed).toBeLessThan(29);
  });
});

test('best prices of a day, week and month ago are those of the newest minute before', async () => {
  const { clickhouse, fill } = database;
  const next = seeded(11);
  const endS = startS + 80 * 86_400;
  // A row of each market every two days, the newest ones after the moment through which the tables are complete.
  const rows = Array.from({ length: 120 }, (_, index) => {
    const bucketS = endS - Math.floor((119 - index) / 3) * 2 * 86_400 - 60;
    const bid = next(3) === 0 ? 0 : 1 + next(4_000);
    const ask = next(3) === 0 ? 10_000 : 5_000 + next(5_000);
    return { market: 1 + (index % 3), bucketS, bid, ask, version: index };
  });
  await fill(
    tables.midpoints,
    rows.map(({ market, bucketS, bid, ask, version }) => ({
      market,
      bucket: new Date(bucketS * 1000).toISOString().slice(0, 19).replace('T', ' '),
      midpoint: bid === 0 || ask === 10_000 ? null : (bid + ask) / 20_000,
      bid: bid === 0 ? null : bid / 10_000,
      ask: ask === 10_000 ? null : ask / 10_000,
      version,
    })),
  );
  let nowMs = endS * 1000;
  const store = new BookMarks({ clickhouse, completeThroughMs: () => nowMs - 90_000 });
  for (let step = 0; step < 4; step += 1) {
    const { day, week, month } = windowStarts(nowMs);
    const before = (market: number, endOfS: number) => {
      const own = rows.filter((row) => row.market === market && row.bucketS < endOfS);
      const newest = own.at(-1);
      return newest === undefined ? null : { bid: newest.bid, ask: newest.ask };
    };
    const minute = (seconds: number) => seconds - (seconds % 60);
    const expected = [1, 2, 3].map((market): [number, PastBooks] => [
      market,
      {
        now: before(market, Number.POSITIVE_INFINITY) ?? { bid: -1, ask: -1 },
        day: before(market, minute(day)),
        week: before(market, minute(week)),
        month: before(market, minute(month)),
      },
    ]);
    expect(await store.read(nowMs)).toEqual(new Map(expected));
    nowMs += 31 * 3_600_000;
  }
});
