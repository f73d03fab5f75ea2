import type { BuiltOrder } from '@pm/client';
import type { PlacementResult } from '@pm/schemas/http/trading';
import { runLength } from '../../../kit/test/long-runs.ts';
import {
  call,
  cancelAll,
  ExchangeUnderTest,
  type IngressProcess,
  order,
  place,
  type Trader,
  until,
} from '../exchange-under-test.ts';

// Orders that cost their sender nothing, at two ingress processes with the limits of an installation.
let exchange: ExchangeUnderTest;
let limited: readonly [IngressProcess, IngressProcess];

beforeAll(async () => {
  exchange = await ExchangeUnderTest.openLone('unfunded', 1);
  const plain = { PM_RATE_LIMIT_SCALE: '1' };
  limited = await Promise.all([
    exchange.openIngress('127.0.0.1', plain),
    exchange.openIngress('127.0.0.1', plain),
  ]);
}, 180_000);

afterAll(() => exchange?.close(), 60_000);

/** More orders than an unfunded wallet may have booked in ten seconds; a deep run has more than in ten minutes. */
const trips = runLength({ test: 120, deep: 1_000 });
const ordersPerBatch = 15;
/** More orders than an unfunded wallet may have booked in ten minutes. */
const batches = 80;
const inFlight = 4;
/**
 * Most orders of one wallet that are booked in 10 seconds: its limit, and those that both processes admit before they
 * learn that the count is used up.
 */
const perWindow = 3 * 100;

/** Sells without tokens, from all keys in turn. */
function sellsOf(keys: readonly Trader[]) {
  const token = exchange.tokens[0] ?? '';
  return Array.from({ length: batches }, (_, number) => {
    const key = keys[number % keys.length] as Trader;
    const sell = () => order(key, token, '0.40', { side: 'SELL', size: '1' });
    return { key, orders: Array.from({ length: ordersPerBatch }, sell) };
  });
}

/** Sends them to both processes; how often each code was answered. */
async function flood(sells: ReturnType<typeof sellsOf>): Promise<ReadonlyMap<string, number>> {
  const answers = new Map<string, number>();
  const add = (code: string, count: number) => answers.set(code, (answers.get(code) ?? 0) + count);
  const waiting = [...sells.entries()];
  const send = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [number, { key, orders }] = next;
      const { status, headers, body } = await place(processAt(number), key, orders);
      if (status === 429) {
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
        add('rate_limited', orders.length);
      } else {
        for (const { code = 'taken' } of body) add(code, 1);
      }
    }
  };
  await Promise.all(Array.from({ length: inFlight }, send));
  return answers;
}

const processAt = (number: number) => limited[number % 2] as IngressProcess;

/** Places an order alone: a fast machine uses up the limit of batches, 1,000 in 10 seconds, and not that of orders. */
async function placeOne(
  ingress: IngressProcess,
  trader: Trader,
  { submission }: BuiltOrder,
): Promise<PlacementResult> {
  return (await call(ingress, trader, 'POST', '/order', { body: JSON.stringify(submission) })).body;
}

/**
 * Buys a share and sells it at once, at the other process, some at a time; how often anything else than a match was
 * answered.
 */
async function roundTrips(trader: Trader, count: number): Promise<readonly unknown[]> {
  const token = exchange.tokens[0] ?? '';
  const failures: unknown[] = [];
  let next = 0;
  const trade = async () => {
    while (next < count) {
      const round = next;
      next += 1;
      const purchase = order(trader, token, '0.50', { size: '1' });
      const buy = await placeOne(processAt(round), trader, purchase);
      const sale = order(trader, token, '0.40', { side: 'SELL', size: '1' });
      const sell = await placeOne(processAt(round + 1), trader, sale);
      for (const result of [buy, sell]) if (result.status !== 'matched') failures.push(result);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, trade));
  return failures;
}

/** Resolves once both processes know the key. */
async function untilKnown(trader: Trader): Promise<void> {
  for (const ingress of limited) {
    const status = async () => (await call(ingress, trader, 'DELETE', '/cancel-all')).status;
    await until(async () => (await status()) === 200);
  }
}

test('a flood of sells without tokens, from many keys of a wallet, stops before the log; who buys and sells goes on', async () => {
  const [maker, trader] = [await exchange.openTrader('2000'), await exchange.openTrader('500')];
  const token = exchange.tokens[0] ?? '';
  const split = { condition_id: exchange.conditions[0], amount: '1100', id: 'depth' };
  await call(exchange.ingress, maker, 'POST', '/account/split', {
    body: JSON.stringify(split),
  });
  const depth = [
    order(maker, token, '0.50', { side: 'SELL', size: '1100' }),
    order(maker, token, '0.40', { size: '1100' }),
  ];
  for (const { success } of (await place(exchange.ingress, maker, depth)).body)
    expect(success).toBe(true);
  const attacker = exchange.newSigner();
  const keys: Trader[] = [];
  for (let nonce = 0n; nonce < 6n; nonce += 1n) keys.push(await exchange.makeKey(attacker, nonce));
  // A process that knows the last key knows all of them.
  await untilKnown(keys.at(-1) as Trader);
  const sells = sellsOf(keys);
  await exchange.forgetCounts();
  const startedMs = Date.now();
  const timed = async () => ({ answers: await flood(sells), tookMs: Date.now() - startedMs });
  const [{ answers, tookMs }, failures] = await Promise.all([timed(), roundTrips(trader, trips)]);
  expect(failures).toEqual([]);
  const onLog = answers.get('insufficient_balance_or_allowance') ?? 0;
  const refused = answers.get('rate_limited') ?? 0;
  expect(onLog + refused).toBe(batches * ordersPerBatch);
  expect(onLog).toBeLessThanOrEqual((1 + Math.ceil(tookMs / 10_000)) * perWindow);
  // Limit of orders in 600 seconds, independent of the duration of the flood.
  expect(onLog).toBeLessThanOrEqual(1_000 + inFlight * ordersPerBatch);
  // Cancels are never held back.
  expect(await cancelAll(limited[0], keys[0] as Trader)).toEqual([]);
}, 400_000);
