import { ExchangeClient } from '../src/exchange-client.ts';
import type { BuiltOrder } from '../src/order.ts';
import { walletFromPrivateKey } from '../src/wallet.ts';
import { FakeExchange, type Heard } from './fake-exchange.ts';

const signer = walletFromPrivateKey('0x'.concat('11'.repeat(32)));
const retry = { firstPauseMs: 20, longestPauseMs: 50, totalMs: 10_000 };
const canceledNothing = { status: 200, body: { canceled: [], not_canceled: {} } };

let fake: FakeExchange;
let client: ExchangeClient;
beforeEach(async () => {
  fake = await FakeExchange.open();
  fake.answer = () => canceledNothing;
  client = new ExchangeClient({ baseUrl: fake.baseUrl, signer, retry });
  await client.connect();
});
afterEach(() => fake.close());

const orderOf = (tokenId: string): Promise<BuiltOrder> =>
  client.prepareOrder({ tokenId, side: 'BUY', price: '0.5', size: '10' });
const refused = (code: string, status: number, body: object = {}) => ({
  status,
  body: { error: code, code, ...body },
});
const sentAgain = async (path: string, times: number): Promise<void> => {
  while (fake.receivedAt(path).length < times) await new Promise((done) => setTimeout(done, 5));
};

describe('a placement that waits to be sent again', () => {
  beforeEach(() => {
    fake.fatedMethod = 'POST';
    fake.fates = Array.from({ length: 1_000 }, () => refused('partition_not_ready', 425));
  });

  test.each<[string, (order: BuiltOrder) => Promise<unknown>]>([
    ['its id', ({ orderId }) => client.cancelOrder(orderId)],
    ['ids', ({ orderId }) => client.cancelOrders([orderId.toUpperCase().replace('0X', '0x')])],
    ['its token', () => client.cancelMarketOrders({ asset_id: '7' })],
    ['its market', () => client.cancelMarketOrders({ market: '0x01' })],
    ['everything', () => client.cancelAll()],
  ])('is not sent any more after a cancel of %s', async (_name, cancel) => {
    fake.answer = ({ path }) =>
      path === '/book' ? { status: 200, body: { market: '0x01' } } : canceledNothing;
    const order = await orderOf('7');
    const placing = client.postOrder(order);
    await sentAgain('/order', 2);
    await cancel(order);
    fake.fates = [];
    expect(await placing).toMatchObject({ success: false });
    expect([...fake.booked]).toEqual([]);
  });

  test('goes on after a cancel of another order, token or market', async () => {
    fake.answer = ({ path }) =>
      path === '/book' ? { status: 200, body: { market: '0x01' } } : canceledNothing;
    const placing = client.postOrder(await orderOf('7'));
    await sentAgain('/order', 2);
    await client.cancelOrder(`0x${'12'.repeat(32)}`);
    await client.cancelMarketOrders({ asset_id: '8' });
    await client.cancelMarketOrders({ market: '0x02' });
    fake.fates = [];
    expect(await placing).toMatchObject({ success: true });
  });
});

describe('an order on its way when all are canceled', () => {
  let id: string;
  let placing: Promise<unknown>;

  beforeEach(async () => {
    fake.hangs = ({ method }: Heard) => method === 'POST';
    fake.fatedMethod = 'DELETE';
    const order = await orderOf('7');
    id = order.orderId;
    placing = client.postOrder(order).catch(() => null);
    await sentAgain('/order', 1);
  });

  afterEach(async () => {
    fake.refused.set(id, 'fenced');
    fake.dropConnections();
    await placing;
  });

  test('is canceled by its id, too', async () => {
    expect(await client.cancelAll()).toMatchObject({ in_transit: [id], complete: true });
    expect(fake.receivedAt('/orders')).toMatchObject([{ method: 'DELETE', body: [id] }]);
  });

  test('leaves the result incomplete where the cancel of its id was lost or failed', async () => {
    fake.fates = ['serve', 'lose the response'];
    const lost = await client.cancelAll();
    expect(lost).toMatchObject({ canceled: [], in_transit: [id], complete: false });
    fake.fates = ['serve', refused('invalid_l2', 401)];
    const failed = await client.cancelAll();
    expect(failed).toMatchObject({ canceled: [], in_transit: [id], complete: false });
    const partly = refused('cancel_unconfirmed', 503, { canceled: [id], not_canceled: {} });
    fake.fates = ['serve', partly, refused('invalid_l2', 401)];
    const named = await client.cancelAll();
    expect(named).toMatchObject({ canceled: [id], in_transit: [], complete: false });
  });
});

test('what each try of a cancel has canceled is in its result', async () => {
  const [a, b, c] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(64)}`);
  const partly = refused('cancel_unconfirmed', 503, { canceled: [a], not_canceled: {} });
  const gone = { [a as string]: "order can't be found - already canceled or matched" };
  fake.fates = [partly, { status: 200, body: { canceled: [b], not_canceled: gone } }];
  expect(await client.cancelAll()).toMatchObject({ canceled: [a, b], not_canceled: {} });
  fake.fates = [partly, { status: 200, body: { canceled: [b, c], not_canceled: gone } }];
  const ids = [a, b, c] as string[];
  expect(await client.cancelOrders(ids)).toEqual({ canceled: ids, not_canceled: {} });
});

test('orders that were not asked for, as the exchange is overloaded, are canceled by the next try', async () => {
  const [a, b, c] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(64)}`) as [
    string,
    string,
    string,
  ];
  const codes = { [b]: 'overloaded', [c]: 'already_matched' };
  const partly = { canceled: [a], not_canceled: codes, not_canceled_codes: codes };
  fake.fates = [
    { status: 200, body: partly },
    { status: 200, body: { canceled: [b], not_canceled: {} } },
  ];
  const left = { [c]: 'already_matched' };
  expect(await client.cancelOrders([a, b, c])).toEqual({
    canceled: [a, b],
    not_canceled: left,
    not_canceled_codes: left,
  });
  expect(fake.receivedAt('/orders').map(({ body }) => body)).toEqual([[a, b, c], [b]]);
});

describe('a cancel whose first response was lost', () => {
  const ids = ['a', 'b', 'c', 'd'].map((digit) => `0x${digit.repeat(64)}`);
  const [a, b, c, d] = ids as [string, string, string, string];
  const entry = (order_id: string, reason: string) => ({
    order_id,
    status: 200,
    order: { id: order_id, status: 'CANCELED', reason },
  });
  const answerWith = (codes: Readonly<Record<string, string>>) => {
    fake.answer = ({ method, path }) => {
      if (method === 'POST' && path === '/data/orders')
        return { status: 207, body: [entry(a, 'user'), entry(b, 'expired')] };
      return {
        status: 200,
        body: { canceled: [], not_canceled: codes, not_canceled_codes: codes },
      };
    };
    fake.fatedMethod = 'DELETE';
    fake.fates = ['lose the response'];
  };

  test('names the orders that it has canceled, by the log', async () => {
    const codes = { [b]: 'order_not_found', [c]: 'order_unknown', [d]: 'already_matched' };
    answerWith({ [a]: 'order_not_found', ...codes });
    const result = await client.cancelOrders(ids);
    expect(result).toEqual({ canceled: [a], not_canceled: codes, not_canceled_codes: codes });
    expect(fake.receivedAt('/data/orders')).toMatchObject([
      { body: [{ orderId: a }, { orderId: b }] },
    ]);
    answerWith({ [a]: 'order_not_found' });
    expect(await client.cancelOrder(a)).toEqual({ canceled: [a], not_canceled: {} });
  });

  test('says that it stopped what was on its way, by the log', async () => {
    const codes = { [a]: 'order_not_found', [b]: 'order_not_found', [c]: 'order_not_found' };
    answerWith(codes);
    const { answer } = fake;
    const held = entry(a, 'fenced');
    const late = entry(c, 'too_late');
    const found = [
      { ...held, order: { ...held.order, code: 'fenced' } },
      { order_id: b, status: 404, error: 'order not found', code: 'fenced' },
      { ...late, order: { ...late.order, code: 'too_late' } },
    ];
    fake.answer = (heard) =>
      heard.method === 'POST' ? { status: 207, body: found } : answer(heard);
    const text = 'order was canceled before it reached the book';
    expect(await client.cancelOrders([a, b, c])).toEqual({
      canceled: [],
      not_canceled: { [a]: text, [b]: text, [c]: 'order_not_found' },
      not_canceled_codes: { [a]: 'fenced', [b]: 'fenced', [c]: 'order_not_found' },
    });
  });

  test('leaves what cannot be read as it is', async () => {
    const codes = { [a]: 'order_not_found' };
    answerWith(codes);
    const { answer } = fake;
    fake.answer = (heard) => (heard.method === 'POST' ? refused('overloaded', 503) : answer(heard));
    expect(await client.cancelOrder(a)).toEqual({
      canceled: [],
      not_canceled: codes,
      not_canceled_codes: codes,
    });
  });

  test('says that its list may lack some, where it names no orders', async () => {
    expect(await client.cancelAll()).toMatchObject({ complete: true });
    for (const fate of ['lose the response', refused('partition_not_ready', 425)] as const) {
      fake.fates = [fate];
      expect(await client.cancelAll()).toMatchObject({ canceled: [], complete: false });
    }
    fake.fates = [refused('rate_limited', 429)];
    expect(await client.cancelMarketOrders({ asset_id: '7' })).toMatchObject({ complete: true });
  });
});

test('an order that had ended before the only try is not read', async () => {
  const codes = { '0xaa': 'order_not_found' };
  const body = { canceled: [], not_canceled: codes, not_canceled_codes: codes };
  fake.answer = () => ({ status: 200, body });
  expect(await client.cancelOrder('0xaa')).toEqual(body);
  expect(fake.receivedAt('/data/orders')).toEqual([]);
});

test('what tries have canceled is in the error when the last one fails', async () => {
  const partly = refused('cancel_unconfirmed', 503, { canceled: ['0xaa'], not_canceled: {} });
  fake.fates = [partly, refused('invalid_l2', 401)];
  await expect(client.cancelAll()).rejects.toMatchObject({
    code: 'invalid_l2',
    body: { canceled: ['0xaa'] },
  });
  const unconfirmed = { '0xbb': 'cancel_unconfirmed' };
  const body = {
    canceled: ['0xaa'],
    not_canceled: unconfirmed,
    not_canceled_codes: unconfirmed,
  };
  fake.fates = [{ status: 200, body }, refused('invalid_l2', 401)];
  await expect(client.cancelOrders(['0xaa', '0xbb'])).rejects.toMatchObject({
    code: 'invalid_l2',
    body: { canceled: ['0xaa'] },
  });
});
