import type { Listing } from '@pm/domain/markets/market';
import { storedMicro, storedPrice } from '@pm/domain/reading/numbers';
import type { ClickHouse, QueryParameter } from '@pm/kit/clickhouse';
import { Fault } from '@pm/kit/fault';
import {
  completeThroughSql,
  pastChangeSql,
  pastLevelsSql,
  pastOrdersSql,
  pastRulesSql,
  pastTradeSql,
} from '@pm/schemas/tables/past-book';
import { type Moment, type PastBook, sidesOfOrders } from './past-book.ts';

type Reads = Pick<ClickHouse, 'selectRows'>;
type Params = Readonly<Record<string, QueryParameter>>;

interface Asked {
  readonly listing: Listing;
  readonly moment: Moment;
  readonly withOrders: boolean;
}

/** Later than every clock, and above every offset. */
const anyTimeMs = 4_102_444_800_000;
const anyOffset = String(Number.MAX_SAFE_INTEGER);

/**
 * The book of the token's market as it was; null when it was not listed yet. Throws the `Fault` `moment_not_stored`
 * (retry) while the tables do not hold the whole moment.
 */
export async function readPastBook(clickhouse: Reads, requested: Asked): Promise<PastBook | null> {
  const { listing, moment, withOrders } = requested;
  await assertStored(clickhouse, listing, moment);
  const place = { market: listing.market.market, partition: listing.market.partition };
  const upTo =
    'atMs' in moment
      ? { at: moment.atMs, offset: anyOffset }
      : await timed(clickhouse, place, moment);
  const params = { ...place, ...upTo, ...bucketsOf(upTo.at), outcome: listing.outcome };
  const [[rules], timeMs, last, levels] = await Promise.all([
    clickhouse.selectRows<{ readonly tick: string; readonly min_size: string }>(
      pastRulesSql,
      params,
    ),
    changedMs(clickhouse, params),
    lastTrade(clickhouse, params),
    levelsOf(clickhouse, params),
  ]);
  if (rules === undefined) return null;
  return {
    timeMs,
    tick: storedPrice(rules.tick),
    minSizeMicro: storedMicro(rules.min_size),
    lasts: listing.outcome === 0 ? [last, null] : [null, last],
    levels,
    orders: withOrders ? await ordersOf(clickhouse, params) : null,
  };
}

async function assertStored(clickhouse: Reads, { market }: Listing, moment: Moment): Promise<void> {
  const [through] = await clickhouse.selectRows<{
    readonly through_ms: string;
    readonly next_offset: string;
  }>(completeThroughSql, { partition: market.partition });
  // Records of one clock come until the clock moves on.
  const isStored =
    'atMs' in moment
      ? Number(through?.through_ms ?? 0) > moment.atMs
      : Number(through?.next_offset ?? 0) > moment.inOffset;
  if (!isStored) throw new Fault('moment_not_stored', 'retry');
}

/** The clock of the last record up to the offset that changed the book. */
async function timed(clickhouse: Reads, place: Params, moment: { readonly inOffset: number }) {
  const offset = String(moment.inOffset);
  return { at: await changedMs(clickhouse, { ...place, at: anyTimeMs, offset }), offset };
}

async function changedMs(clickhouse: Reads, params: Params): Promise<number> {
  const [row] = await clickhouse.selectRows<{ readonly changed: string }>(pastChangeSql, params);
  return Number(row?.changed ?? 0);
}

async function lastTrade(clickhouse: Reads, params: Params): Promise<number | null> {
  const [row] = await clickhouse.selectRows<{ readonly price: string }>(pastTradeSql, params);
  return row === undefined ? null : storedPrice(row.price);
}

async function levelsOf(clickhouse: Reads, params: Params): Promise<PastBook['levels']> {
  const rows = await clickhouse.selectRows<{
    readonly side: 'BUY' | 'SELL';
    readonly price: string;
    readonly total: string;
  }>(pastLevelsSql, params);
  const of = (side: 'BUY' | 'SELL') =>
    rows
      .filter((row) => row.side === side)
      .map((row) => ({ price: storedPrice(row.price), sizeMicro: storedMicro(row.total) }));
  return { bids: of('BUY'), asks: of('SELL') };
}

async function ordersOf(clickhouse: Reads, params: Params): Promise<PastBook['orders']> {
  const rows = await clickhouse.selectRows<{
    readonly order_id: string;
    readonly book_side: 'BUY' | 'SELL';
    readonly book_price: string;
    readonly total: string;
  }>(pastOrdersSql, params);
  return sidesOfOrders(
    rows.map((row) => ({
      orderId: row.order_id,
      side: row.book_side,
      price: storedPrice(row.book_price),
      sizeMicro: storedMicro(row.total),
    })),
  );
}

/** Starts of the minute, hour and month (UTC) of a time, Unix seconds. */
function bucketsOf(atMs: number) {
  const atS = Math.floor(atMs / 1000);
  const date = new Date(atMs);
  const month = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / 1000;
  return { minute: atS - (atS % 60), hour: atS - (atS % 3_600), month };
}
