import { microText, priceText } from '@pm/schemas/decimal';
import { apiKeyFromBytes, orderIdFromBytes, walletFromBytes } from '@pm/schemas/ids';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import { columnNames } from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import { bytesOf } from '../../../kit/test/seeded.ts';
import { TableViews } from '../../src/views/table-views.ts';
import { executionOf, fillOf } from '../log.ts';
import { cellsOf, named } from '../tables/cells.ts';

const ids = { orderId: bytesOf(32, 5), maker: bytesOf(20, 6), apiKey: bytesOf(16, 7) };
const terms = {
  ...ids,
  command: 0,
  market: 3,
  outcome: 1,
  side: 'SELL',
  timeInForce: 'FAK',
  price: 7_500,
  sizeMicro: 8_000_000,
  expiresAtMs: 1_800_000_000_001,
  acceptedAtMs: 1_699_999_999_999,
} as const;
const timeMs = 1_700_000_012_345;
const appendedAtMs = 1_700_000_012_567;

const placed: ExecutionEvent = {
  ...terms,
  kind: 'OrderPlaced',
  postOnly: false,
  signer: ids.maker,
  builder: bytesOf(32, 0),
  status: 'MATCHED',
  filledMicro: 5_000_000,
  paidMicro: 0,
  feeMicro: 0,
  restingMicro: 3_000_000,
};
const marketBuy: ExecutionEvent = {
  ...placed,
  side: 'BUY',
  sizeMicro: 8_000_000,
  filledMicro: 11_000_000,
  restingMicro: 0,
};
const delayed: ExecutionEvent = {
  ...terms,
  kind: 'OrderDelayed',
  releaseAtMs: 9,
  heldMicro: 0,
};
const refused: ExecutionEvent = {
  ...ids,
  kind: 'OrderRefused',
  command: 0,
  market: 3,
  code: 'fok_not_filled' as never,
};
const canceled: ExecutionEvent = {
  ...ids,
  kind: 'OrderCanceled',
  command: 0,
  market: 3,
  reason: 'USER',
  restMicro: 3_000_000,
};
const fill = {
  ...fillOf({ match: 'MINT', takerOutcome: 1, takerPrice: 6_100, sizeMicro: 2_500_000 }),
  makerRestMicro: 1_500_000,
};

const shown = (ms: number) => new Date(ms).toISOString().replace('T', ' ').replace('Z', '');
const place = {
  partition: 7,
  in_offset: 41,
  event_index: 1,
  time: shown(timeMs),
  appended_at: shown(appendedAtMs),
};
const order = {
  ...place,
  order_id: orderIdFromBytes(ids.orderId),
  wallet: walletFromBytes(ids.maker),
  api_key: apiKeyFromBytes(ids.apiKey),
  market: 3,
};
const stated = {
  ...order,
  outcome: 1,
  side: 'SELL',
  time_in_force: 'FAK',
  price: '0.75',
  size: '8',
  expires_at: shown(terms.expiresAtMs),
  accepted_at: shown(terms.acceptedAtMs),
  reason: '',
};
const sideOf = (side: 'taker' | 'maker') => ({
  ...place,
  kind: 'FILLED',
  order_id: orderIdFromBytes(fill[`${side}OrderId`]),
  wallet: walletFromBytes(fill[side]),
  api_key: apiKeyFromBytes(fill[`${side}Key`]),
  market: fill.market,
  outcome: fill[`${side}Outcome`],
  side: fill[`${side}Side`],
  price: priceText(fill[`${side}Price`]),
  size: microText(fill.sizeMicro),
  reason: '',
  role: side.toUpperCase(),
});

/** All that the log says of the rows of each kind. Nothing else of it may be said. */
const facts: readonly (readonly [string, ExecutionEvent, readonly Record<string, unknown>[]])[] = [
  ['placed', placed, [{ ...stated, kind: 'PLACED', status: 'MATCHED', resting: '3' }]],
  [
    'placed, as a market buy whose budget bought more than the size that its client named',
    marketBuy,
    [{ ...stated, side: 'BUY', kind: 'PLACED', status: 'MATCHED', resting: '0' }],
  ],
  ['delayed', delayed, [{ ...stated, kind: 'DELAYED', status: 'DELAYED', resting: '0' }]],
  ['refused', refused, [{ ...order, kind: 'REFUSED', reason: 'fok_not_filled', resting: '0' }]],
  ['canceled', canceled, [{ ...order, kind: 'CANCELED', reason: 'USER', size: '3', resting: '0' }]],
  [
    'filled',
    fill,
    [sideOf('taker'), sideOf('maker')].map((one, of) => ({
      ...one,
      resting: of === 0 ? '0' : '1.5',
    })),
  ],
];

function rowsOf(events: readonly ExecutionEvent[], table: keyof typeof tables) {
  const views = new TableViews(7, { positions: [], candles: [] });
  // Behind an event of no row, so that the index of the event is not 0.
  const nothing = { kind: 'CancelRefused', command: 0, orderId: ids.orderId, code: 'too_late' };
  views.fold(executionOf(41, [nothing as never, ...events], timeMs), appendedAtMs);
  const taken = views.take().find((one) => one.table === tables[table]);
  return (taken === undefined ? [] : cellsOf(taken)).map((row) => named(tables[table], row));
}

describe('a column of the orders’ tables says what the log says, or NULL', () => {
  test.each(facts)('when an order is %s', (_title, event, due) => {
    const unsaid = columnNames(tables.orderEvents).map((name) => [name, null] as const);
    expect(rowsOf([event], 'orderEvents')).toEqual(
      due.map((row) => ({ ...Object.fromEntries(unsaid), ...row })),
    );
  });

  test('when an order never expires', () => {
    const [row] = rowsOf([{ ...placed, expiresAtMs: 0 } as ExecutionEvent], 'orderEvents');
    expect(row).toMatchObject({ expires_at: null });
  });

  test('when a fill is of an order that is placed behind it, whose acceptance it has', () => {
    const taker = { ...placed, orderId: fill.takerOrderId, maker: fill.taker };
    const other = { ...taker, orderId: ids.orderId, acceptedAtMs: 5 };
    const accepted = (table: 'fills' | 'orderEvents', ...events: readonly ExecutionEvent[]) =>
      rowsOf(events, table).map((row) => row['accepted_at']);
    const at = shown(terms.acceptedAtMs);
    expect(accepted('fills', other, fill, fill, canceled, taker, other)).toEqual([at, at]);
    expect(accepted('fills', fill, other, taker)).toEqual([null]);
    const [first, second] = [{ ...other, acceptedAtMs: 7_000 }, taker];
    const before = { ...fill, takerOrderId: ids.orderId };
    expect(accepted('fills', before, first, fill, second)).toEqual([shown(7_000), at]);
    expect(accepted('orderEvents', fill, taker)).toEqual([at, null, at]);
  });

  test('when it leaves the book, whose rows do not repeat where it rested', () => {
    const book = { market: 3, order_id: order.order_id, side: null, price: null, size: '0' };
    expect(rowsOf([canceled], 'bookOrders')).toEqual([{ ...place, ...book }]);
    const { wallet, order_id, api_key, market } = order;
    const open = { wallet, order_id, api_key, market, outcome: null, placed_at: null };
    expect(rowsOf([canceled], 'openOrders')).toEqual([
      { ...open, partition: 7, version: 41, ended: 1 },
    ]);
  });
});
