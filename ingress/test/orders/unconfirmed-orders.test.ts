import type { CommandResult } from '@pm/domain/commands/result-waiters';
import type { OrderResult } from '@pm/domain/orders/order-result';
import { silentLog } from '@pm/kit/log';
import { orderIdFromBytes } from '@pm/schemas/ids';
import type { Command, PlaceOrder } from '@pm/schemas/log/orders';
import type { SentOrder } from '../../src/orders/command.ts';
import { UnconfirmedOrders } from '../../src/orders/unconfirmed-orders.io.ts';
import { answered } from '../ingress-fixture.ts';

const acceptedAtMs = 1_000_000;

const sentOrder = (number: number): SentOrder => ({
  partition: number % 2,
  order: {
    kind: 'PlaceOrder',
    orderId: Buffer.alloc(32, number),
    maker: Buffer.alloc(20, 9),
    market: 1,
    acceptedAtMs,
  } as PlaceOrder,
});

const idOf = ({ order }: SentOrder) => orderIdFromBytes(order.orderId);

function open(max?: number) {
  const fakes = {
    clockMs: acceptedAtMs,
    ready: true,
    reserve: 'reserved',
    asked: [] as Command[],
    held: [] as { orderId: string; amountMicro: number }[],
    takenBack: [] as string[],
    known: new Map<string, OrderResult>(),
    answer: (): CommandResult => answered([]),
  };
  const orders = new UnconfirmedOrders(
    {
      log: silentLog,
      partitions: {
        isReady: () => fakes.ready,
        at: () => ({ inOffset: 0, clockMs: fakes.clockMs, seenAtMs: 0 }),
      },
      recentResults: { recall: (id) => fakes.known.get(id) },
      ledger: {
        reserve: async ({ orderId, amountMicro }) => {
          fakes.held.push({ orderId, amountMicro });
          return { outcome: fakes.reserve as 'reserved', generation: 1, mark: 0, sender: 'sender' };
        },
        cancelReservation: async ({ id }) => void fakes.takenBack.push(id),
      },
      commands: {
        run: async (_partition, command) => {
          fakes.asked.push(command);
          return fakes.answer();
        },
      },
    },
    max,
  );
  return { orders, fakes };
}

test('an order whose result did not come is asked for once it is too late for its book, and not before', async () => {
  const { orders, fakes } = open();
  const sent = sentOrder(1);
  orders.follow(sent);
  await orders.round();
  fakes.clockMs = acceptedAtMs + 5_000;
  await orders.round();
  fakes.ready = false;
  fakes.clockMs = acceptedAtMs + 5_001;
  await orders.round();
  expect([fakes.asked, orders.size]).toEqual([[], 1]);
  fakes.ready = true;
  await orders.round();
  // The very order that was sent, which no money is held for.
  expect(fakes.asked).toEqual([sent.order]);
  expect(fakes.held).toEqual([{ orderId: idOf(sent), amountMicro: 0 }]);
  expect(orders.size).toBe(0);
});

test('an order is asked for until the log has answered', async () => {
  const { orders, fakes } = open();
  orders.follow(sentOrder(1));
  fakes.clockMs = acceptedAtMs + 10_000;
  const results: readonly CommandResult[] = [
    { kind: 'pending' },
    { kind: 'unsent', code: 'overloaded' },
    { kind: 'rejected' },
  ];
  for (const result of results) {
    fakes.answer = () => result;
    await orders.round();
  }
  fakes.reserve = 'not_ready';
  await orders.round();
  expect([fakes.asked.length, orders.size]).toEqual([3, 1]);
  expect(fakes.takenBack).toEqual([idOf(sentOrder(1))]);
  fakes.reserve = 'reserved';
  fakes.answer = () => answered([]);
  await orders.round();
  expect([fakes.asked.length, orders.size]).toEqual([4, 0]);
});

test('rounds begin at once and end with a close', async () => {
  const { orders, fakes } = open();
  orders.follow(sentOrder(1));
  fakes.clockMs = acceptedAtMs + 10_000;
  await orders.start().close();
  expect(orders.size).toBe(0);
});

test('an order whose result comes late is not asked for', async () => {
  const { orders, fakes } = open();
  const sent = sentOrder(1);
  orders.follow(sent);
  fakes.known.set(idOf(sent), { kind: 'refused', orderId: idOf(sent), code: 'too_late' });
  fakes.clockMs = acceptedAtMs + 10_000;
  await orders.round();
  expect([fakes.asked, orders.size]).toEqual([[], 0]);
});

test('of too many orders the oldest are forgotten', async () => {
  const { orders, fakes } = open(2);
  for (const number of [1, 2, 3]) orders.follow(sentOrder(number));
  fakes.clockMs = acceptedAtMs + 10_000;
  await orders.round();
  const expected = [2, 3].map((number) => sentOrder(number).order);
  expect(fakes.asked).toEqual(expected);
});

test('orders that get no answer keep no other order waiting', async () => {
  const { orders, fakes } = open();
  const sent = Array.from({ length: 200 }, (_, number) => sentOrder(number + 1));
  for (const one of sent) orders.follow(one);
  fakes.clockMs = acceptedAtMs + 5_001;
  fakes.answer = () => ({ kind: 'rejected' });
  await orders.round();
  await orders.round();
  const asked = new Set(fakes.asked.map((command) => (command as PlaceOrder).orderId[0]));
  expect([asked.size, orders.size]).toEqual([200, 200]);
});
