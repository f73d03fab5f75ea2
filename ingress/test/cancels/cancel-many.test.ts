import { setImmediate as nextTurn } from 'node:timers/promises';
import { hexBytes, type OrderId, orderIdFromBytes } from '@pm/schemas/ids';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import { type Command, type CommandOf, idsPerCancelMax } from '@pm/schemas/log/orders';
import type { RefusalCode } from '@pm/schemas/refusals';
import { whileTimePasses } from '../../../kit/test/passing-time.ts';
import {
  answered,
  call,
  type IngressUnderTest,
  openIngress,
  owner,
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

const idOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}` as OrderId;
const canceled = (orderId: OrderId): ExecutionEvent => ({
  kind: 'OrderCanceled',
  command: 0,
  orderId: hexBytes(orderId),
  market: 1,
  maker: Buffer.alloc(20),
  apiKey: Buffer.alloc(16),
  reason: 'USER',
  restMicro: 1,
});
const refused = (orderId: OrderId, code: RefusalCode): ExecutionEvent => ({
  kind: 'CancelRefused',
  command: 0,
  orderId: hexBytes(orderId),
  code,
});
const idsIn = (command: Command) =>
  (command as CommandOf<'CancelByIds'>).orderIds.map(orderIdFromBytes);
const cancelIds = (body: unknown) =>
  call(ingress, { method: 'DELETE', url: '/orders', body: JSON.stringify(body) });

test('orders of several partitions are canceled in all of them, each with its own reason', async () => {
  const home = new Map([
    [idOf(1), 0],
    [idOf(2), 2],
    [idOf(3), 1],
    [idOf(4), 1],
  ]);
  const reasons = { [idOf(3)]: 'already_matched', [idOf(4)]: 'order_delayed' } as const;
  ingress.services.cancels.commands.run = async (partition, command) =>
    answered(
      idsIn(command).flatMap((id) => {
        if (home.get(id) !== partition) return [];
        const reason = reasons[id];
        return reason === undefined ? canceled(id) : refused(id, reason);
      }),
    );
  const ids = [...home.keys(), idOf(5)];
  const { status, body } = await cancelIds([...ids, ids[0]?.toUpperCase().replace('0X', '0x')]);
  expect(status).toBe(200);
  expect(body).toEqual({
    canceled: [idOf(1), idOf(2)],
    not_canceled: {
      [idOf(3)]: 'order already matched',
      [idOf(4)]: 'order is delayed and cannot be canceled',
      [idOf(5)]: "order can't be found - not seen yet, and refused if it still arrives",
    },
    not_canceled_codes: { ...reasons, [idOf(5)]: 'order_unknown' },
  });
});

test('orders that cannot be settled are returned beside the others', async () => {
  ingress.services.cancels.commands.run = async (partition, command) =>
    partition === 1 && idsIn(command).includes(idOf(1))
      ? answered([canceled(idOf(1))])
      : { kind: 'pending' };
  const { status, body } = await cancelIds([idOf(1), idOf(2)]);
  expect([status, body]).toEqual([
    200,
    {
      canceled: [idOf(1)],
      not_canceled: { [idOf(2)]: 'order could not be cancelled' },
      not_canceled_codes: { [idOf(2)]: 'cancel_unconfirmed' },
    },
  ]);
  const none = await cancelIds([idOf(2), idOf(3)]);
  expect([none.status, none.body]).toMatchObject([503, { code: 'cancel_unconfirmed' }]);
  expect(none.headers['retry-after']).toBe('1');
});

test('three thousand unknown ids are fenced in every partition by a few commands, without a wait', async () => {
  const sent: { readonly partition: number; readonly ids: readonly OrderId[] }[] = [];
  ingress.services.cancels.commands.run = async (partition, command) => {
    sent.push({ partition, ids: idsIn(command) });
    expect(command).toMatchObject({ acceptedAtMs: ingress.fakes.nowMs });
    return answered([]);
  };
  const ids = Array.from({ length: 3_000 }, (_, index) => idOf(index));
  const { status, body } = await whileTimePasses(() => cancelIds(ids));
  expect([status, Object.keys(body.not_canceled).length]).toEqual([200, 3_000]);
  expect(sent).toHaveLength((3 * 3_000) / idsPerCancelMax);
  for (const partition of [0, 1, 2])
    expect(sent.flatMap((one) => (one.partition === partition ? one.ids : []))).toEqual(ids);
});

test('an id that a partition could not fence is not called unknown', async () => {
  const full: ExecutionEvent = {
    kind: 'CommandRefused',
    command: 0,
    code: 'too_many_open_orders',
    requestId: null,
  };
  ingress.services.cancels.commands.run = async (partition, command) =>
    answered(
      partition === 1 ? [full] : partition === 2 ? [canceled(idsIn(command)[0] ?? idOf(0))] : [],
    );
  const { body } = await cancelIds([idOf(1), idOf(2)]);
  expect(body).toMatchObject({
    canceled: [idOf(1)],
    not_canceled_codes: { [idOf(2)]: 'overloaded' },
  });
});

test('the searches of wallets without money are few at once, and delay no search of others', async () => {
  const asked: OrderId[] = [];
  let answerAll = (): void => {};
  const open = new Promise<void>((resolve) => {
    answerAll = resolve;
  });
  ingress.services.cancels.commands.run = async (_partition, command) => {
    asked.push(...idsIn(command));
    await open;
    return answered([]);
  };
  const idsFrom = (first: number, length: number) =>
    Array.from({ length }, (_, at) => idOf(first + at));
  ingress.fakes.isWithoutMoney = true;
  const without = cancelIds(idsFrom(10_000, 1_500));
  while (asked.length === 0) await nextTurn();
  await nextTurn();
  const few = new Set(asked);
  expect(few.size).toBe(1_000);
  ingress.fakes.isWithoutMoney = false;
  const withMoney = cancelIds(idsFrom(500, 20));
  while (new Set(asked).size < few.size + 20) await nextTurn();
  answerAll();
  expect([(await withMoney).status, (await without).status]).toEqual([200, 200]);
});

test.each([
  [[], 'invalid_payload', 'Invalid order payload'],
  [{}, 'invalid_payload', 'Invalid order payload'],
  [null, 'invalid_payload', 'Invalid order payload'],
  [[''], 'invalid_order_id', 'Invalid orderID'],
  [[5], 'invalid_order_id', 'Invalid orderID'],
  [[idOf(1), '0x12'], 'invalid_order_id', 'Invalid orderID'],
  [
    Array.from({ length: 3_001 }, () => idOf(1)),
    'too_many_cancels',
    'Too many orders in payload, max allowed: 3000',
  ],
])('a list that is none is refused (%#)', async (body, code, error) => {
  const answer = await cancelIds(body);
  expect([answer.status, answer.body]).toEqual([400, { error, code }]);
  expect(ingress.fakes.sent).toHaveLength(0);
});

test('ids in a signed query count when the body was lost', async () => {
  ingress.fakes.answer = (command) => answered(idsIn(command).map(canceled));
  const url = `/orders?orderIDs=${idOf(1)},${idOf(2)}`;
  const { body } = await call(ingress, { method: 'DELETE', url, signedPath: url });
  expect(body.canceled).toEqual([idOf(1), idOf(2)]);
});

test('a cancel-all goes to every partition, fences up to its arrival, and returns all ids', async () => {
  let next = 0;
  ingress.fakes.answer = () => {
    next += 1;
    return answered([canceled(idOf(next))]);
  };
  const { status, body } = await call(ingress, { method: 'DELETE', url: '/cancel-all' });
  expect([status, body]).toEqual([
    200,
    { canceled: [idOf(1), idOf(2), idOf(3)], not_canceled: {} },
  ]);
  expect(ingress.fakes.sent.map(({ partition }) => partition)).toEqual([0, 1, 2]);
  expect(ingress.fakes.sent[0]?.command).toMatchObject({
    kind: 'CancelOrders',
    signer: hexBytes(owner.address as OrderId),
    market: -1,
    outcome: -1,
    session: false,
    acceptedAtMs: ingress.fakes.nowMs,
  });
});

test('a cancel-all without the result of a partition is no success, and returns what is canceled', async () => {
  ingress.services.cancels.commands.run = async (partition) =>
    partition === 1 ? { kind: 'pending' } : answered([canceled(idOf(partition))]);
  const answer = await call(ingress, { method: 'DELETE', url: '/cancel-all' });
  expect([answer.status, answer.body]).toMatchObject([
    503,
    { code: 'cancel_unconfirmed', canceled: [idOf(0), idOf(2)], retry_after_seconds: 1 },
  ]);
  ingress.fakes.ready = false;
  const silent = await call(ingress, { method: 'DELETE', url: '/cancel-all' });
  expect([silent.status, silent.body.code]).toEqual([425, 'partition_not_ready']);
});

test('a cancel that one partition may still carry out is unconfirmed, whatever others say', async () => {
  ingress.services.cancels.commands.run = async (partition) =>
    partition === 2 ? { kind: 'pending' } : { kind: 'unsent', code: 'overloaded' };
  const all = await call(ingress, { method: 'DELETE', url: '/cancel-all' });
  const named = await cancelIds([idOf(1)]);
  expect([all.body.code, named.body.code]).toEqual(['cancel_unconfirmed', 'cancel_unconfirmed']);
});

test('cancels need neither money nor an open market', async () => {
  ingress.fakes.reserve = 'not_ready';
  ingress.fakes.answer = () => answered([]);
  for (const url of ['/cancel-all', `/cancel-market-orders?asset_id=${testOrder().tokenId}`]) {
    expect((await call(ingress, { method: 'DELETE', url, signedPath: url })).status).toBe(200);
  }
});

test('an order carries the time its request arrived, however long its signature check takes', async () => {
  const arrivedAtMs = ingress.fakes.nowMs;
  let release = () => {};
  ingress.fakes.stall = new Promise((resolve) => {
    release = resolve;
  });
  ingress.fakes.answer = (command) =>
    command.kind === 'PlaceOrder' ? restsAs(command) : answered([]);
  const placing = placeOne(ingress, signedItem(testOrder()).item);
  await new Promise((resolve) => setImmediate(resolve));
  ingress.fakes.nowMs += 500;
  await call(ingress, { method: 'DELETE', url: '/cancel-all' });
  ingress.fakes.nowMs += 500;
  release();
  await placing;
  const times = ingress.fakes.sent.map(({ command }) => Reflect.get(command, 'acceptedAtMs'));
  expect(times).toEqual([...Array(3).fill(arrivedAtMs + 500), arrivedAtMs]);
});
