import { Fault } from '@pm/kit/fault';
import { tables } from '@pm/schemas';
import { seeded } from '../../../kit/test/seeded.ts';
import type { Volume } from '../../src/markets/figures.ts';
import { VolumeSums } from '../../src/markets/volumes.io.ts';
import { at, type FreshDatabase, freshDatabase, type Row } from '../fresh-database.ts';
import { wallet } from '../in-memory.ts';

/** Sums that are settled piece by piece against those of all fills. */
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
  /** Of a 10,000th. */
  readonly price: number;
}

/** Both sides of a fill, as the tape has them; the maker's is of the other token. */
function rowsOf({ index, market, timeS, size, price }: Trade): Row[] {
  const place = { partition: 1, in_offset: index, event_index: 0, time: at(timeS), market, size };
  return [
    { ...place, role: 'TAKER', wallet: wallet(1), outcome: 0, side: 'BUY', price: price / 10_000 },
    {
      ...place,
      role: 'MAKER',
      wallet: wallet(2),
      outcome: 1,
      side: 'BUY',
      price: (10_000 - price) / 10_000,
    },
  ];
}

function volumesOf(trades: readonly Trade[], nowMs: number): ReadonlyMap<number, Volume> {
  const volumes = new Map<number, Volume>();
  for (const { market, timeS, size, price } of trades) {
    const micro = size * price * 100;
    const { totalMicro = 0, dayMicro = 0 } = volumes.get(market) ?? {};
    const isOfDay = timeS >= Math.floor(nowMs / 1000) - 86_400;
    volumes.set(market, {
      totalMicro: totalMicro + micro,
      dayMicro: dayMicro + (isOfDay ? micro : 0),
    });
  }
  return volumes;
}

test('volumes are those of all fills, however many were settled before, and whichever table is served', async () => {
  const { clickhouse, fill } = database;
  const next = seeded(7);
  let throughMs: number | null = null;
  const store = new VolumeSums({ clickhouse, completeThroughMs: () => throughMs });
  const trades: Trade[] = [];
  expect(await store.read(startS * 1000)).toEqual(new Map());
  // The last step is longer than a day after the one before.
  for (const [step, hours] of [6, 12, 18, 24, 30, 36, 42, 48, 54, 60, 66, 120].entries()) {
    const stepS = startS + hours * 3_600;
    // The largest orders there are: their notional has more digits than a narrow decimal.
    const some = Array.from({ length: 20 }, (_, index) => ({
      index: step * 100 + index,
      market: 1 + next(3),
      timeS: stepS - next(3_000),
      size: 1 + next(9_999_999),
      price: 1 + next(9_999),
    }));
    trades.push(...some);
    await fill(tables.tape, some.flatMap(rowsOf));
    const nowMs = stepS * 1000 + next(5_000);
    for (const through of [throughMs, (stepS - 3_000) * 1000 + next(900), throughMs]) {
      throughMs = through;
      expect(await store.read(nowMs)).toEqual(volumesOf(trades, nowMs));
    }
    throughMs = (stepS - 1_500) * 1000 + next(900);
    // Later rows are not before the moment through which the tables are complete.
    trades.push({
      index: step * 100 + 99,
      market: 1,
      timeS: stepS - 1_499 + next(9),
      size: 3,
      price: 5,
    });
    await fill(tables.tape, trades.slice(-1).flatMap(rowsOf));
    expect(await store.read(nowMs)).toEqual(volumesOf(trades, nowMs));
  }
  // A rebuild puts another table in its place.
  await clickhouse.command(`CREATE TABLE rebuilt AS ${tables.tape.name}`);
  const kept = trades.filter(({ market }) => market !== 2);
  await clickhouse.command(
    `INSERT INTO rebuilt SELECT * FROM ${tables.tape.name} WHERE market != 2`,
  );
  await clickhouse.command(`EXCHANGE TABLES rebuilt AND ${tables.tape.name}`);
  const nowMs = (startS + 90 * 3_600) * 1000;
  expect(await store.read(nowMs)).toEqual(volumesOf(kept, nowMs));
}, 60_000);

describe('forty days of trades', () => {
  const endS = startS + 200 * 86_400;
  const trades = Array.from({ length: 960 }, (_, hour) => ({
    index: 10_000 + hour,
    market: 1 + (hour % 3),
    timeS: endS - hour * 3_600 - 60,
    size: 1 + hour,
    price: 5_000,
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
    expect(await store.read(nowMs)).toEqual(volumesOf(trades, nowMs));
    expect(spans.length).toBeLessThan(30);
    for (let round = 0; round < 5; round += 1) {
      spans.length = 0;
      nowMs += 1_800_000;
      expect(await store.read(nowMs)).toEqual(volumesOf(trades, nowMs));
      const read = spans.map(({ from, to }) => Math.min(to, nowMs / 1000) - from);
      expect(read.reduce((sum, seconds) => sum + seconds, 0)).toBeLessThanOrEqual(2 * 1_800 + 2);
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
    const store = new VolumeSums({ clickhouse, completeThroughMs: () => endS * 1000 - 2_000 });
    let failed = 0;
    for (let hour = 0; hour < 30; hour += 1) {
      const nowMs = (endS + hour * 3_600) * 1000;
      const volumes = await store.read(nowMs).catch(() => null);
      if (volumes === null) failed += 1;
      else expect(volumes).toEqual(volumesOf(trades, nowMs));
    }
    expect(failed).toBeGreaterThan(5);
    expect(failed).toBeLessThan(29);
  });
});
