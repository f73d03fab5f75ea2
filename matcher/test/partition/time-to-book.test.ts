import type { ExecutionEvent } from '@pm/schemas/log/executions';
import type { PlaceOrder } from '@pm/schemas/log/orders';
import { marketRules, orderOf } from '../core/commands.ts';
import { topicNames } from './matcher-process.ts';
import { readOutputs } from './reading.ts';
import { Pair } from './replica-pair.ts';
import { keys, sealed } from './sealed-records.ts';

/** The result of an order, the last event of it. */
function resultsOf(pair: Pair, orders: readonly PlaceOrder[]): string[] {
  const events = readOutputs(pair.log).executions.flatMap(({ events: all }) => all);
  return orders.map(({ orderId }) => events.map(resultIn(orderId)).findLast(Boolean) ?? 'none');
}

const resultIn = (orderId: Buffer) => (event: ExecutionEvent) => {
  if (!('orderId' in event) || !event.orderId.equals(orderId)) return '';
  if (event.kind === 'OrderPlaced') return event.status;
  if (event.kind === 'OrderCanceled') return event.reason;
  return event.kind === 'OrderDelayed' ? 'held' : 'code' in event ? `${event.code}` : '';
};

/** Orders that are accepted now and rest alone, with these limits of their own; 0 is none. */
function accept(pair: Pair, ...limitsMs: readonly number[]): PlaceOrder[] {
  const times = { acceptedAtMs: pair.nowMs, signedAtMs: pair.nowMs };
  const orders = limitsMs.map((ageLimitMs, index) =>
    orderOf(900_000 + (pair.nowMs % 100_000) + index, 1, { price: 100, ageLimitMs, ...times }),
  );
  pair.log.append(topicNames.orders, sealed(keys.ingress, orders));
  return orders;
}

async function openPair(seed: number): Promise<Pair> {
  const pair = new Pair(seed, { earlier: 0 });
  pair.log.append(topicNames.orders, sealed(keys.operator, [marketRules(1)]));
  await pair.start();
  await pair.pass(500, pair.one, pair.two);
  return pair;
}

const ticksOf = (pair: Pair) => pair.commands().filter(({ kind }) => kind === 'Tick').length;

describe('the time to book', () => {
  test('of orders with a limit of their own is judged by one tick, which comes as they are read', async () => {
    const pair = await openPair(21);
    const before = ticksOf(pair);
    const orders = accept(pair, 20, 20, 0);
    await pair.one.read();
    expect(resultsOf(pair, orders)).toEqual(['held', 'held', 'LIVE']);
    expect(ticksOf(pair)).toBe(before + 1);
    await pair.one.read();
    expect(resultsOf(pair, orders)).toEqual(['LIVE', 'LIVE', 'LIVE']);
    await pair.expectWhole();
  });

  test.each([
    ['a standby that stood still, too', 0],
    ['a standby that takes over in the end', 1_000],
  ])('is judged where the owner stood still, with %s', async (_, standbyMs) => {
    const pair = await openPair(22);
    const early = accept(pair, 300, 0);
    pair.nowMs += 4_900 - standbyMs;
    await pair.pass(standbyMs, pair.two);
    const late = accept(pair, 300, 0);
    await pair.pass(500, pair.one, pair.two);
    expect(resultsOf(pair, early)).toEqual(['too_late', 'TOO_LATE']);
    expect(resultsOf(pair, late)).toEqual(['LIVE', 'LIVE']);
    await pair.expectWhole();
    expect(pair.two.status.chain).toBe(pair.one.status.chain);
  });

  test('is judged by the next owner where the owner died between an order and its tick', async () => {
    const pair = await openPair(23);
    const orders = accept(pair, 300, 5_000);
    // Its output is stored, and it ends before its tick is.
    pair.log.before = async ([record]) => {
      if (record?.topic === topicNames.orders) await new Promise(() => {});
    };
    await pair.one.read();
    pair.log.before = async () => {};
    expect(resultsOf(pair, orders)).toEqual(['held', 'held']);
    await pair.pass(1_000, pair.two);
    expect(pair.two.status.role).toBe('owner');
    expect(resultsOf(pair, orders)).toEqual(['too_late', 'LIVE']);
  });
});
