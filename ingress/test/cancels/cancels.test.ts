import type { OrderId } from '@pm/schemas/ids';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import type { Command } from '@pm/schemas/log/orders';
import { type RefusalCode, refusalText } from '@pm/schemas/refusals';
import {
  answered,
  call,
  conditionId,
  type IngressUnderTest,
  lateConditionId,
  lateMarket,
  openIngress,
  owner,
  tokenId,
} from '../ingress-fixture.ts';

let ingress: IngressUnderTest;
beforeEach(async () => {
  ingress = await openIngress();
});
afterEach(() => ingress.app.close());

const orderId = `0x${'ab'.repeat(32)}` as OrderId;
const idBytes = Buffer.alloc(32, 0xab);
const canceled: ExecutionEvent = {
  kind: 'OrderCanceled',
  command: 0,
  orderId: idBytes,
  market: 1,
  maker: Buffer.alloc(20),
  apiKey: Buffer.alloc(16),
  reason: 'USER',
  restMicro: 1,
};
const refusedAs = (code: RefusalCode): ExecutionEvent => ({
  kind: 'CancelRefused',
  command: 0,
  orderId: idBytes,
  code,
});
const cancel = (body?: object, url = '/order') =>
  call(ingress, {
    method: 'DELETE',
    url,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

test('an order that is remembered is canceled in its partition, in either spelling', async () => {
  ingress.fakes.answer = () => answered([canceled]);
  ingress.memory.keep({ kind: 'refused', orderId, code: 'fok_not_filled' }, 2, 0);
  for (const body of [
    { orderID: orderId },
    { orderId },
    { orderID: orderId.toUpperCase().replace('0X', '0x') },
  ]) {
    expect((await cancel(body)).body).toEqual({ canceled: [orderId], not_canceled: {} });
  }
  expect(ingress.fakes.sent.map(({ partition }) => partition)).toEqual([2, 2, 2]);
  const command = ingress.fakes.sent[0]?.command as Extract<Command, { kind: 'CancelOrder' }>;
  expect(`0x${command.signer.toString('hex')}`).toBe(owner.address);
});

test('another order is asked for everywhere, and its own partition decides', async () => {
  const events: ExecutionEvent[][] = [[], [canceled], []];
  let next = 0;
  ingress.fakes.answer = () => answered(events[next++ % 3] ?? []);
  expect((await cancel({ orderID: orderId })).body).toEqual({
    canceled: [orderId],
    not_canceled: {},
  });
  expect(ingress.fakes.sent.map(({ partition }) => partition)).toEqual([0, 1, 2]);
  events[1] = [refusedAs('already_matched')];
  expect((await cancel({ orderID: orderId })).body).toEqual({
    canceled: [],
    not_canceled: { [orderId]: 'order already matched' },
    not_canceled_codes: { [orderId]: 'already_matched' },
  });
  events[1] = [refusedAs('order_not_found')];
  const text = "order can't be found - already canceled or matched";
  expect((await cancel({ orderID: orderId })).body.not_canceled).toEqual({ [orderId]: text });
  events[1] = [];
  const unknown = refusalText('order_unknown');
  expect((await cancel({ orderID: orderId })).body.not_canceled).toEqual({ [orderId]: unknown });
});

test('a cancel without a result is a failure to be tried again, unless its order was found', async () => {
  ingress.fakes.answer = () => ({ kind: 'pending' });
  const late = await cancel({ orderID: orderId });
  expect([late.status, late.body.code]).toEqual([503, 'cancel_unconfirmed']);
  ingress.fakes.ready = false;
  expect((await cancel({ orderID: orderId })).status).toBe(425);
  ingress.fakes.ready = true;
  let next = 0;
  ingress.fakes.answer = () => (next++ === 1 ? answered([canceled]) : { kind: 'pending' });
  expect((await cancel({ orderID: orderId })).status).toBe(200);
  ingress.fakes.answer = () => ({ kind: 'unsent', code: 'overloaded' });
  expect((await cancel({ orderID: orderId })).status).toBe(503);
  expect((await cancel({ market: conditionId }, '/cancel-market-orders')).status).toBe(503);
});

test.each([
  [{}],
  [{ orderID: '' }],
  [{ orderID: 5 }],
  [{ orderID: null }],
  [{ orderID: '0x12' }],
  [{ orderID: 'x'.repeat(200) }],
])('%j names no order', async (body) => {
  const answer = await cancel(body);
  expect([answer.status, answer.body]).toEqual([
    400,
    { error: 'Invalid orderID', code: 'invalid_order_id' },
  ]);
});

test.each([
  [{ market: conditionId }, -1],
  [{ market: conditionId, asset_id: '' }, -1],
  [{ asset_id: tokenId }, 0],
  [{ assetId: tokenId, market: '' }, 0],
  [{ asset_id: tokenId, market: conditionId }, 0],
  [{ asset_id: `${conditionId}:0` }, 0],
  [{ assetId: `${conditionId}:1`, market: conditionId }, 1],
])('%j cancels in its market', async (body, outcome) => {
  ingress.fakes.answer = () => answered([canceled]);
  const answer = await cancel(body, '/cancel-market-orders');
  expect(answer.body).toEqual({ canceled: [orderId], not_canceled: {} });
  expect(ingress.fakes.sent).toMatchObject([
    {
      partition: 1,
      command: { kind: 'CancelOrders', market: 1, outcome, apiKey: null, session: false },
    },
  ]);
});

test('the filter may stand in a signed query when the body was lost', async () => {
  ingress.fakes.answer = () => answered([]);
  const url = `/cancel-market-orders?asset_id=${tokenId}`;
  const answer = await call(ingress, { method: 'DELETE', url, signedPath: url });
  expect([answer.status, answer.body]).toEqual([200, { canceled: [], not_canceled: {} }]);
  expect(ingress.fakes.sent).toHaveLength(1);
});

test.each([
  [{}, 400, 'no_cancel_filter'],
  [{ market: '', asset_id: '' }, 400, 'no_cancel_filter'],
  [{ market: '0x12' }, 400, 'invalid_payload'],
  [{ asset_id: '-1' }, 400, 'invalid_payload'],
  [{ asset_id: 5 }, 400, 'invalid_payload'],
  [{ asset_id: `${conditionId}:2` }, 400, 'invalid_payload'],
  [[], 400, 'no_cancel_filter'],
  [{ asset_id: tokenId, market: `0x${'00'.repeat(32)}` }, 400, 'condition_mismatch'],
  [{ asset_id: `${conditionId}:0`, market: `0x${'00'.repeat(32)}` }, 400, 'condition_mismatch'],
])('%j is refused', async (body, status, code) => {
  const answer = await cancel(body, '/cancel-market-orders');
  expect([answer.status, ['invalid_payload', code].includes(answer.body.code)]).toEqual([
    status,
    true,
  ]);
});

test('nothing rests in a market that is not listed', async () => {
  const answer = await cancel({ market: `0x${'00'.repeat(32)}` }, '/cancel-market-orders');
  expect([answer.status, answer.body]).toEqual([200, { canceled: [], not_canceled: {} }]);
  expect(ingress.fakes.sent).toHaveLength(0);
});

test('orders in a market that was listed a moment ago are canceled once that is read', async () => {
  ingress.fakes.answer = () => answered([canceled]);
  ingress.fakes.lateMarkets.push(lateMarket);
  const answer = await cancel({ market: lateConditionId }, '/cancel-market-orders');
  expect(answer.body.canceled).toEqual([orderId]);
  expect(ingress.fakes.sent).toMatchObject([{ command: { market: lateMarket.market } }]);
});

test('a cancel in an unknown market is not confirmed where the newest ones cannot be read', async () => {
  ingress.fakes.catalogIsRead = false;
  const answer = await cancel({ market: `0x${'00'.repeat(32)}` }, '/cancel-market-orders');
  expect([answer.status, answer.body.code]).toEqual([503, 'cancel_unconfirmed']);
});

const more: ExecutionEvent = {
  kind: 'CommandRefused',
  command: 0,
  code: 'too_many_open_orders',
  requestId: null,
};

test('a cancel that one record cannot finish is repeated until nothing is left', async () => {
  const second = { ...canceled, orderId: Buffer.alloc(32, 0xcd) };
  const events = [[canceled, more], [second]];
  let next = 0;
  ingress.fakes.answer = () => {
    next += 1;
    return answered(events[next - 1] ?? []);
  };
  const answer = await cancel({ market: conditionId }, '/cancel-market-orders');
  expect(answer.body).toEqual({ canceled: [orderId, `0x${'cd'.repeat(32)}`], not_canceled: {} });
  expect(ingress.fakes.sent).toHaveLength(2);
});

test('a cancel that never comes to an end is refused, not returned as done', async () => {
  ingress.fakes.answer = () => answered([canceled, more]);
  const answer = await cancel({ market: conditionId }, '/cancel-market-orders');
  expect(answer.status).toBe(503);
  expect(ingress.fakes.sent.length).toBeLessThan(20);
});
