import { createHash } from 'node:crypto';
import { orderName } from '@pm/domain/books/order-name';
import { Catalog } from '@pm/domain/markets/catalog';
import type { Listing } from '@pm/domain/markets/market';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { Fault } from '@pm/kit/fault';
import { microText, priceText } from '@pm/schemas/decimal';
import { columnNames } from '@pm/schemas/tables/create-table';
import { bytesOf, seeded } from '../../../kit/test/seeded.ts';
import { MarketBook } from '../../../projectors/src/books/book.ts';
import { foldBooks } from '../../../projectors/src/books/fold.ts';
import { renderBook } from '../../../projectors/src/books/render.ts';
import { completenessRows, foldedTo } from '../../../projectors/src/tables/completeness.ts';
import { TableViews } from '../../../projectors/src/views/table-views.ts';
import { RealTables } from '../../../projectors/test/tables/real-tables.ts';
import { type Moment, pastBookJson } from '../../../query-api/src/books/past-book.ts';
import { TableReads } from '../../../query-api/src/tables/tables.io.ts';
import { marketEntry, token } from '../../../query-api/test/in-memory.ts';
import { inBook, RestingExchange } from './resting-exchange.ts';

/**
 * The way of a book into the tables and back: past books that query-api reads from rows of random traffic, compared
 * with the live responses recorded after every record.
 */
const real = new RealTables(`past_books_${process.pid}`);
const partition = 3;
const markets = [1, 2] as const;
const records = 900;
const bookSecret = bytesOf(32, 7);
const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

const catalog = new Catalog();
for (const market of markets) catalog.apply(marketEntry(market, { partition }));
const listingOf = (market: number, outcome: 0 | 1) =>
  catalog.listing(token(market, outcome)) as Listing;

/** Live responses after one record: by market and outcome. */
interface Recorded {
  readonly inOffset: number;
  readonly timeMs: number;
  readonly json: ReadonlyMap<string, string>;
  readonly orders: ReadonlyMap<string, object>;
}

const recorded: Recorded[] = [];
let clickhouse: ClickHouse;

const exchange = new RestingExchange(5, markets);
const books = new Map(markets.map((market) => [market, new MarketBook(market)] as const));

function live(market: (typeof markets)[number], outcome: 0 | 1): string {
  const { conditionId, tokens, negRisk } = listingOf(market, outcome).market;
  const book = books.get(market) ?? new MarketBook(market);
  return renderBook(book, { conditionId, tokens, negRisk }, sha1)[outcome].json;
}

/** Resting orders of a token straight from the generator: by price, best last; of one price the oldest last. */
function ordersOf(market: number, outcome: 0 | 1): object {
  const { conditionId } = listingOf(market, outcome).market;
  const shown = exchange.resting
    .filter((order) => order.market === market)
    .map((order) => {
      const { side, price } = inBook(order);
      const mirrored = { side: side === 'BUY' ? 'SELL' : 'BUY', price: 10_000 - price };
      return { ...order, ...(outcome === 0 ? { side, price } : mirrored) };
    });
  const of = (wanted: string, sign: 1 | -1) =>
    shown
      .filter(({ side }) => side === wanted)
      .sort((one, other) => sign * (one.price - other.price) || other.number - one.number)
      .map(({ number, price, sizeMicro }) => ({
        price: priceText(price),
        size: microText(sizeMicro),
        order: orderName(bookSecret, conditionId, bytesOf(32, number)),
      }));
  return { bids: of('BUY', 1), asks: of('SELL', -1) };
}

beforeAll(async () => {
  clickhouse = await real.fresh();
  await project();
}, 180_000);

afterAll(() => real.close(), 30_000);

/** Everything into the tables in batches of random lengths, and one of them twice. */
async function project(): Promise<void> {
  const views = new TableViews(partition, { positions: [], candles: [] });
  const next = seeded(8);
  for (let index = 0; index < records; index += 1) {
    const execution = exchange.record();
    views.fold(execution, execution.timeMs);
    foldBooks(books, execution);
    recorded.push(answersAfter(execution.inOffset, execution.timeMs));
    if (next(180) > 0 && index < records - 1) continue;
    const rows = [...views.take(), completenessRows(partition, index + 1, foldedTo(execution))];
    for (const { table, pieces } of rows)
      for (let again = 0; again < 1 + next(2); again += 1)
        await clickhouse.insertTabSeparated(table.name, columnNames(table), pieces);
  }
}

function answersAfter(inOffset: number, timeMs: number): Recorded {
  const each = markets.flatMap((market) =>
    ([0, 1] as const).map((outcome) => [market, outcome] as const),
  );
  return {
    inOffset,
    timeMs,
    json: new Map(each.map(([market, outcome]) => [`${market}:${outcome}`, live(market, outcome)])),
    orders: new Map(
      each.map(([market, outcome]) => [`${market}:${outcome}`, ordersOf(market, outcome)]),
    ),
  };
}

/** On a full core a read can pass the time that it may take; then it is made again. */
async function pastBook(...asked: Parameters<TableReads['pastBook']>) {
  for (;;) {
    try {
      return await new TableReads(clickhouse).pastBook(...asked);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'clickhouse_busy') throw error;
    }
  }
}

async function past(listing: Listing, moment: Moment, withOrders = false): Promise<string | null> {
  const book = await pastBook(listing, moment, withOrders);
  return book === null ? null : pastBookJson(listing, book, { sha1, bookSecret });
}

/** Random records, each with a random token. */
function* samples(count: number, seed: number) {
  const next = seeded(seed);
  for (let index = 0; index < count; index += 1) {
    const one = recorded[2 + next(recorded.length - 3)];
    const market = markets[next(markets.length)] ?? 1;
    const outcome = next(2) as 0 | 1;
    if (one !== undefined)
      yield { one, key: `${market}:${outcome}`, listing: listingOf(market, outcome) };
  }
}

it('equals the recorded response after any record, with its hash', async () => {
  for (const { one, key, listing } of samples(12, 1))
    expect(await past(listing, { inOffset: one.inOffset })).toBe(one.json.get(key));
}, 120_000);

it('equals at any time the response after the last record of that clock', async () => {
  const lastTimeMs = recorded.at(-1)?.timeMs ?? 0;
  for (const { one, key, listing } of samples(8, 2)) {
    if (one.timeMs === lastTimeMs) continue;
    const last = recorded.findLast(({ timeMs }) => timeMs <= one.timeMs);
    expect(await past(listing, { atMs: one.timeMs })).toBe(last?.json.get(key));
    const later = recorded.findLast(({ timeMs }) => timeMs <= one.timeMs + 100);
    if ((later?.timeMs ?? 0) < lastTimeMs && one.timeMs + 100 < lastTimeMs)
      expect(await past(listing, { atMs: one.timeMs + 100 })).toBe(later?.json.get(key));
  }
}, 120_000);

it('has every resting order in the order in which they trade, and they add up to the levels', async () => {
  for (const { one, key, listing } of samples(10, 3)) {
    const book = JSON.parse((await past(listing, { inOffset: one.inOffset }, true)) ?? '');
    const { hash } = JSON.parse(one.json.get(key) ?? '') as { hash: string };
    expect(book).toMatchObject({ hash, ...one.orders.get(key) });
  }
}, 120_000);

it('is refused while the tables do not hold the whole moment, and absent before the market was', async () => {
  const last = recorded.at(-1);
  if (last === undefined) throw new Error('nothing was recorded');
  const fault = { code: 'moment_not_stored', reaction: 'retry' };
  const yes = listingOf(1, 0);
  await expect(past(yes, { atMs: last.timeMs })).rejects.toMatchObject(fault);
  await expect(past(yes, { inOffset: last.inOffset + 1 })).rejects.toMatchObject(fault);
  expect(await past(yes, { inOffset: last.inOffset })).toBe(last.json.get('1:0'));
  expect(await past(listingOf(2, 0), { inOffset: 0 })).toBeNull();
  expect(await past(yes, { atMs: 1 })).toBeNull();
  const elsewhere = new Catalog();
  elsewhere.apply(marketEntry(1, { partition: 4 }));
  await expect(past(elsewhere.listing(token(1, 0)) as Listing, { atMs: 1 })).rejects.toMatchObject(
    fault,
  );
});
