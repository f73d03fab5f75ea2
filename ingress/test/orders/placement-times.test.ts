import { waitedHeader } from '@pm/kit/http';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import type { PlaceOrder } from '@pm/schemas/log/orders';
import type { RefusalCode } from '@pm/schemas/refusals';
import { runLength } from '../../../kit/test/long-runs.ts';
import { seeded } from '../../../kit/test/seeded.ts';
import {
  answered,
  call,
  type IngressUnderTest,
  market,
  nowSeconds,
  openIngress,
  place,
  placeOne,
  restsAs,
  signedItem,
  testOrder,
} from '../ingress-fixture.ts';

let ingress: IngressUnderTest;
beforeEach(async () => {
  ingress = await openIngress();
});
afterEach(() => ingress.app.close());

function within(ms: string, item: object) {
  return placeWith({ service_time_to_book_ms: ms }, item);
}

function placeWith(headers: Readonly<Record<string, string>>, item: object) {
  const body = JSON.stringify({ ...item, owner: ingress.trio.apiKey });
  return call(ingress, { method: 'POST', url: '/order', body, headers });
}

const bookAgeLimitMs = 2_000;

/** Result of the matcher for an order that arrives when its clock shows `clockMs`. */
function judgedAt(clockMs: number, order: PlaceOrder) {
  const limitMs =
    order.ageLimitMs > 0 ? Math.min(order.ageLimitMs, bookAgeLimitMs) : bookAgeLimitMs;
  if (Math.abs(clockMs - order.acceptedAtMs) <= limitMs) return restsAs(order);
  const refusal: ExecutionEvent = { ...order, kind: 'OrderRefused', command: 0, code: 'too_late' };
  return answered([refusal]);
}

test('a client may ask for less time to the book than the default', async () => {
  expect((await within('150', signedItem(testOrder()).item)).status).toBe(200);
  await placeOne(ingress, signedItem(testOrder()).item);
  const limits = ingress.fakes.sent.map(({ command }) => Reflect.get(command, 'ageLimitMs'));
  expect(limits).toEqual([150, 0]);
  for (const ms of ['0', '-1', '1.5', '1e3', 'soon', '']) {
    const answer = await within(ms, signedItem(testOrder()).item);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
  }
  expect(ingress.fakes.sent).toHaveLength(2);
});

test('a client may name the time until which its orders are good, the same in each attempt', async () => {
  const { nowMs } = ingress.fakes;
  const until = { service_valid_until_ms: String(nowMs + 900) };
  expect((await placeWith(until, signedItem(testOrder()).item)).status).toBe(200);
  ingress.fakes.nowMs += 600;
  await placeWith(until, signedItem(testOrder()).item);
  await placeWith({ ...until, service_time_to_book_ms: '200' }, signedItem(testOrder()).item);
  const limits = ingress.fakes.sent.map(({ command }) => Reflect.get(command, 'ageLimitMs'));
  expect(limits).toEqual([900, 300, 200]);
  for (const time of ['0', 'soon', '', String(nowSeconds), `${nowMs}0`, `-${nowMs}`]) {
    const answer = await placeWith({ service_valid_until_ms: time }, signedItem(testOrder()).item);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
  }
  expect(ingress.fakes.sent).toHaveLength(3);
});

test('a retry is as old as its first attempt, so that a cancel that came between covers it', async () => {
  const sentMs = ingress.fakes.nowMs;
  const first = { service_first_sent_ms: String(sentMs) };
  ingress.fakes.nowMs += 400;
  await call(ingress, { method: 'DELETE', url: '/cancel-all' });
  const fenceMs = Reflect.get(ingress.fakes.sent[0]?.command ?? {}, 'acceptedAtMs');
  ingress.fakes.sent.length = 0;
  ingress.fakes.nowMs += 600;
  const until = String(sentMs + 1_500);
  const limits = [{}, { service_valid_until_ms: until }, { service_time_to_book_ms: '200' }];
  for (const limit of limits) await placeWith({ ...first, ...limit }, signedItem(testOrder()).item);
  const sent = ingress.fakes.sent.map(({ command }) => command as PlaceOrder);
  expect(sent.map(({ acceptedAtMs, ageLimitMs }) => [acceptedAtMs, ageLimitMs])).toEqual([
    [sentMs, 60_000],
    [sentMs, 1_500],
    [sentMs, 1_200],
  ]);
  expect(sentMs).toBeLessThanOrEqual(fenceMs);
});

test('no header makes an order younger than its arrival, or older than a minute', async () => {
  const { nowMs } = ingress.fakes;
  for (const sentMs of [nowMs + 1, nowMs + 3_600_000, nowMs - 60_001, 1_000_000_000_000]) {
    await placeWith({ service_first_sent_ms: String(sentMs) }, signedItem(testOrder()).item);
  }
  const times = ingress.fakes.sent.map(({ command }) => Reflect.get(command, 'acceptedAtMs'));
  expect(times).toEqual([nowMs, nowMs, nowMs - 60_000, nowMs - 60_000]);
  for (const time of ['0', 'soon', '', String(nowSeconds), `-${nowMs}`]) {
    const answer = await placeWith({ service_first_sent_ms: time }, signedItem(testOrder()).item);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
  }
});

test('an order whose time is over is not sent, and one that was sent in time has its first result', async () => {
  const until = { service_valid_until_ms: String(ingress.fakes.nowMs + 900) };
  const { item, hash } = signedItem(testOrder());
  const first = await placeWith(until, item);
  const sums = { filledMicro: 0, paidMicro: 0, trades: [] };
  const kept = { kind: 'placed', orderId: hash, side: 'BUY', status: 'LIVE', ...sums } as const;
  ingress.memory.keep(kept, 1, 0);
  ingress.fakes.nowMs += 901;
  const repeated = { ...first.body, repeated: true, alive: true };
  expect((await placeWith(until, item)).body).toEqual(repeated);
  const late = await placeWith(until, signedItem(testOrder()).item);
  expect([late.status, late.body.code]).toEqual([400, 'too_late']);
  expect(ingress.fakes.sent).toHaveLength(1);
});

test('of an order that is held for a tick the result at its end is returned', async () => {
  const { item, hash } = signedItem(testOrder());
  ingress.fakes.answer = (command) => {
    const order = command as PlaceOrder;
    return answered([delayedOf(order, -order.acceptedAtMs)]);
  };
  ingress.fakes.finalAnswers.set(hash, { kind: 'refused', orderId: hash, code: 'too_late' });
  expect((await within('20', item)).body).toMatchObject({ success: false, code: 'too_late' });
});

test.each([
  [0, 180, true],
  [999, 180, true],
  [1_000, 180, false],
  [1_999, 181, true],
])(
  '%i ms after a second, a GTD order until %i s after it is taken: %s',
  async (ms, seconds, isTaken) => {
    ingress.fakes.nowMs = nowSeconds * 1_000 + ms;
    const { item } = signedItem(testOrder(), { orderType: 'GTD' });
    const expiration = String(nowSeconds + seconds);
    const { body } = await placeOne(ingress, { ...item, order: { ...item.order, expiration } });
    expect(body.success).toBe(isTaken);
    if (!isTaken) expect(body.code).toBe('invalid_expiration');
  },
);

const requests = runLength({ test: 125, deep: 1_000 });

test(`of ${requests} requests stalled between arrival and log none is booked late`, async () => {
  const next = seeded(20_260_101);
  const startMs = ingress.fakes.nowMs;
  const booked: number[] = [];
  const late: number[] = [];
  const items = Array.from({ length: 40 }, () => signedItem(testOrder()).item);
  for (let count = 0; count < requests; count += 1) {
    const askedMs = count % 3 === 0 ? 1 + next(1_500) : 0;
    const stallMs = next(4_000);
    ingress.fakes.nowMs = startMs;
    ingress.fakes.answer = (command) => {
      const order = command as PlaceOrder;
      const outcome = judgedAt(order.acceptedAtMs + stallMs, order);
      const limitMs = askedMs > 0 ? Math.min(askedMs, bookAgeLimitMs) : bookAgeLimitMs;
      const isBooked =
        outcome.kind === 'executed' && outcome.events[0]?.event.kind === 'OrderPlaced';
      (isBooked ? booked : late).push(stallMs - limitMs);
      return outcome;
    };
    const item = items[count % items.length] ?? {};
    const answer =
      askedMs > 0 ? await within(String(askedMs), item) : await placeOne(ingress, item);
    expect(answer.body.success || answer.body.code === 'too_late').toBe(true);
  }
  expect(booked.filter((overMs) => overMs > 0)).toEqual([]);
  expect(late.filter((overMs) => overMs <= 0)).toEqual([]);
  expect(booked.length + late.length).toBe(requests);
}, 120_000);

test('responses to placements and cancels show the time of each stage', async () => {
  ingress.fakes.answer = (command) => {
    const outcome = command.kind === 'PlaceOrder' ? restsAs(command) : answered([]);
    return { ...outcome, times: { logMs: 3.456, matchMs: 1.2 } } as typeof outcome;
  };
  const { headers } = await place(ingress, [signedItem(testOrder()).item]);
  expect(headers['server-timing']).toBe(
    'auth;dur=0.00, validate;dur=0.00, reserve;dur=0.00, log;dur=3.46, match;dur=1.20',
  );
  for (const url of ['/cancel-all', `/cancel-market-orders?market=0x${'c1'.repeat(32)}`]) {
    const canceled = await call(ingress, { method: 'DELETE', url, signedPath: url });
    expect(canceled.headers['server-timing']).toBe('auth;dur=0.00, log;dur=3.46, match;dur=1.20');
  }
});

const delayedOf = (order: PlaceOrder, delayMs: number): ExecutionEvent => ({
  ...order,
  kind: 'OrderDelayed',
  command: 0,
  releaseAtMs: order.acceptedAtMs + delayMs,
  heldMicro: order.holdMicro,
});

test('a short taker delay is waited for, a long one is returned as delayed', async () => {
  const { item, hash } = signedItem(testOrder());
  ingress.fakes.answer = (command) => answered([delayedOf(command as PlaceOrder, 250)]);
  const sums = { filledMicro: 10_000_000, paidMicro: 5_000_000, trades: [] };
  const kept = { kind: 'placed', orderId: hash, side: 'BUY', status: 'MATCHED', ...sums } as const;
  ingress.fakes.finalAnswers.set(hash, kept);
  expect((await placeOne(ingress, item)).body).toMatchObject({
    status: 'matched',
    orderID: hash,
    takingAmount: '10',
  });
  ingress.fakes.answer = (command) => answered([delayedOf(command as PlaceOrder, 3_000)]);
  expect((await placeOne(ingress, item)).body).toMatchObject({ success: true, status: 'delayed' });
  ingress.fakes.finalAnswers.clear();
  ingress.fakes.answer = (command) => answered([delayedOf(command as PlaceOrder, 250)]);
  expect((await placeOne(ingress, item)).body).toMatchObject({ status: 'delayed', orderID: hash });
});

const refuseAll = (code: RefusalCode) => {
  ingress.fakes.answer = (command) =>
    answered([{ ...(command as PlaceOrder), kind: 'OrderRefused', command: 0, code }]);
};

test.each([
  ['system_paused', 409, undefined],
  ['condition_paused', 409, undefined],
  ['cancel_only', 503, '1'],
  ['trading_disabled', 503, '1'],
] as const)(
  'a batch of which all items are refused as %s fails with %i',
  async (code, status, wait) => {
    refuseAll(code);
    const answer = await place(
      ingress,
      [1, 2].map(() => signedItem(testOrder()).item),
    );
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.headers['retry-after']).toBe(wait);
    const single = await placeOne(ingress, signedItem(testOrder()).item);
    expect([single.status, single.body.code, single.body.success]).toEqual([status, code, false]);
  },
);

test('post-only mode stays with the items of a batch and is 503 for a single order', async () => {
  refuseAll('post_only_mode');
  const batch = await place(ingress, [signedItem(testOrder()).item]);
  expect([batch.status, batch.body[0]]).toMatchObject([
    200,
    {
      success: false,
      code: 'post_only_mode',
      errorMsg: 'post-only mode: only post-only orders and cancels are allowed',
      retry_after_seconds: 1,
    },
  ]);
  const single = await placeOne(ingress, signedItem(testOrder()).item);
  expect([single.status, single.headers['retry-after']]).toEqual([503, '1']);
});

test('a repeated order gets its first result though a new one would be refused by now', async () => {
  const expiration = String(nowSeconds + 240);
  const gtd = () => signedItem(testOrder({}), { orderType: 'GTD' });
  const { item, hash } = gtd();
  const timed = { ...item, order: { ...item.order, expiration } };
  const first = await placeOne(ingress, timed);
  expect(first.body).toMatchObject({ success: true, orderID: hash });
  const sums = { filledMicro: 0, paidMicro: 0, trades: [] };
  const answer = { kind: 'placed', orderId: hash, side: 'BUY', status: 'LIVE', ...sums } as never;
  ingress.memory.keep(answer, 1, 0);
  ingress.fakes.nowMs += 120_000;
  const repeated = { ...first.body, repeated: true, alive: true };
  expect((await placeOne(ingress, timed)).body).toEqual(repeated);
  ingress.markets.take({ ...market, mode: 'HALTED' });
  expect((await placeOne(ingress, timed)).body).toEqual(repeated);
  const late = {
    ...gtd().item,
    order: { ...gtd().item.order, expiration: String(nowSeconds + 60) },
  };
  expect((await placeOne(ingress, late)).body.success).toBe(false);
  expect(ingress.fakes.sent).toHaveLength(1);
});

test('a buy that takes at once spends at least a dollar', async () => {
  const cheap = testOrder({ makerAmount: '500000', takerAmount: '1000000' });
  const { status, body } = await placeOne(ingress, signedItem(cheap, { orderType: 'FAK' }).item);
  expect([status, body.code, body.errorMsg]).toEqual([
    400,
    'invalid_size',
    'invalid amount for a marketable BUY order ($0.5), min size: 1',
  ]);
});

test('an order that waited at the gateway arrived when the gateway got it, for fences and its time to the book', async () => {
  const body = JSON.stringify({ ...signedItem(testOrder()).item, owner: ingress.trio.apiKey });
  const headers = { [waitedHeader]: '1500' };
  await call(ingress, { method: 'POST', url: '/order', body, headers });
  await call(ingress, { method: 'DELETE', url: '/cancel-all' });
  const [order, cancel] = ingress.fakes.sent.map(({ command }) =>
    Reflect.get(command, 'acceptedAtMs'),
  );
  expect([order, cancel]).toEqual([ingress.fakes.nowMs - 1_500, ingress.fakes.nowMs]);
});
