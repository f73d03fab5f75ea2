import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import {
  call,
  cancelAll,
  ExchangeUnderTest,
  headersOf,
  type IngressProcess,
  order,
  place,
  type Trader,
  until,
} from '../exchange-under-test.ts';

const usdc = 1_000_000;
/** Pause between two looks at the money, milliseconds. */
const watchEveryMs = 5;
let exchange: ExchangeUnderTest;

beforeAll(async () => {
  exchange = await ExchangeUnderTest.open('order_entry', 4);
}, 180_000);

afterAll(() => exchange?.close(), 60_000);

test('cancel-all cancels the orders of every partition, and lists of ids work at another ingress', async () => {
  const trader = await exchange.openTrader('100');
  const orders = [...exchange.tokens, ...exchange.tokens].map((token) => order(trader, token));
  const placed = await place(exchange.ingresses[0], trader, orders);
  expect(placed.body.map(({ status }) => status)).toEqual(orders.map(() => 'live'));
  expect(placed.headers.get('server-timing')).toMatch(
    /^auth;dur=.*validate;dur=.*log;dur=.*match;dur=/,
  );
  const [first, second, ...rest] = orders.map(({ orderId }) => orderId);
  const late = order(trader, exchange.tokens[0] as (typeof exchange.tokens)[number]);
  const body = JSON.stringify([first, second, first, late.orderId]);
  const some = await call(exchange.ingresses[1], trader, 'DELETE', '/orders', { body });
  expect(some.body).toEqual({
    canceled: [first, second],
    not_canceled: {
      [late.orderId]: "order can't be found - not seen yet, and refused if it still arrives",
    },
    not_canceled_codes: { [late.orderId]: 'order_unknown' },
  });
  const fenced = await place(exchange.ingresses[0], trader, [late]);
  expect(fenced.body).toMatchObject([{ success: false, code: 'fenced' }]);
  expect([...(await cancelAll(exchange.ingresses[1], trader))].sort()).toEqual([...rest].sort());
  expect(await cancelAll(exchange.ingresses[0], trader)).toEqual([]);
  await until(
    async () =>
      (await exchange.ledger.balance(trader.signer.address)).availableMicro === 100 * usdc,
  );
}, 60_000);

/** Sends the head of a request now and its last bytes on demand; resolves to the response. */
async function sendSlowly({ port }: IngressProcess, trader: Trader, body: string) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const headers = { ...headersOf(trader, 'POST', '/order', body), host: 'x', connection: 'close' };
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}`);
  const head = `POST /order HTTP/1.1\r\n${lines.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  socket.write(head + body.slice(0, -10));
  await wait(500);
  return async () => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.write(body.slice(-10));
    await once(socket, 'close');
    return Buffer.concat(chunks).toString('utf8');
  };
}

test('an order that was sent before a cancel-all and arrives after it is refused, one sent later is accepted', async () => {
  const trader = await exchange.openTrader('10');
  const body = JSON.stringify(order(trader, exchange.tokens[1] ?? '').submission);
  const finish = await sendSlowly(exchange.ingresses[0], trader, body);
  expect(await cancelAll(exchange.ingresses[1], trader)).toEqual([]);
  const answer = await finish();
  expect(answer).toContain('"code":"fenced"');
  expect(answer).toContain('order was canceled before it reached the book');
  const after = await place(exchange.ingresses[0], trader, [
    order(trader, exchange.tokens[1] ?? ''),
  ]);
  expect(after.body[0]).toMatchObject({ success: true, status: 'live' });
  expect(await cancelAll(exchange.ingresses[0], trader)).toHaveLength(1);
}, 60_000);

test('a retry that says when it was first sent does not come after a cancel-all at another ingress', async () => {
  const trader = await exchange.openTrader('10');
  const first = { service_first_sent_ms: String(Date.now()) };
  expect(await cancelAll(exchange.ingresses[1], trader)).toEqual([]);
  for (const headers of [first, { ...first, service_time_to_book_ms: '60000' }]) {
    const body = JSON.stringify(order(trader, exchange.tokens[1] ?? '').submission);
    const answer = await call(exchange.ingresses[0], trader, 'POST', '/order', { body, headers });
    // Fences are remembered as long as orders are in time.
    expect(['fenced', 'too_late']).toContain((answer.body as { code?: string }).code);
  }
  expect(await cancelAll(exchange.ingresses[0], trader)).toEqual([]);
}, 60_000);

test('an ingress killed amid its orders: retries with new signatures place each order once', async () => {
  const trader = await exchange.openTrader('1000');
  const doomed = await exchange.openIngress();
  const pair = () => [
    order(trader, exchange.tokens[0] ?? ''),
    order(trader, exchange.tokens[2] ?? '', '0.11'),
  ];
  const retryKeys = Array.from({ length: 40 }, (_, index) => `key-${index}`);
  let answered = 0;
  const running = retryKeys.map(async (key, index) => {
    await wait(index * 4);
    const first = await place(doomed, trader, pair(), key).catch(() => null);
    if (first !== null) answered += 1;
    return first;
  });
  await Promise.race(running);
  doomed.process.kill('SIGKILL');
  const firsts = await Promise.all(running);
  expect(answered).toBeLessThan(retryKeys.length);
  const finals = await Promise.all(
    retryKeys.map(async (key, index) => {
      const ingress = index % 2 === 0 ? exchange.ingresses[0] : exchange.ingresses[1];
      for (;;) {
        const again = await place(ingress, trader, pair(), key);
        if (again.status === 200) return again;
        expect([409, 425, 503]).toContain(again.status);
        await wait(500);
      }
    }),
  );
  for (const [index, { body, headers }] of finals.entries()) {
    expect(body.map(({ success }) => success)).toEqual([true, true]);
    const first = firsts[index];
    if (first?.status !== 200) continue;
    expect(body).toEqual(first.body);
    expect(headers.get('idempotent-replayed')).toBe('true');
  }
  const placedIds = finals.flatMap(({ body }) => body.map(({ orderID }) => orderID));
  expect([...(await cancelAll(exchange.ingresses[0], trader))].sort()).toEqual(
    [...placedIds].sort(),
  );
  expect(placedIds).toHaveLength(2 * retryKeys.length);
}, 120_000);

test('splits, merges and withdrawals are carried out once, and free money never becomes negative', async () => {
  const trader = await exchange.openTrader('100');
  const act = (action: string, sent: object, ingress = exchange.ingresses[0]) =>
    call(ingress, trader, 'POST', `/account/${action}`, { body: JSON.stringify(sent) });
  const free = async () => (await exchange.ledger.balance(trader.signer.address)).freeMicro;
  const ten = { condition_id: exchange.conditions[3], amount: '10', id: 'ten' };
  const split = await act('split', ten);
  expect([split.status, (await act('split', ten, exchange.ingresses[1])).body]).toEqual([
    200,
    split.body,
  ]);
  expect((await act('merge', { ...ten, amount: '4' })).status).toBe(200);
  await until(async () => (await free()) === 94 * usdc);
  expect((await act('merge', { ...ten, amount: '7', id: 'more' })).body).toMatchObject({
    code: 'insufficient_position',
  });
  let lowest = Number.POSITIVE_INFINITY;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const { freeMicro, availableMicro } = await exchange.ledger.balance(trader.signer.address);
      lowest = Math.min(lowest, freeMicro, availableMicro);
      await wait(watchEveryMs);
    }
  })();
  const asked = Array.from({ length: 30 }, (_, index) => ({ amount: '10', id: `out-${index}` }));
  const out = await Promise.all(
    asked.map((one, index) =>
      act('withdrawals', one, index % 2 === 0 ? exchange.ingresses[0] : exchange.ingresses[1]),
    ),
  );
  expect(out.filter(({ status }) => status === 200)).toHaveLength(9);
  const paid = out.findIndex(({ status }) => status === 200);
  expect((await act('withdrawals', asked[paid] ?? {})).body).toEqual(out[paid]?.body);
  await until(async () => (await free()) === 4 * usdc);
  isOver = true;
  await watching;
  expect(lowest).toBeGreaterThanOrEqual(0);
  await until(
    async () => (await exchange.ledger.balance(trader.signer.address)).pendingMicro === 0,
  );
}, 60_000);

test('a taker delay is waited for, a tick becomes finer at 0.97, modes refuse, and half a dollar is paid out', async () => {
  const [maker, seller] = [await exchange.openTrader('100'), await exchange.openTrader('100')];
  const token = exchange.tokens[1] ?? '';
  const id = 2;
  expect((await exchange.operate('PUT', `markets/${id}/rules`, { takerDelayMs: 300 })).status).toBe(
    200,
  );
  const split = { condition_id: exchange.conditions[1], amount: '10', id: 'split' };
  const body = JSON.stringify(split);
  expect(
    (await call(exchange.ingresses[0], seller, 'POST', '/account/split', { body })).status,
  ).toBe(200);
  expect(
    (await place(exchange.ingresses[0], maker, [order(maker, token, '0.97')])).body[0]?.status,
  ).toBe('live');
  // The bid beyond 0.96 makes the tick finer, at both ingress processes.
  for (const ingress of exchange.ingresses) {
    await until(async () => {
      const finer = await place(ingress, maker, [order(maker, token, '0.123')]);
      return finer.body[0]?.success === true;
    });
  }
  const sell = order(seller, token, '0.97', { side: 'SELL', timeInForce: 'FAK' });
  const startedMs = performance.now();
  const sold = await place(exchange.ingresses[0], seller, [sell]);
  expect(performance.now() - startedMs).toBeGreaterThan(250);
  expect(sold.body[0]).toMatchObject({
    status: 'matched',
    makingAmount: '1',
    takingAmount: '0.97',
  });
  expect(sold.body[0]?.tradeIDs).toHaveLength(1);
  for (const ingress of exchange.ingresses)
    expect((await place(ingress, seller, [sell])).body).toEqual([
      { ...sold.body[0], repeated: true, alive: false },
    ]);

  expect((await exchange.operate('POST', 'trading-mode', { mode: 'CANCEL_ONLY' })).status).toBe(
    200,
  );
  const closed = await place(exchange.ingresses[1], maker, [order(maker, token)]);
  expect([closed.status, closed.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await cancelAll(exchange.ingresses[1], maker)).toHaveLength(2);
  expect((await exchange.operate('POST', 'trading-mode', { mode: 'OPEN' })).status).toBe(200);

  expect((await exchange.operate('POST', `markets/${id}/resolve`, { payout0: '0.5' })).status).toBe(
    200,
  );
  const redeem = JSON.stringify({ condition_id: exchange.conditions[1], id: 'end' });
  const paid = await call(exchange.ingresses[1], seller, 'POST', '/account/redeem', {
    body: redeem,
  });
  expect(paid.body).toMatchObject({ success: true, payout: '9.5' });
  const again = await call(exchange.ingresses[0], seller, 'POST', '/account/redeem', {
    body: redeem,
  });
  expect(again.body).toEqual(paid.body);
}, 60_000);
