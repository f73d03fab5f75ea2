import { setTimeout as wait } from 'node:timers/promises';
import { foldOrder, type OrderEventRow, rowsByOrder } from '@pm/domain/orders/order-read';
import { anyTrade, type FillRow } from '@pm/domain/orders/trades';
import { newestPlaceFirst } from '@pm/domain/reading/merge-page';
import { systemClock } from '@pm/kit/clock';
import { type LogClient, type LogProducer, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import { microText, priceText } from '@pm/schemas/decimal';
import type { Execution } from '@pm/schemas/log/executions';
import { topics } from '@pm/schemas/log/topics';
import { tables } from '@pm/schemas/tables/tables';
import { engineUrl } from '../../../kit/test/engines.ts';
import { ownSchemas } from '../../../kit/test/registry/own-schemas.ts';
import { seeded } from '../../../kit/test/seeded.ts';
import type { OpenOrderRow } from '../../src/orders/open-orders.ts';
import { type OwnOpenOrders, OwnRecords } from '../../src/recent/own-reads.io.ts';
import { RecentFollower } from '../../src/recent/recent-follower.io.ts';
import { RecentLog } from '../../src/recent/recent-log.ts';
import { type RecordRows, rowsOfRecord } from '../../src/recent/record-rows.ts';
import { at, type FreshDatabase, freshDatabase, type Row } from '../fresh-database.ts';
import { apiKey, wallet } from '../in-memory.ts';
import { TinyLog } from '../recent/log.ts';
import { walkedBehind } from '../walked.ts';

/**
 * Memory and tables joined on a real log and real tables, while both move: whatever was in the log before a read is in
 * its answer, once.
 */
const name = `query_api_fresh_${process.pid}`;
const topic = `${name}-executions`;
const partitions = 3;

let database: FreshDatabase;
let client: LogClient;
let producer: LogProducer;
let codec: RecordCodec<Execution>;

beforeAll(async () => {
  database = await freshDatabase();
  client = openLogClient({ brokers: [engineUrl('KAFKA')], clientId: name, log: silentLog });
  codec = await ownSchemas().codecFor(topics.executions);
  const admin = await client.admin();
  const kept = { replicationFactor: 1, minInSyncReplicas: 1, retentionMs: -1, compacted: false };
  await admin.ensureTopics([{ ...kept, name: topic, partitions, maxMessageBytes: 1 << 20 }]);
  await admin.close();
  producer = await client.producer();
}, 60_000);

afterAll(async () => {
  await client?.close();
  await database?.drop();
}, 30_000);

/** The log as it was sent, and tables that follow it in batches. */
class Exchange {
  readonly sent: RecordRows[][] = [[], [], []];
  readonly stored = new Map([0, 1, 2].map((partition) => [partition, 0]));
  readonly #logs = [0, 1, 2].map((partition) => new TinyLog(31 + partition, partition));

  async send(partition: number, count: number): Promise<void> {
    const records = this.#logs[partition]?.records(count) ?? [];
    await producer.send(
      records.map((one) => ({ topic, partition, key: null, value: codec.encode(one) })),
    );
    this.sent[partition]?.push(...records.map((one) => rowsOfRecord(partition, one)));
  }

  /** One batch of the projectors: rows first, then the position. */
  async project(partition: number, count: number): Promise<void> {
    const from = this.stored.get(partition) ?? 0;
    const batch = this.sent[partition]?.slice(from, from + count) ?? [];
    const orders = batch.flatMap((one) => one.orders);
    const fills = batch.flatMap((one) => one.fills);
    await database.fill(tables.orderEvents, orders.map(orderCells));
    await database.fill(tables.fills, fills.map(fillCells));
    await database.fill(tables.walletFills, fills.flatMap(walletFillCells));
    await database.fill(tables.openOrders, openOrderCells(batch));
    await database.fill(tables.walletCancels, orders.flatMap(cancelCells));
    this.stored.set(partition, from + batch.length);
  }

  orders(): readonly OrderEventRow[] {
    return this.sent.flat().flatMap((one) => one.orders);
  }

  fills(): readonly FillRow[] {
    return this.sent.flat().flatMap((one) => one.fills);
  }
}

const timeOf = ({ timeMs }: { timeMs: number }) => at(timeMs / 1000);
const placeCells = (row: OrderEventRow | FillRow) => ({
  partition: row.partition,
  in_offset: row.inOffset,
  event_index: row.eventIndex,
  time: timeOf(row),
  market: row.market,
});
const sizeCell = (row: { readonly sizeMicro: number }) => ({ size: microText(row.sizeMicro) });

function orderCells(row: OrderEventRow): Row {
  const { orderId: order_id, kind, wallet, apiKey: api_key } = row;
  const shared = { ...placeCells(row), order_id, kind, wallet, api_key, resting: '0', reason: '' };
  if (row.kind === 'REFUSED') return { ...shared, reason: row.reason };
  if (row.kind === 'CANCELED') return { ...shared, ...sizeCell(row), reason: row.reason };
  const { outcome, side } = row;
  const [price, resting] = [priceText(row.price), microText(row.restingMicro)];
  const priced = { ...shared, ...sizeCell(row), outcome, side, price, resting };
  if (row.kind === 'FILLED') return { ...priced, role: row.role };
  return {
    ...priced,
    time_in_force: row.timeInForce,
    accepted_at: at(row.acceptedAtMs / 1000),
    status: row.status,
  };
}

function cancelCells(row: OrderEventRow): readonly Row[] {
  if (row.kind !== 'CANCELED') return [];
  const { wallet, orderId: order_id, apiKey: api_key, reason } = row;
  return [{ ...placeCells(row), ...sizeCell(row), wallet, order_id, api_key, reason }];
}

function fillCells(row: FillRow): Row {
  const zero = `0x${'0'.repeat(64)}`;
  return {
    ...placeCells(row),
    ...sizeCell(row),
    match: 'MINT',
    taker_order: row.takerOrder,
    taker: row.taker,
    taker_key: row.takerKey,
    taker_outcome: row.takerOutcome,
    taker_side: row.takerSide,
    taker_price: priceText(row.takerPrice),
    taker_builder: zero,
    maker_order: row.makerOrder,
    maker: row.maker,
    maker_key: row.makerKey,
    maker_outcome: row.makerOutcome,
    maker_side: row.makerSide,
    maker_price: priceText(row.makerPrice),
    maker_builder: zero,
    fee: '0',
    fee_rate_bps: row.feeRateBps,
  };
}

function walletFillCells(row: FillRow): readonly Row[] {
  const shared = { ...placeCells(row), ...sizeCell(row), side: 'BUY', price: '0.5', fee: '0' };
  const side = (role: string, cells: Row) => ({ ...shared, ...cells, role });
  return [
    side('TAKER', {
      wallet: row.taker,
      api_key: row.takerKey,
      order_id: row.takerOrder,
      outcome: row.takerOutcome,
    }),
    side('MAKER', {
      wallet: row.maker,
      api_key: row.makerKey,
      order_id: row.makerOrder,
      outcome: row.makerOutcome,
    }),
  ];
}

/** As the projector has it: one row per order and record. */
function openOrderCells(batch: readonly RecordRows[]): readonly Row[] {
  return batch.flatMap(({ orders }) => {
    const rows = new Map<string, Row>();
    for (const row of orders) {
      const cells = openOrderCell(row);
      if (cells !== null) rows.set(row.orderId, cells);
    }
    return [...rows.values()];
  });
}

function openOrderCell(row: OrderEventRow): Row | null {
  const shared = {
    wallet: row.wallet,
    order_id: row.orderId,
    api_key: row.apiKey,
    market: row.market,
    partition: row.partition,
    version: row.inOffset,
  };
  if (row.kind === 'PLACED' && row.restingMicro > 0)
    return { ...shared, outcome: row.outcome, placed_at: timeOf(row), ended: 0 };
  const isFilled = row.kind === 'FILLED' && row.role === 'MAKER' && row.restingMicro === 0;
  return isFilled || row.kind === 'CANCELED' ? { ...shared, ended: 1 } : null;
}

interface Reading {
  readonly own: OwnRecords;
  readonly runner: RecentFollower;
}

async function startReading(exchange: Exchange, rowsMax?: number): Promise<Reading> {
  const recent = new RecentLog(rowsMax === undefined ? {} : { rowsMax });
  const runner = new RecentFollower({
    client,
    recent,
    codec,
    topic,
    log: silentLog,
    storedPositions: async () => new Map(exchange.stored),
    clock: systemClock,
  });
  await runner.start();
  const { clickhouse } = database;
  return { runner, own: new OwnRecords({ clickhouse, recent, settle: () => runner.settle() }) };
}

const caller = { wallets: [wallet(1), wallet(2)], keys: new Set([apiKeyOf(1), apiKeyOf(2)]) };

/** `TinyLog` numbers keys by their last bytes. */
function apiKeyOf(index: number): string {
  return apiKey(index).replace('4000-8000', '0000-0000');
}

const idOf = (row: { partition: number; inOffset: string; eventIndex: number }) =>
  `${row.partition}-${row.inOffset}-${row.eventIndex}`;

async function compareOrders(exchange: Exchange, { own }: Reading): Promise<void> {
  const due = rowsByOrder(exchange.orders());
  const shown = rowsByOrder(await own.orderEvents([...due.keys()]));
  for (const [id, rows] of due) expect(foldOrder(shown.get(id) ?? [])).toEqual(foldOrder(rows));
}

/** Orders of the caller that rest. */
function restingOrders(exchange: Exchange): readonly string[] {
  return [...rowsByOrder(exchange.orders()).values()].flatMap((rows) => {
    const history = foldOrder(rows);
    const isOpen = history.kind === 'accepted' && history.facts.status === 'LIVE';
    return isOpen && caller.keys.has(history.order.apiKey) ? [history.order.orderId] : [];
  });
}

/** `meanwhile` happens in front of each page: what rested all the time is in the list, once. */
async function compareOpenOrders(
  exchange: Exchange,
  { own }: Reading,
  { limit, meanwhile }: { limit: number; meanwhile: () => Promise<void> },
) {
  const before = restingOrders(exchange);
  const search = { ...caller, orderId: null, market: null, outcome: null, limit };
  const rows = await walkedBehind(limit, async (after: OpenOrderRow | null) => {
    await meanwhile();
    const found = await own.openOrders({ ...search, after });
    expectOpen(found, exchange);
    return found.rows;
  });
  const shown = rows.map((row) => row.orderId);
  expect(new Set(shown).size).toBe(shown.length);
  const after = new Set(restingOrders(exchange));
  const throughout = before.filter((id) => after.has(id));
  expect(throughout.filter((id) => !shown.includes(id))).toEqual([]);
  // Nothing was sent behind the last page.
  const known = new Set([...before, ...after, ...exchange.orders().map((row) => row.orderId)]);
  expect(shown.filter((id) => !known.has(id))).toEqual([]);
}

/** The events of a page say how its orders are at the place that it names, which is the end of the log. */
function expectOpen({ rows, events, asOf }: OwnOpenOrders, exchange: Exchange): void {
  const due = rowsByOrder(exchange.orders());
  const found = rowsByOrder(events);
  for (const { orderId } of rows) {
    expect(foldOrder(found.get(orderId) ?? [])).toEqual(foldOrder(due.get(orderId) ?? []));
  }
  for (const { partition, offset } of asOf) {
    expect(offset).toBe((exchange.sent[partition]?.length ?? 0) - 1);
  }
}

async function compareTrades(
  exchange: Exchange,
  { own }: Reading,
  { limit, meanwhile }: { limit: number; meanwhile: () => Promise<void> },
): Promise<number> {
  const due = exchange
    .fills()
    .filter((row) => caller.keys.has(row.takerKey) || caller.keys.has(row.makerKey))
    .sort(newestPlaceFirst);
  const search = { keys: caller.keys, wallets: new Set(caller.wallets), market: null };
  const query = anyTrade;
  const rows = await walkedBehind(limit, async (after: FillRow | null) => {
    const page = await own.trades({ ...search, outcome: null, limit, query, after });
    await meanwhile();
    return page.rows;
  });
  const shown = rows.map(idOf);
  expect(new Set(shown).size).toBe(shown.length);
  expect(shown.filter((id) => due.some((row) => idOf(row) === id))).toEqual(due.map(idOf));
  return shown.length;
}

async function compareCancels(exchange: Exchange, { own }: Reading): Promise<void> {
  const due = exchange
    .orders()
    .filter((row) => row.kind === 'CANCELED' && caller.keys.has(row.apiKey))
    .sort(newestPlaceFirst);
  const shown = await own.cancels({ ...caller, sinceMs: 0, limit: 7 });
  expect(shown.map(idOf)).toEqual(due.slice(0, 7).map(idOf));
}

describe('reads of memory and tables together', () => {
  test('know everything that was sent before, at every cutover and over restarts', async () => {
    const random = seeded(77);
    const exchange = new Exchange();
    let reading = await startReading(exchange);
    for (let step = 0; step < 24; step += 1) {
      await exchange.send(random(partitions), 1 + random(12));
      if (random(2) === 0) await exchange.project(random(partitions), 1 + random(30));
      // So long that the position of the tables is requested for, and what they hold is forgotten.
      if (step % 6 === 5) await wait(1_200);
      if (step % 8 === 7) {
        await reading.runner.close();
        await exchange.send(random(partitions), 5);
        reading = await startReading(exchange);
      }
      await compareOrders(exchange, reading);
      let pages = 0;
      const meanwhile = async () => {
        pages += 1;
        if (pages <= 2) await exchange.send(random(partitions), 1 + random(4));
      };
      await compareOpenOrders(exchange, reading, { limit: 8 + random(20), meanwhile });
      await compareTrades(exchange, reading, { limit: 5 + random(20), meanwhile });
      await compareCancels(exchange, reading);
    }
    expect(reading.runner.status()).toMatchObject({ following: true, fault: null });
    await reading.runner.close();
    // The bound is met: reads are refused until the tables have everything, and then served by both again.
    const tight = await startReading(exchange, 10);
    await tight.runner.settle();
    expect(tight.runner.status().partitions.some(({ hasGap }) => hasGap)).toBe(true);
    await expect(tight.own.orderEvents(['0x0'])).rejects.toMatchObject({ reaction: 'retry' });
    for (let partition = 0; partition < partitions; partition += 1) {
      await exchange.project(partition, 10_000);
    }
    while (!(await tight.runner.settle())) await wait(10);
    await compareOrders(exchange, tight);
    const calm = { limit: 7, meanwhile: async () => {} };
    await compareOpenOrders(exchange, tight, calm);
    expect(await compareTrades(exchange, tight, calm)).toBeGreaterThan(20);
    await tight.runner.close();
  }, 180_000);
});
