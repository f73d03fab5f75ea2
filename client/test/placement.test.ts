import { Random } from '@pm/kit/random';
import type { StoredOrder } from '@pm/schemas/http/reading';
import { overloadedCode } from '../src/errors.ts';
import {
  ExchangeClient,
  ExchangeError,
  UnresolvedOrdersError,
  walletFromPrivateKey,
} from '../src/index.ts';
import type { OrderIntent } from '../src/order.ts';
import { attemptLifeMs, placementOf, refused, SentOrder } from '../src/sent-order.ts';
import {
  FakeExchange,
  type Fate,
  placedResult,
  refusedResult,
  storedOrder,
} from './fake-exchange.ts';

let fake: FakeExchange;
let client: ExchangeClient;
const signer = walletFromPrivateKey(`0x${'11'.repeat(32)}`);
const retry = { firstPauseMs: 2, longestPauseMs: 10, totalMs: 2_000 };
const intent: OrderIntent = { tokenId: '7', side: 'BUY', price: '0.5', size: '10' };

beforeEach(async () => {
  fake = await FakeExchange.open();
  client = new ExchangeClient({ baseUrl: fake.baseUrl, signer, retry });
  await client.connect();
});

afterEach(() => fake.close());

const away = (status: number, code: string): Fate => ({ status, body: { error: code, code } });

test('an order whose response was lost is sent again as the same order, and is one order', async () => {
  fake.fates = ['lose the response', 'lose the request', away(502, '')];
  const order = await client.prepareOrder(intent);
  const result = await client.postOrder(order);
  expect(result).toMatchObject({ success: true, orderID: order.orderId, status: 'live' });
  expect([...fake.booked.keys()]).toEqual([order.orderId]);
  const bodies = fake.receivedAt('/order').map(({ body }) => JSON.stringify(body));
  expect(bodies.length).toBe(4);
  expect(new Set(bodies)).toEqual(new Set([JSON.stringify(order.submission)]));
});

test('the client waits as long as the exchange requests', async () => {
  fake.fates = [{ ...refusalFate(425, 'partition_not_ready'), retryAfter: 1 }];
  const startedAt = performance.now();
  expect((await client.placeOrder(intent)).success).toBe(true);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1_000);
  expect(fake.receivedAt('/order').length).toBe(2);
});

test('an order that is not confirmed yet is sent again as the same order', async () => {
  fake.fates = [refusalFate(503, 'order_unconfirmed')];
  const order = await client.prepareOrder(intent);
  expect(await client.postOrder(order)).toMatchObject({ success: true, orderID: order.orderId });
  fake.fates = [{ status: 200, body: [refusedResult('order_unconfirmed')] }];
  const [result] = await client.postOrders([order]);
  expect(result).toMatchObject({ success: true, orderID: order.orderId });
  const bodies = [...fake.receivedAt('/order'), ...fake.receivedAt('/orders')].map(({ body }) =>
    JSON.stringify(Array.isArray(body) ? body[0] : body),
  );
  expect(bodies).toEqual(Array(4).fill(JSON.stringify(order.submission)));
});

test.each([
  ['canceled', { status: 'CANCELED', reason: 'user' }],
  ['matched', { status: 'MATCHED', reason: 'matched', size_matched: '10' }],
])('the repetition of an order that has ended is %s, with the order', async (status, stored) => {
  const order = await client.prepareOrder(intent);
  await client.postOrder(order);
  fake.stored = stored;
  fake.fates = [
    { status: 200, body: { ...placedResult(order.orderId), repeated: true, alive: false } },
  ];
  const again = await client.postOrder(order);
  expect(again).toMatchObject({
    success: true,
    status,
    repeated: true,
    alive: false,
    order: stored,
  });
});

test('an order that was too late for its book is signed again, and the first one is not sent again', async () => {
  fake.fates = [refusalFate(400, 'too_late')];
  const result = await client.placeOrder(intent);
  const ids = fake.receivedAt('/order').map(({ body }) => JSON.stringify(body));
  expect([ids.length, new Set(ids).size]).toEqual([2, 2]);
  expect(result).toMatchObject({ success: true, status: 'live' });
  expect([...fake.booked.keys()]).toEqual([result.orderID]);
  fake.fates = [{ status: 200, body: [placedResult('0x01'), refusedResult('too_late')] }];
  const both = await client.placeOrders([intent, intent]);
  expect(both.map(({ success }) => success)).toEqual([true, true]);
  const [first, again] = fake.receivedAt('/orders').map(({ body }) => body as object[]);
  expect(again).toHaveLength(1);
  expect(first).not.toContainEqual(again?.[0]);
});

test('an order that its caller has signed or bounded stays too late, and so does one whose budget has ended', async () => {
  const late = refusalFate(400, 'too_late');
  fake.fates = [late, late];
  expect((await client.postOrder(await client.prepareOrder(intent))).code).toBe('too_late');
  expect((await client.placeOrder(intent, { timeToBookMs: 250 })).code).toBe('too_late');
  expect(fake.receivedAt('/order')).toHaveLength(2);
  fake.fates = [late];
  const hasty = await connected({ retry: { ...retry, totalMs: 0 } });
  expect((await hasty.placeOrder(intent)).code).toBe('too_late');
});

test('a refusal is a result, and so is a mode that an operator set', async () => {
  fake.fates = [refusalFate(400, 'invalid_size'), refusalFate(503, 'cancel_only')];
  expect((await client.placeOrder(intent)).code).toBe('invalid_size');
  expect((await client.placeOrder(intent)).code).toBe('cancel_only');
  expect(fake.receivedAt('/order').length).toBe(2);
});

test('of a batch only orders without a definite result are sent again, and results keep their order', async () => {
  const orders = await Promise.all([1, 2, 3, 4].map(() => client.prepareOrder(intent)));
  const ids = orders.map(({ orderId }) => orderId);
  const [first = '', , third = ''] = ids;
  fake.fates = [
    {
      status: 200,
      body: [
        placedResult(first),
        refusedResult('overloaded'),
        { ...placedResult(third), status: 'delayed' },
        refusedResult('fok_not_filled'),
      ],
    },
  ];
  const results = await client.postOrders(orders);
  expect(results.map(({ orderID, code }) => code ?? orderID)).toEqual([
    ...ids.slice(0, 3),
    'fok_not_filled',
  ]);
  const [, again] = fake.receivedAt('/orders');
  expect(again?.body).toEqual([orders[1]?.submission, orders[2]?.submission]);
});

test('a batch that is refused as a whole, because every order is, has a result for each', async () => {
  fake.fates = [away(409, 'system_paused')];
  const results = await client.placeOrders([intent, intent]);
  expect(results.map(({ success, code }) => [success, code])).toEqual([
    [false, 'system_paused'],
    [false, 'system_paused'],
  ]);
});

test('a request that is wrong as a whole is an error with a code', async () => {
  fake.fates = [away(401, 'invalid_l2')];
  const failure = client.placeOrders([intent]);
  await expect(failure).rejects.toMatchObject({ code: 'invalid_l2', retryable: false });
});

describe('when the retry budget ends', () => {
  const impatient = { firstPauseMs: 20, longestPauseMs: 100, totalMs: 1_000 };
  const lost = (kind: Fate) => Array.from({ length: 400 }, () => kind);

  test('a booked order is read from the log', async () => {
    const hasty = await connected({ retry: impatient });
    const order = await hasty.prepareOrder(intent);
    fake.fatedMethod = 'POST';
    fake.fates = lost('lose the response');
    const result = await hasty.postOrder(order);
    expect(result).toMatchObject({ success: true, status: 'live', orderID: order.orderId });
    expect(result.order?.id).toBe(order.orderId);
  });

  test('an order that was canceled meanwhile is canceled, and not live', async () => {
    const hasty = await connected({ retry: impatient });
    const order = await hasty.prepareOrder(intent);
    fake.fatedMethod = 'POST';
    fake.fates = lost('lose the response');
    fake.stored = { status: 'CANCELED', reason: 'user' };
    const result = await hasty.postOrder(order);
    expect(result).toMatchObject({
      success: true,
      status: 'canceled',
      alive: false,
      repeated: true,
    });
    fake.stored = { status: 'CANCELED', reason: 'remainder', size_matched: '2' };
    expect(await hasty.postOrder(order)).toMatchObject({ status: 'matched', alive: false });
  });

  test('a refused order is read from the log', async () => {
    const hasty = await connected({ retry: { ...impatient, totalMs: 0 } });
    const order = await hasty.prepareOrder(intent);
    fake.refused.set(order.orderId, 'fok_not_filled');
    fake.fates = ['lose the request'];
    const result = await hasty.postOrder(order);
    expect(result).toMatchObject({ success: false, code: 'fok_not_filled' });
  });

  test('a refusal that the matcher does not remember leaves open what comes of another attempt', async () => {
    const order = await client.prepareOrder(intent);
    const unfunded = 'insufficient_balance_or_allowance';
    // The first attempt is lost, the second one refused, and so the log has it.
    fake.fates = ['lose the request', refusalFate(400, unfunded), away(404, unfunded)];
    expect(await client.postOrder(order)).toMatchObject({ success: true, orderID: order.orderId });
    expect([...fake.booked.keys()]).toEqual([order.orderId]);
  });

  test('such a refusal counts once no lost attempt can come to the book any more', async () => {
    const order = await client.prepareOrder(intent);
    const refusal = refused('insufficient_balance_or_allowance', '');
    const lostAgoMs = [attemptLifeMs - 1_000, attemptLifeMs + 1_000];
    const results = lostAgoMs.map((agoMs) => {
      const sent = new SentOrder(order, performance.now() - agoMs);
      sent.note(refusal, true);
      sent.noteLog(refusal);
      return sent.result;
    });
    expect(results).toEqual([null, refusal]);
  });

  test('a refusal by the log alone does not end an order in doubt, however late it is read', async () => {
    const order = await client.prepareOrder(intent);
    const sent = new SentOrder(order, performance.now() - attemptLifeMs - 1_000);
    sent.noteLog(refused('insufficient_balance_or_allowance', ''));
    expect(sent.result).toBeNull();
  });

  test('a refusal for good ends no order in doubt while the log cannot be read', async () => {
    const order = await client.prepareOrder(intent);
    const refusal = refused('invalid_size', '');
    const [unread, read] = [false, true].map((isRead) => {
      const sent = new SentOrder(order, performance.now());
      sent.note(refusal, true);
      if (isRead) sent.noteUnknown();
      sent.conclude();
      return sent.result;
    });
    expect([unread, read]).toEqual([null, refusal]);
  });

  test('an attempt for which no time was left does not hide what the exchange has said', async () => {
    const order = await client.prepareOrder(intent);
    const unsent = new ExchangeError(503, { error: 'too late', code: overloadedCode });
    const codes = [[refused('partition_not_ready', '')], []].map((before) => {
      const sent = new SentOrder(order, null);
      for (const refusal of before) sent.note(refusal, true);
      sent.noteFailure(unsent);
      sent.conclude();
      return sent.result?.code;
    });
    expect(codes).toEqual(['partition_not_ready', overloadedCode]);
  });

  test('an unknown order is reported as unresolved, and can be sent again', async () => {
    const hasty = await connected({ retry: { ...impatient, totalMs: 0 } });
    const orders = await Promise.all([hasty.prepareOrder(intent), hasty.prepareOrder(intent)]);
    fake.fates = ['lose the request'];
    const failure: unknown = await hasty.postOrders(orders).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnresolvedOrdersError);
    if (!(failure instanceof UnresolvedOrdersError)) return;
    expect(failure.orders).toEqual(orders);
    expect((await hasty.postOrders(failure.orders)).every(({ success }) => success)).toBe(true);
  });

  test('an order that was never accepted has its last refusal', async () => {
    const hasty = await connected({ retry: impatient });
    fake.fates = lost(refusalFate(425, 'partition_not_ready'));
    expect(await hasty.placeOrder(intent)).toMatchObject({ code: 'partition_not_ready' });
    expect(fake.received.every(({ path }) => path === '/order')).toBe(true);
  });
});

test('the time to book is sent with every attempt: what is left of it, and at which times it begins and ends', async () => {
  fake.fates = ['lose the request', 'lose the response'];
  const beforeMs = Date.now();
  await client.placeOrder(intent, { timeToBookMs: 5_000 });
  const headers = fake.receivedAt('/order').map((one) => one.headers);
  const [left, until, first] = [
    'service_time_to_book_ms',
    'service_valid_until_ms',
    'service_first_sent_ms',
  ].map((name) => headers.map((one) => Number(one[name])));
  expect(left?.[0]).toBe(5_000);
  expect(left?.[2]).toBeLessThan(5_000);
  expect(until).toEqual(Array.from({ length: 3 }, () => until?.[0]));
  expect(first).toEqual(until?.map((endMs) => endMs - 5_000));
  // The clock of the exchange is known to a second or better; clocks here and there are one.
  expect(until?.[0]).toBeGreaterThanOrEqual(beforeMs + 5_000);
  expect(until?.[0]).toBeLessThanOrEqual(Date.now() + 6_001);
});

test.each(['too_late', 'self_trade', 'a_later_code'])(
  'an order that was held and then refused as %s, as the log says, was not placed',
  (code) => {
    const stored = { ...(storedOrder('0x01') as StoredOrder), status: 'CANCELED' as const };
    const held = placementOf({ ...stored, reason: code, code });
    expect([held.success, held.code, held.orderID]).toEqual([false, code, '']);
    const rested = placementOf({ ...stored, reason: code });
    expect([rested.success, rested.status]).toEqual([true, 'canceled']);
  },
);

test('an order without a time to book has none of these headers', async () => {
  await client.placeOrder(intent);
  const names = Object.keys(fake.receivedAt('/order')[0]?.headers ?? {});
  expect(names.filter((name) => /time_to_book|valid_until|first_sent/.test(name))).toEqual([]);
});

test('under random faults every order is booked once or reported as refused, and no other is booked', async () => {
  const random = new Random(20_260_601);
  const patient = await connected({ retry: { ...retry, totalMs: 60_000 } });
  const kinds: Fate[] = [
    'serve',
    'serve',
    'lose the response',
    'lose the request',
    away(503, 'overloaded'),
    away(500, 'internal_error'),
    away(429, 'rate_limited'),
    refusalFate(425, 'partition_not_ready'),
  ];
  fake.fates = Array.from({ length: 200 }, () => random.pick(kinds));
  fake.refuses = (id) => Number.parseInt(id.slice(-1), 16) % 4 === 0;
  const placed: string[] = [];
  const refused: string[] = [];
  for (let round = 0; round < 15; round += 1) {
    const count = 1 + random.below(4);
    const orders = await Promise.all(
      Array.from({ length: count }, () => patient.prepareOrder(intent)),
    );
    const results = await patient.postOrders(orders);
    expect(results.length).toBe(count);
    for (const [index, { orderId }] of orders.entries()) {
      const result = results[index];
      if (result?.success === true) expect(result.orderID).toBe(orderId);
      (result?.success === true ? placed : refused).push(orderId);
    }
  }
  expect(placed.sort()).toEqual([...fake.booked.keys()].sort());
  expect(refused.sort()).toEqual([...fake.refused.keys()].sort());
  expect(Math.min(placed.length, refused.length)).toBeGreaterThan(0);
}, 60_000);

async function connected(options: { retry: typeof retry }): Promise<ExchangeClient> {
  const one = new ExchangeClient({ baseUrl: fake.baseUrl, signer, ...options });
  await one.connect();
  return one;
}

/** The response to a single refused order: the status of its refusal and the full result. */
function refusalFate(status: number, code: string) {
  return { status, body: { ...refusedResult(code), error: code } };
}
