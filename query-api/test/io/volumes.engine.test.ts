import { tables } from '@pm/schemas';
import { seeded } from '../../../kit/test/seeded.ts';
import type { Volume } from '../../src/core/figures.ts';
import { VolumeStore } from '../../src/io/volume-store.ts';
import { apiKey, wallet } from '../in-memory.ts';
import { at, type FreshDatabase, freshDatabase, type Row } from './fresh-database.ts';

/** Sums that are settled piece by piece against those of all fills. */
const startS = Date.UTC(2026, 5, 1) / 1000;
const zero = `0x${'0'.repeat(64)}`;
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

function rowOf({ index, market, timeS, size, price }: Trade): Row {
  return {
    ...{ partition: 1, in_offset: index, event_index: 0, time: at(timeS), market },
    ...{ match: 'COMPLEMENTARY', size, fee: 0, fee_rate_bps: 0 },
    ...{ taker_order: zero, taker: wallet(1), taker_key: apiKey(1), taker_builder: zero },
    ...{ taker_outcome: 0, taker_side: 'BUY', taker_price: price / 10_000 },
    ...{ maker_order: zero, maker: wallet(2), maker_key: apiKey(2), maker_builder: zero },
    ...{ maker_outcome: 0, maker_side: 'SELL', maker_price: price / 10_000 },
  };
}

function volumesOf(trades: readonly Trade[], nowMs: number): ReadonlyMap<number, Volume> {
  const volumes = new Map<number, Volume>();
  for (const { market, timeS, size, price } of trades) {
    const micro = size * price * 100;
    const { totalMicro = 0, dayMicro = 0 } = volumes.get(market) ?? {};
    const isOfDay = timeS >= Math.floor(nowMs / 1000) - 86_400;
    volumes.set(market, {
      ...{ totalMicro: totalMicro + micro, dayMicro: dayMicro + (isOfDay ? micro : 0) },
    });
  }
  return volumes;
}

test('volumes are those of all fills, however much of them was settled before, and whatever table is served', async () => {
  const { clickhouse, fill } = database;
  const next = seeded(7);
  let throughMs: number | null = null;
  const store = new VolumeStore({ clickhouse, completeThroughMs: () => throughMs });
  const trades: Trade[] = [];
  expect(await store.read(startS * 1000)).toEqual(new Map());
  for (let step = 1; step <= 12; step += 1) {
    const stepS = startS + step * 6 * 3_600;
    // The largest orders there are: their notional has more digits than a narrow decimal.
    const some = Array.from({ length: 20 }, (_, index) => ({
      ...{ index: step * 100 + index, market: 1 + next(3), timeS: stepS - next(3_000) },
      ...{ size: 1 + next(9_999_999), price: 1 + next(9_999) },
    }));
    trades.push(...some);
    await fill(tables.fills, some.map(rowOf));
    const nowMs = stepS * 1000 + next(5_000);
    for (const through of [throughMs, (stepS - 3_000) * 1000 + next(900), throughMs]) {
      throughMs = through;
      expect(await store.read(nowMs)).toEqual(volumesOf(trades, nowMs));
    }
    throughMs = (stepS - 1_500) * 1000 + next(900);
    // What comes later is not in front of what is complete.
    trades.push({
      index: step * 100 + 99,
      market: 1,
      timeS: stepS - 1_499 + next(9),
      size: 3,
      price: 5,
    });
    await fill(tables.fills, trades.slice(-1).map(rowOf));
    expect(await store.read(nowMs)).toEqual(volumesOf(trades, nowMs));
  }
  // A rebuild puts another table in its place.
  await clickhouse.command(`CREATE TABLE rebuilt AS ${tables.fills.name}`);
  const kept = trades.filter(({ market }) => market !== 2);
  await clickhouse.command(
    `INSERT INTO rebuilt SELECT * FROM ${tables.fills.name} WHERE market != 2`,
  );
  await clickhouse.command(`EXCHANGE TABLES rebuilt AND ${tables.fills.name}`);
  const nowMs = (startS + 90 * 3_600) * 1000;
  expect(await store.read(nowMs)).toEqual(volumesOf(kept, nowMs));
}, 60_000);
