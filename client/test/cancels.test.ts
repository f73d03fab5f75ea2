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

test('an order on its way when all are canceled is canceled by its id, too', async () => {
  fake.hangs = ({ method }: Heard) => method === 'POST';
  const order = await orderOf('7');
  const placing = client.postOrder(order).catch(() => null);
  await sentAgain('/order', 1);
  const { in_transit } = await client.cancelAll();
  expect(fake.receivedAt('/orders')).toMatchObject([{ method: 'DELETE', body: [order.orderId] }]);
  expect(in_transit).toEqual([order.orderId]);
  await fake.close();
  fake = await FakeExchange.open();
  await placing;
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

test('what tries have canceled is in the error when the last one fails', async () => {
  const partly = refused('cancel_unconfirmed', 503, { canceled: ['0xaa'], not_canceled: {} });
  fake.fates = [partly, refused('invalid_l2', 401)];
  await expect(client.cancelAll()).rejects.toMatchObject({
    code: 'invalid_l2',
    body: { canceled: ['0xaa'] },
  });
});
