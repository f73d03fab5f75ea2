import { Catalog } from '@pm/domain/markets/catalog';
import type { Listing } from '@pm/domain/markets/market';
import { ReadRefusal } from '@pm/domain/reading/refusal';
import { Random } from '@pm/kit/random';
import { microText, priceText } from '@pm/schemas/decimal';
import { notionalMicro } from '@pm/schemas/money';
import { tables } from '@pm/schemas/tables/tables';
import {
  type CandlePlan,
  type CandleRow,
  planCandles,
  vwapMicro,
} from '../../src/history/candles.ts';
import { TableReads } from '../../src/tables/tables.io.ts';
import { at, type FreshDatabase, freshDatabase, type Row } from '../fresh-database.ts';
import { marketEntry, token } from '../in-memory.ts';

/** Candles of every width against a fold of the raw trades. */
interface Trade {
  readonly outcome: 0 | 1;
  readonly timeS: number;
  readonly price: number;
  readonly sizeMicro: number;
}

const startS = Date.UTC(2026, 4, 30) / 1000;
const endS = startS + 3 * 86_400;
const random = new Random(11);
const next = (below: number) => random.below(below);
const trades: readonly Trade[] = Array.from({ length: 4_000 }, () => ({
  outcome: next(2) as 0 | 1,
  timeS: startS + next(20) * 9_000 + next(1_500),
  price: 1 + next(9_999),
  sizeMicro: (1 + next(1_000_000)) * 10_000,
})).sort((one, other) => one.timeS - other.timeS);

let database: FreshDatabase;
let reads: TableReads;
const catalog = new Catalog();
catalog.apply(marketEntry(1));
const listing = (outcome: 0 | 1) => catalog.listing(token(1, outcome)) as Listing;

/** Folded straight from the trades. */
function naive(outcome: 0 | 1, stepS: number): readonly CandleRow[] {
  const candles = new Map<number, CandleRow>();
  for (const trade of trades.filter((one) => one.outcome === outcome)) {
    const bucketS = trade.timeS - (trade.timeS % stepS);
    const { price } = trade;
    const known = candles.get(bucketS);
    candles.set(bucketS, {
      bucketS,
      open: known?.open ?? price,
      high: Math.max(known?.high ?? 0, price),
      low: Math.min(known?.low ?? 10_000, price),
      close: price,
      volumeMicro: (known?.volumeMicro ?? 0n) + BigInt(trade.sizeMicro),
      notionalMicro: (known?.notionalMicro ?? 0n) + BigInt(notionalMicro(price, trade.sizeMicro)),
      trades: (known?.trades ?? 0) + 1,
    });
  }
  return [...candles.values()];
}

/** The rows of `candles_1m`; `version` as if so many of the minute's trades had been seen. */
const stored = (outcome: 0 | 1, version: number): readonly Row[] =>
  naive(outcome, 60).map((row) => ({
    market: 1,
    outcome,
    bucket: at(row.bucketS).slice(0, 19),
    open: priceText(row.open),
    high: priceText(row.high),
    low: priceText(row.low),
    close: priceText(row.close),
    volume: microText(Number(row.volumeMicro)),
    notional: microText(Number(row.notionalMicro)),
    trades: row.trades,
    version,
  }));

beforeAll(async () => {
  database = await freshDatabase();
  reads = new TableReads(database.clickhouse);
  for (const outcome of [0, 1] as const) {
    const rows = stored(outcome, 9);
    await database.fill(tables.candles, rows);
    // Again, and older states of the same minutes that come late.
    await database.fill(tables.candles, rows.slice(0, 300));
    await database.fill(
      tables.candles,
      rows.map((row) => ({ ...row, close: '0.5', high: '0.9999', volume: '1', version: 3 })),
    );
  }
}, 60_000);

afterAll(() => database.drop());

function plan(interval: string, changes: object = {}): CandlePlan {
  const requested = { interval, startS, endS, limit: 1_000, ...changes };
  const made = planCandles(requested, endS);
  if (made instanceof ReadRefusal) throw new Error(made.text);
  return made;
}

it.each([
  ['1m', 60],
  ['5m', 300],
  ['1h', 3_600],
  ['1d', 86_400],
])(
  '%s candles are those of the raw trades, whatever comes late or twice',
  async (interval, stepS) => {
    for (const outcome of [0, 1] as const) {
      const all = naive(outcome, stepS);
      expect(await reads.candles(listing(outcome), plan(interval))).toEqual(all.slice(0, 1_000));
      const newest = await reads.candles(
        listing(outcome),
        plan(interval, { startS: null, limit: 3 }),
      );
      expect(newest).toEqual(all.slice(-3));
      const exact = all.reduce((sum, { notionalMicro: one }) => sum + one, 0n);
      const shares = all.reduce((sum, { volumeMicro: one }) => sum + one, 0n);
      expect(vwapMicro({ notionalMicro: exact, volumeMicro: shares })).toBeCloseTo(
        Number((exact * 1_000_000n) / shares),
        -1,
      );
    }
  },
);
