import type { ExecutionEvent, OrderPlaced } from '@pm/schemas/log/executions';
import { tables } from '@pm/schemas/tables/tables';
import { bytesOf } from '../../../kit/test/seeded.ts';
import { TableViews } from '../../src/views/table-views.ts';
import { appendedMs, executionOf, fillOf, TinyExchange } from '../log.ts';
import { cellsOf, named as namedCells, type Row } from '../tables/cells.ts';
import { TradingLog } from '../trading-log.ts';
import { naiveRows } from './naive-rows.ts';

const none = { positions: [], candles: [] };

function rowsOf(
  events: readonly ExecutionEvent[],
  timeMs = 1_700_000_012_345,
): ReadonlyMap<string, readonly Row[]> {
  const views = new TableViews(7, none);
  views.fold(executionOf(41, events, timeMs), timeMs);
  return new Map(views.take().map((one) => [one.table.name, cellsOf(one)]));
}

/** A row by its column names. */
function named(table: keyof typeof tables, row: Row | undefined): Record<string, unknown> {
  return namedCells(tables[table], row);
}

/** Rows as texts, sorted. */
function sorted(rows: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  return rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();
}

const ids = { orderId: bytesOf(32, 5), maker: bytesOf(20, 6), apiKey: bytesOf(16, 7) };

const placedOrder = (changes: Partial<OrderPlaced>): OrderPlaced => ({
  kind: 'OrderPlaced',
  command: 0,
  ...ids,
  market: 3,
  outcome: 1,
  side: 'SELL',
  timeInForce: 'GTC',
  postOnly: false,
  price: 7_500,
  sizeMicro: 8_000_000,
  expiresAtMs: 0,
  acceptedAtMs: 1_000,
  signer: ids.maker,
  builder: bytesOf(32, 0),
  status: 'LIVE',
  filledMicro: 0,
  paidMicro: 0,
  feeMicro: 0,
  restingMicro: 8_000_000,
  ...changes,
});

describe('the rows of the tables', () => {
  test('have a cell for every column', () => {
    const exchange = new TinyExchange(3);
    const views = new TableViews(0, none);
    const seen = new Set<string>();
    for (const record of exchange.records(300)) views.fold(record, appendedMs(record));
    const cancel = { kind: 'OrderCanceled', command: 0, market: 1, restMicro: 1 } as const;
    views.fold(executionOf(300, [{ ...cancel, ...ids, reason: 'USER' }]), 0);
    for (const one of views.take()) {
      const rows = cellsOf(one);
      expect(rows).toHaveLength(one.count);
      for (const row of rows) {
        seen.add(one.table.name);
        expect(row).toHaveLength(one.table.columns.length);
      }
    }
    // The row that ends a batch belongs to no view.
    seen.add(tables.completeness.name);
    expect(seen.size).toBe(Object.keys(tables).length);
    expect(views.pendingRows).toBe(0);
  });

  test.each([1, 2, 3, 4, 5, 6])('are those of the naive twin, over random log %i', (seed) => {
    const log = seed % 2 === 0 ? new TinyExchange(seed) : new TradingLog(seed);
    const executions = log.records(150);
    const twin = naiveRows(7, executions);
    const views = new TableViews(7, none);
    for (const execution of executions) views.fold(execution, appendedMs(execution));
    // Positions have a naive twin of their own.
    const others = ['positions', 'holders', 'wallet_moves'];
    const compared = views.take().filter(({ table }) => !others.includes(table.name));
    for (const one of compared) {
      const rows = cellsOf(one).map((row) => namedCells(one.table, row));
      const due = twin.get(one.table.name) ?? [];
      expect([one.table.name, sorted(rows)]).toEqual([one.table.name, sorted(due)]);
    }
  });

  test('have both sides of a fill', () => {
    const rows = rowsOf([fillOf({ match: 'MINT', takerPrice: 6_100, sizeMicro: 2_500_000 })]);
    expect(named('fills', rows.get('fills')?.[0])).toMatchObject({
      partition: 7,
      in_offset: 41,
      event_index: 0,
      time: '2023-11-14 22:13:32.345',
      size: '2.5',
      taker_price: '0.61',
      maker_price: '0.39',
      maker_outcome: 1,
      maker_side: 'BUY',
      fee: '0.00001',
    });
    const [taker, maker] = rows.get('wallet_fills') ?? [];
    expect(named('walletFills', taker)).toMatchObject({
      role: 'TAKER',
      price: '0.61',
      fee: '0.00001',
    });
    expect(named('walletFills', maker)).toMatchObject({
      role: 'MAKER',
      price: '0.39',
      fee: '0',
      outcome: 1,
    });
  });

  test('follow an order from its placement or refusal to its end', () => {
    const placed: ExecutionEvent = {
      kind: 'OrderPlaced',
      command: 0,
      ...ids,
      market: 3,
      outcome: 1,
      side: 'SELL',
      timeInForce: 'GTD',
      postOnly: false,
      price: 7_500,
      sizeMicro: 8_000_000,
      expiresAtMs: 2_000,
      acceptedAtMs: 1_000,
      signer: ids.maker,
      builder: bytesOf(32, 0),
      status: 'LIVE',
      filledMicro: 0,
      paidMicro: 0,
      feeMicro: 0,
      restingMicro: 8_000_000,
    };
    const refused: ExecutionEvent = {
      kind: 'OrderRefused',
      command: 1,
      ...ids,
      market: 3,
      code: 'too_late' as never,
    };
    const canceled: ExecutionEvent = {
      kind: 'OrderCanceled',
      command: 2,
      ...ids,
      market: 3,
      reason: 'USER',
      restMicro: 8_000_000,
    };
    const rows = (
      rowsOf([placed, refused, fillOf({ match: 'MINT' }), canceled]).get('order_events') ?? []
    ).map((row) => named('orderEvents', row));
    expect(rows.map((row) => [row['kind'], row['event_index'], row['role']])).toEqual([
      ['PLACED', 0, null],
      ['REFUSED', 1, null],
      ['FILLED', 2, 'TAKER'],
      ['FILLED', 2, 'MAKER'],
      ['CANCELED', 3, null],
    ]);
    expect(rows[0]).toMatchObject({
      side: 'SELL',
      price: '0.75',
      size: '8',
      resting: '8',
      expires_at: '1970-01-01 00:00:02.000',
      status: 'LIVE',
    });
    expect(rows[1]).toMatchObject({ reason: 'too_late', status: null, size: null });
    expect(rows[4]).toMatchObject({ reason: 'USER', size: '8', resting: '0' });
  });

  test('list an order while it rests, and its end by wallet', () => {
    const placed = placedOrder({ orderId: bytesOf(32, 5), restingMicro: 3_000_000 });
    const matched = placedOrder({ orderId: bytesOf(32, 8), restingMicro: 0 });
    const canceled: ExecutionEvent = {
      kind: 'OrderCanceled',
      command: 2,
      market: 3,
      restMicro: 3_000_000,
      ...ids,
      reason: 'SESSION',
    };
    const openRows = (events: readonly ExecutionEvent[]) =>
      (rowsOf(events).get('open_orders') ?? []).map((row) => named('openOrders', row));
    expect(openRows([placed, matched])).toEqual([
      expect.objectContaining({
        order_id: `0x${bytesOf(32, 5).toString('hex')}`,
        placed_at: '2023-11-14 22:13:32.345',
        version: 41,
        partition: 7,
        ended: 0,
      }),
    ]);
    expect(openRows([placed, canceled])).toEqual([expect.objectContaining({ ended: 1 })]);
    const filled = { ...fillOf({ match: 'MINT' }), makerOrderId: bytesOf(32, 5) };
    expect(openRows([placed, { ...filled, makerRestMicro: 1_000_000 }])[0]?.['ended']).toBe(0);
    expect(openRows([placed, filled])).toEqual([expect.objectContaining({ ended: 1 })]);
    const [row] = rowsOf([canceled]).get('wallet_cancels') ?? [];
    expect(named('walletCancels', row)).toMatchObject({ reason: 'SESSION', size: '3' });
  });

  test('have a delay before its outcome', () => {
    const { kind: _kind, ...terms } = placedOrder({});
    const delayed = { ...terms, kind: 'OrderDelayed', releaseAtMs: 9, heldMicro: 0 } as const;
    const [row] = rowsOf([delayed]).get('order_events') ?? [];
    expect(named('orderEvents', row)).toMatchObject({ kind: 'DELAYED', status: 'DELAYED' });
  });

  test('keep the best prices of a minute and their midpoint, half ticks included', () => {
    const top = (bid: number, ask: number): ExecutionEvent => ({
      kind: 'TopChanged',
      market: 1,
      bid,
      ask,
    });
    const rows =
      rowsOf([top(0, 4_200), top(4_000, 4_200), top(4_001, 4_200)]).get('midpoints_1m') ?? [];
    const minute = '2023-11-14 22:13:00';
    expect(rows).toEqual([[1, minute, '0.41005', '0.4001', '0.42', 41]]);
    for (const [last, bid, ask] of [
      [top(0, 4_200), null, '0.42'],
      [top(4_000, 0), '0.4', null],
      [top(0, 0), null, null],
    ] as const)
      expect(rowsOf([top(4_000, 4_200), last]).get('midpoints_1m')).toEqual([
        [1, minute, null, bid, ask, 41],
      ]);
  });

  test('sum the trades of a minute per token', () => {
    const fills = [
      fillOf({ takerPrice: 5_000, match: 'MINT' }),
      fillOf({ takerPrice: 5_500, match: 'MINT' }),
    ];
    const rows = (rowsOf(fills).get('candles_1m') ?? []).map((row) => named('candles', row));
    expect(rows[0]).toMatchObject({
      outcome: 0,
      open: '0.5',
      high: '0.55',
      close: '0.55',
      volume: '2',
      notional: '1.05',
      trades: 2,
    });
    expect(rows[1]).toMatchObject({
      outcome: 1,
      open: '0.5',
      low: '0.45',
      volume: '2',
      notional: '0.95',
    });
  });

  test('change nothing when a prefix is read again, but for rows that are the same', () => {
    const records = new TinyExchange(8).records(100);
    const views = new TableViews(0, none);
    for (const record of records) views.fold(record, appendedMs(record));
    const first = new Map(
      views.take().map((one) => [one.table.name, new Set(cellsOf(one).map(String))]),
    );
    for (const record of records.slice(0, 70)) views.fold(record, appendedMs(record));
    for (const one of views.take()) {
      const { table } = one;
      // Absolute values of a bucket: the older row loses by its version.
      if (['midpoints_1m', 'candles_1m', 'book_closings'].includes(table.name)) continue;
      for (const row of cellsOf(one)) expect(first.get(table.name)?.has(String(row))).toBe(true);
    }
  });
});
