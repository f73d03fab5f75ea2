import type { CommandResult } from '@pm/domain/commands/result-waiters';
import type { OrderId } from '@pm/schemas/ids';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import type { Command, PlaceOrder } from '@pm/schemas/log/orders';
import {
  answered,
  call,
  type IngressUnderTest,
  openIngress,
  restsAs,
  signedItem,
  testOrder,
} from '../ingress-fixture.ts';
import { OwnersTopic } from '../owners-fixture.ts';
import { RetryMemory } from '../retry-fixture.ts';

/**
 * Orders on the log with results as the matcher gives them: a known order gets its first result, one that comes too
 * late is refused for ever. Several processes share it, as several ingress share the log.
 */
class LogTwin {
  nowMs = 0;
  readonly books = new Map<string, PlaceOrder>();
  readonly #late = new Set<string>();

  take(command: Command): CommandResult {
    if (command.kind !== 'PlaceOrder') throw new Error('an order is expected');
    const id = command.orderId.toString('hex');
    const known = this.books.get(id);
    if (known !== undefined) return answered([repeatedOf(known)]);
    const isLate = this.#late.has(id) || Math.abs(this.nowMs - command.acceptedAtMs) > 2_000;
    if (isLate) this.#late.add(id);
    if (isLate) return answered([refusedOf(command, 'too_late')]);
    this.books.set(id, command);
    return restsAs(command);
  }
}

const refusedOf = (order: PlaceOrder, code: 'too_late'): ExecutionEvent => ({
  ...order,
  kind: 'OrderRefused',
  command: 0,
  code,
});
const repeatedOf = (order: PlaceOrder): ExecutionEvent => ({
  ...order,
  kind: 'OrderRepeated',
  command: 0,
  alive: true,
  code: null,
  status: 'LIVE',
  filledMicro: 0,
  paidMicro: 0,
  placedAtOffset: 42,
  firstFill: 0,
  fillCount: 0,
});

let retries: RetryMemory;
let log: LogTwin;
let ingresses: IngressUnderTest[];
beforeEach(() => {
  retries = new RetryMemory();
  log = new LogTwin();
  ingresses = [];
});
afterEach(() => Promise.all(ingresses.map((ingress) => ingress.app.close())));

/** One more ingress on the same log and the same Redis. */
async function open(): Promise<IngressUnderTest> {
  const ingress = await openIngress(new OwnersTopic(), 0, retries);
  log.nowMs = ingress.fakes.nowMs;
  ingress.fakes.answer = (command) => log.take(command);
  ingresses.push(ingress);
  return ingress;
}

function send(ingress: IngressUnderTest, items: readonly object[], key = 'once', url = '/orders') {
  const owned = items.map((item) => ({ ...item, owner: ingress.trio.apiKey }));
  const body = JSON.stringify(url === '/orders' ? owned : owned[0]);
  return call(ingress, { method: 'POST', url, body, headers: { 'idempotency-key': key } });
}

/** Two orders with the same content at each call, signed again each time. */
const two = () => [
  signedItem(testOrder()).item,
  signedItem(testOrder({ makerAmount: '5100000', takerAmount: '10000000' })).item,
];

function passTime(ms: number): void {
  log.nowMs += ms;
  retries.nowMs += ms;
  for (const ingress of ingresses) ingress.fakes.nowMs += ms;
}

test('a retry that is signed again gets the first response, at another ingress too, and places nothing', async () => {
  const [first, second] = [await open(), await open()];
  const placed = await send(first, two());
  expect(placed.body.map((one: { success: boolean }) => one.success)).toEqual([true, true]);
  expect(placed.headers).not.toHaveProperty('idempotent-replayed');
  for (const ingress of [first, second]) {
    const again = await send(ingress, two());
    expect([again.status, again.body]).toEqual([200, placed.body]);
    expect(again.headers['idempotent-replayed']).toBe('true');
  }
  expect(log.books.size).toBe(2);
  expect((await send(first, two(), 'another')).headers).not.toHaveProperty('idempotent-replayed');
  expect(log.books.size).toBe(4);
});

test('a key for which there is no room places nothing, and one that is kept is found all the same', async () => {
  const ingress = await open();
  const placed = await send(ingress, two());
  for (const [isFull, status, code] of [
    ['wallet', 429, 'too_many_retry_keys'],
    ['all', 503, 'retries_unavailable'],
  ] as const) {
    retries.isFull = isFull;
    const refused = await send(ingress, two(), 'another');
    expect([refused.status, refused.body.code]).toEqual([status, code]);
    expect((await send(ingress, two())).body).toEqual(placed.body);
  }
  expect(log.books.size).toBe(2);
});

test('what is about to be sent and finds no room is not sent, and keeps its key', async () => {
  const ingress = await open();
  retries.isFullForRecords = true;
  const refused = await send(ingress, two());
  expect([refused.status, refused.body.code]).toEqual([503, 'retries_unavailable']);
  expect(log.books.size).toBe(0);
  expect(retries.size).toBe(1);
  retries.isFullForRecords = false;
  expect((await send(ingress, two())).status).toBe(200);
  expect(log.books.size).toBe(2);
});

test('the same key with other orders, and on another route, is another matter', async () => {
  const ingress = await open();
  await send(ingress, two());
  const other = await send(ingress, two().toReversed());
  expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
  expect((await send(ingress, two(), 'once', '/order')).status).toBe(200);
});

test('an ingress that died after its orders: the retry finds them on the log', async () => {
  const [first, second] = [await open(), await open()];
  let placed: (() => void) | undefined;
  const died = new Promise<void>((resolve) => {
    placed = resolve;
  });
  // The orders are on the log, the answer never comes: whoever asked is dead.
  first.fakes.answer = (command) => {
    log.take(command);
    placed?.();
    return new Promise(() => {});
  };
  void send(first, two());
  await died;
  expect((await send(second, two())).body).toMatchObject({
    code: 'idempotency_in_progress',
    retry_after_seconds: 1,
  });
  passTime(10_001);
  const again = await send(second, two());
  expect(again.body.map((one: { orderID: OrderId }) => one.orderID)).toEqual(
    [...log.books.keys()].map((id) => `0x${id}`),
  );
  expect(log.books.size).toBe(2);
  expect((await send(second, two())).headers['idempotent-replayed']).toBe('true');
});

test('an ingress died before its orders left: the retry places its own, and the first ones never come', async () => {
  const [first, second] = [await open(), await open()];
  const stuck: Command[] = [];
  first.fakes.answer = (command) => {
    stuck.push(command);
    return new Promise(() => {});
  };
  void send(first, two());
  while (stuck.length < 2) await new Promise((resolve) => setImmediate(resolve));
  passTime(10_001);
  const again = await send(second, two());
  expect(again.body.map((one: { success: boolean }) => one.success)).toEqual([true, true]);
  expect(log.books.size).toBe(2);
  for (const command of stuck) log.take(command);
  expect(log.books.size).toBe(2);
});

test('whatever is killed wherever, each order is placed at most once per key', async () => {
  const four = await Promise.all([open(), open(), open(), open()]);
  const startMs = log.nowMs;
  for (let seed = 1; seed <= 16; seed += 1) {
    log.books.clear();
    for (const clock of [log, ...four.map(({ fakes }) => fakes)]) clock.nowMs = startMs;
    const key = `seed-${seed}`;
    const lost: Command[] = [];
    for (const [turn, ingress] of four.entries()) {
      let count = 0;
      let die = () => {};
      const died = new Promise<void>((resolve) => {
        die = resolve;
      });
      // Dies at one of: before the first order, between the two, after both, or not at all.
      const diesAt = (seed * 7 + turn * 3) % 4;
      ingress.fakes.answer = (command) => {
        count += 1;
        if (count <= diesAt || turn === 3) return log.take(command);
        lost.push(command);
        setImmediate(die);
        return new Promise(() => {});
      };
      await Promise.race([send(ingress, two(), key), died]);
      passTime(10_001);
    }
    for (const command of lost) log.take(command);
    expect(log.books.size).toBe(2);
    const prices = [...log.books.values()].map(({ price }) => price);
    expect(prices.toSorted()).toEqual([5100, 5200]);
  }
}, 20_000);

test('without the store an order with a key is not placed, and one without a key is', async () => {
  const ingress = await open();
  retries.isAway = true;
  const away = await send(ingress, two());
  expect([away.status, away.body.code]).toEqual([503, 'retries_unavailable']);
  expect(away.headers['retry-after']).toBe('1');
  expect(log.books.size).toBe(0);
  const body = JSON.stringify(two().map((item) => ({ ...item, owner: ingress.trio.apiKey })));
  expect((await call(ingress, { method: 'POST', url: '/orders', body })).status).toBe(200);
});

test('what could not be placed at all leaves the key free; a refusal is the first response', async () => {
  const ingress = await open();
  ingress.fakes.ready = false;
  expect((await send(ingress, two())).status).toBe(425);
  ingress.fakes.ready = true;
  ingress.fakes.reserve = 'insufficient';
  const refused = await send(ingress, two());
  expect(refused.body[0].code).toBe('insufficient_balance_or_allowance');
  ingress.fakes.reserve = 'reserved';
  expect((await send(ingress, two())).body).toEqual(refused.body);
  expect(log.books.size).toBe(0);
});

test('orders that are not confirmed keep their key, and a retry gets their results', async () => {
  const ingress = await open();
  ingress.fakes.answer = (command) => {
    log.take(command);
    return { kind: 'pending' };
  };
  const first = await send(ingress, two());
  expect(first.body).toMatchObject([{ code: 'order_unconfirmed' }, { code: 'order_unconfirmed' }]);
  const single = await send(ingress, two(), 'one', '/order');
  expect([single.status, single.body.code]).toEqual([503, 'order_unconfirmed']);
  ingress.fakes.answer = (command) => log.take(command);
  const early = await send(ingress, two());
  expect([early.status, early.body.code]).toEqual([503, 'order_unconfirmed']);
  expect(early.body.orderID).toBe(first.body[0].orderID);
  expect(early.body.error).toContain(`GET /data/order/${early.body.orderID}`);
  passTime(5_001);
  const later = await send(ingress, two());
  const ids = later.body.map((one: { orderID: OrderId }) => one.orderID);
  expect(ids).toEqual(first.body.map((one: { orderID: OrderId }) => one.orderID));
  expect((await send(ingress, two(), 'one', '/order')).body.orderID).toBe(single.body.orderID);
  expect(log.books.size).toBe(3);
});

test('a retry places its own orders where those that were not confirmed never came', async () => {
  const ingress = await open();
  ingress.fakes.answer = () => ({ kind: 'pending' });
  const first = await send(ingress, two(), 'one', '/order');
  expect(first.body.code).toBe('order_unconfirmed');
  ingress.fakes.answer = (command) => log.take(command);
  passTime(5_001);
  const retried = await send(ingress, two(), 'one', '/order');
  expect(retried.body).toMatchObject({ success: true, status: 'live' });
  expect(retried.body.orderID).not.toBe(first.body.orderID);
  expect(log.books.size).toBe(1);
});

test('an attempt whose first orders cannot be asked for keeps what it recorded', async () => {
  const [first, second] = [await open(), await open()];
  first.fakes.answer = (command) => {
    log.take(command);
    return new Promise(() => {});
  };
  void send(first, two());
  while (log.books.size < 2) await new Promise((resolve) => setImmediate(resolve));
  passTime(10_001);
  second.fakes.ready = false;
  expect((await send(second, two())).status).toBe(425);
  second.fakes.ready = true;
  expect((await send(second, two())).status).toBe(200);
  expect(log.books.size).toBe(2);
});

test('malformed keys and bodies are refused before anything is kept', async () => {
  const ingress = await open();
  for (const key of ['', 'with space', 'x'.repeat(256), 'ü']) {
    const answer = await send(ingress, two(), key);
    expect([answer.status, answer.body.code]).toEqual([400, 'idempotency_key_invalid']);
  }
  expect((await send(ingress, [{ order: 5 }])).body.code).toBe('invalid_payload');
  expect(retries.size).toBe(0);
});
