import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type BuiltOrder,
  buildOrder,
  ExchangeClient,
  type OrderIntent,
  type Signer,
  signedHeaders,
  walletFromPrivateKey,
} from '@pm/client';
import { type Ledger, openLedger } from '@pm/kit/ledger';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { type ApiKeyTrio, type PlacementResult, redisKeys, signingDomains } from '@pm/schemas';
import { engineUrl } from '../../../kit/test/engines.ts';
import { freePorts } from '../../src/local/ports.ts';
import { loadOrMakeKeys, publicKeyOf } from '../../src/setup/keys.ts';
import { type Operator, openOperator } from '../../src/stack/operator.ts';
import { ServicesUnderTest, setUpNamed } from '../services-under-test.ts';

const name = `order_entry_${process.pid}`;
const partitions = 4;
const folder = mkdtempSync(join(tmpdir(), 'order-entry-'));
const keys = loadOrMakeKeys(join(folder, 'keys.json'));
const usdc = 1_000_000;

/** One ingress process. */
interface Door {
  readonly process: ChildProcess;
  readonly port: number;
  readonly operator: Operator;
  readonly operatorPort: number;
}

interface Trader {
  readonly signer: Signer;
  readonly trio: ApiKeyTrio;
}

const services = new ServicesUnderTest(name);
let redis: RedisClient;
let ledger: Ledger;
let doors: readonly [Door, Door];
let tokens: readonly string[];
let conditions: readonly string[];

beforeAll(async () => {
  await setUpNamed(name, { keys, partitions });
  redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
  ledger = openLedger(redis, redisKeys(name));
  services.start('matcher', {
    PM_OWNER_SEED: keys.ownerSeed,
    PM_OPERATOR_KEY: publicKeyOf(keys.operatorSeed),
    PM_SNAPSHOT_DIR: join(folder, 'snapshots'),
  });
  services.start('projectors', { PM_VIEWS: 'ledger', PM_LEDGER_SEED: keys.ledgerSeed });
  doors = [await openDoor(), await openDoor()];
  const markets = Array.from({ length: partitions }, (_, index) => ({
    slug: `entry-${index}`,
    question: `Entry ${index}?`,
    minOrderSize: '1',
  }));
  const event = { slug: 'entry', title: 'Entry', markets };
  const listed = await doors[0].operator.importEvents([event]);
  expect(new Set(listed.markets.map(({ partition }) => partition)).size).toBe(partitions);
  tokens = listed.markets.map(({ tokenIds }) => tokenIds[0] ?? '');
  conditions = listed.markets.map(({ conditionId }) => conditionId);
  await until(async () => (await ledger.state()).ready);
}, 180_000);

afterAll(async () => {
  await services.stop();
  const left = (await redis?.keys(`${name}:*`)) ?? [];
  if (left.length > 0) await redis.del(...left);
  await redis?.quit();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

async function openDoor(): Promise<Door> {
  const ports = await freePorts();
  const child = services.start('ingress', {
    PM_HTTP_PORT: String(ports.ingress),
    PM_OPERATOR_PORT: String(ports.operator),
    PM_OPERATOR_TOKEN: keys.operatorToken,
    PM_OPERATOR_SEED: keys.operatorSeed,
    PM_SIGNOFF_SEED: keys.ingressSeed,
    PM_KEY_SECRET: keys.keySecret,
    PM_RATE_LIMIT_SCALE: '10000',
  });
  const url = `http://127.0.0.1:${ports.ingress}/ok`;
  await until(async () => (await fetch(url).catch(() => null))?.ok === true);
  const operator = openOperator(`http://127.0.0.1:${ports.operator}`, keys.operatorToken);
  return { process: child, port: ports.ingress, operator, operatorPort: ports.operator };
}

async function until(isSo: () => Promise<boolean>, seconds = 60): Promise<void> {
  for (let tries = 0; tries < seconds * 10; tries += 1) {
    if (await isSo()) return;
    await wait(100);
  }
  throw new Error('it did not come about in time');
}

let traders = 0;

/** A wallet with an API key, and money if any. */
async function openTrader(amount: string): Promise<Trader> {
  traders += 1;
  const signer = walletFromPrivateKey(`0x${String(traders).padStart(64, '7')}`);
  const client = new ExchangeClient({ baseUrl: `http://127.0.0.1:${doors[0].port}`, signer });
  const trio = await client.connect();
  const transferId = `0x${String(traders).padStart(64, '0')}`;
  await doors[0].operator.deposit([{ transferId, wallet: signer.address, amount }]);
  await until(async () => (await ledger.balance(signer.address)).freeMicro > 0);
  // The other door hears of the key by the log.
  await until(
    async () => (await call(doors[1], { signer, trio }, 'DELETE', '/cancel-all')).status === 200,
  );
  return { signer, trio };
}

async function operate(method: 'POST' | 'PUT', path: string, body: object): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${doors[0].operatorPort}/operator/${path}`, {
    method,
    headers: { authorization: `Bearer ${keys.operatorToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.status;
}

function order(
  { signer, trio }: Trader,
  token: string,
  price = '0.10',
  how: Partial<OrderIntent> = {},
): BuiltOrder {
  const [domain] = signingDomains;
  if (domain === undefined) throw new Error('a domain');
  const context = { signer, domain, negRisk: false, owner: trio.apiKey, nowMs: Date.now() };
  return buildOrder({ tokenId: token, side: 'BUY', price, size: '1', ...how }, context);
}

function headersOf({ signer, trio }: Trader, method: string, path: string, body: string) {
  const key = { ...trio, address: signer.checksummed };
  const signed = signedHeaders(key, { method: method as 'POST', path, body }, Date.now());
  return { 'content-type': 'application/json', ...signed };
}

async function call(
  { port }: Pick<Door, 'port'>,
  trader: Trader,
  method: string,
  path: string,
  { body = '', headers = {} }: { body?: string; headers?: Record<string, string> } = {},
) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...headersOf(trader, method, path, body), ...headers },
    body: body === '' ? null : body,
    signal: AbortSignal.timeout(20_000),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as never,
  };
}

const place = async (door: Door, trader: Trader, orders: readonly BuiltOrder[], key?: string) => {
  const body = JSON.stringify(orders.map(({ submission }) => submission));
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  const answer = await call(door, trader, 'POST', '/orders', { body, headers });
  return { ...answer, body: answer.body as readonly PlacementResult[] };
};

const cancelAll = async (door: Door, trader: Trader): Promise<readonly string[]> => {
  const answer = await call(door, trader, 'DELETE', '/cancel-all');
  expect(answer.status).toBe(200);
  return (answer.body as { canceled: string[] }).canceled;
};

test('a cancel-all takes the orders of every partition, and lists of ids work at another door', async () => {
  const trader = await openTrader('100');
  const orders = [...tokens, ...tokens].map((token) => order(trader, token));
  const placed = await place(doors[0], trader, orders);
  expect(placed.body.map(({ status }) => status)).toEqual(orders.map(() => 'live'));
  expect(placed.headers.get('server-timing')).toMatch(
    /^auth;dur=.*validate;dur=.*log;dur=.*match;dur=/,
  );
  const [first, second, ...rest] = orders.map(({ orderId }) => orderId);
  const body = JSON.stringify([first, second, first, `0x${'ab'.repeat(32)}`]);
  const some = await call(doors[1], trader, 'DELETE', '/orders', { body });
  expect(some.body).toEqual({
    canceled: [first, second],
    not_canceled: {
      [`0x${'ab'.repeat(32)}`]: "order can't be found - already canceled or matched",
    },
  });
  expect([...(await cancelAll(doors[1], trader))].sort()).toEqual([...rest].sort());
  expect(await cancelAll(doors[0], trader)).toEqual([]);
  await until(
    async () => (await ledger.balance(trader.signer.address)).availableMicro === 100 * usdc,
  );
}, 60_000);

/** Sends the head of a request now and its last bytes when asked; resolves to the answer. */
async function sendSlowly({ port }: Door, trader: Trader, body: string) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const headers = { ...headersOf(trader, 'POST', '/order', body), host: 'x', connection: 'close' };
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}`);
  const head = `POST /order HTTP/1.1\r\n${lines.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  socket.write(head + body.slice(0, -10));
  await wait(50);
  return async () => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.write(body.slice(-10));
    await once(socket, 'close');
    return Buffer.concat(chunks).toString('utf8');
  };
}

test('an order that was sent before a cancel-all and arrives behind it is refused, one sent after is taken', async () => {
  const trader = await openTrader('10');
  const body = JSON.stringify(order(trader, tokens[1] ?? '').submission);
  const finish = await sendSlowly(doors[0], trader, body);
  expect(await cancelAll(doors[1], trader)).toEqual([]);
  const answer = await finish();
  expect(answer).toContain('"code":"fenced"');
  expect(answer).toContain('order was canceled before it reached the book');
  const after = await place(doors[0], trader, [order(trader, tokens[1] ?? '')]);
  expect(after.body[0]).toMatchObject({ success: true, status: 'live' });
  expect(await cancelAll(doors[0], trader)).toHaveLength(1);
}, 60_000);

test('a door killed amid its orders: retries that are signed anew place each order once', async () => {
  const trader = await openTrader('1000');
  const doomed = await openDoor();
  const pair = () => [order(trader, tokens[0] ?? ''), order(trader, tokens[2] ?? '', '0.11')];
  const retryKeys = Array.from({ length: 40 }, (_, index) => `key-${index}`);
  let answered = 0;
  const running = retryKeys.map(async (key, index) => {
    await wait(index * 4);
    const first = await place(doomed, trader, pair(), key).catch(() => null);
    if (first !== null) answered += 1;
    return first;
  });
  await wait(100);
  doomed.process.kill('SIGKILL');
  const firsts = await Promise.all(running);
  expect(answered).toBeLessThan(retryKeys.length);
  const finals = await Promise.all(
    retryKeys.map(async (key, index) => {
      const door = index % 2 === 0 ? doors[0] : doors[1];
      for (;;) {
        const again = await place(door, trader, pair(), key);
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
  const told = finals.flatMap(({ body }) => body.map(({ orderID }) => orderID));
  expect([...(await cancelAll(doors[0], trader))].sort()).toEqual([...told].sort());
  expect(told).toHaveLength(2 * retryKeys.length);
}, 120_000);

test('splits, merges and withdrawals are carried out once, and free money never becomes negative', async () => {
  const trader = await openTrader('100');
  const act = (action: string, sent: object, door = doors[0]) =>
    call(door, trader, 'POST', `/account/${action}`, { body: JSON.stringify(sent) });
  const free = async () => (await ledger.balance(trader.signer.address)).freeMicro;
  const ten = { condition_id: conditions[3], amount: '10', id: 'ten' };
  const split = await act('split', ten);
  expect([split.status, (await act('split', ten, doors[1])).body]).toEqual([200, split.body]);
  expect((await act('merge', { ...ten, amount: '4' })).status).toBe(200);
  await until(async () => (await free()) === 94 * usdc);
  expect((await act('merge', { ...ten, amount: '7', id: 'more' })).body).toMatchObject({
    code: 'insufficient_position',
  });
  let lowest = Number.POSITIVE_INFINITY;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const { freeMicro, availableMicro } = await ledger.balance(trader.signer.address);
      lowest = Math.min(lowest, freeMicro, availableMicro);
    }
  })();
  const asked = Array.from({ length: 30 }, (_, index) => ({ amount: '10', id: `out-${index}` }));
  const out = await Promise.all(
    asked.map((one, index) => act('withdrawals', one, index % 2 === 0 ? doors[0] : doors[1])),
  );
  expect(out.filter(({ status }) => status === 200)).toHaveLength(9);
  const paid = out.findIndex(({ status }) => status === 200);
  expect((await act('withdrawals', asked[paid] ?? {})).body).toEqual(out[paid]?.body);
  await until(async () => (await free()) === 4 * usdc);
  isOver = true;
  await watching;
  expect(lowest).toBeGreaterThanOrEqual(0);
  await until(async () => (await ledger.balance(trader.signer.address)).pendingMicro === 0);
}, 60_000);

test('a taker delay is waited for, a tick becomes finer at 0.97, modes refuse, and half a dollar is paid out', async () => {
  const [maker, seller] = [await openTrader('100'), await openTrader('100')];
  const token = tokens[1] ?? '';
  const id = 2;
  expect(await operate('PUT', `markets/${id}/rules`, { takerDelayMs: 300 })).toBe(200);
  const split = { condition_id: conditions[1], amount: '10', id: 'split' };
  const body = JSON.stringify(split);
  expect((await call(doors[0], seller, 'POST', '/account/split', { body })).status).toBe(200);
  expect((await place(doors[0], maker, [order(maker, token, '0.97')])).body[0]?.status).toBe(
    'live',
  );
  // The bid beyond 0.96 makes the tick finer, at both doors.
  for (const door of doors) {
    await until(async () => {
      const finer = await place(door, maker, [order(maker, token, '0.123')]);
      return finer.body[0]?.success === true;
    });
  }
  const sell = order(seller, token, '0.97', { side: 'SELL', timeInForce: 'FAK' });
  const startedMs = performance.now();
  const sold = await place(doors[0], seller, [sell]);
  expect(performance.now() - startedMs).toBeGreaterThan(250);
  expect(sold.body[0]).toMatchObject({
    status: 'matched',
    makingAmount: '1',
    takingAmount: '0.97',
  });
  expect(sold.body[0]?.tradeIDs).toHaveLength(1);
  for (const door of doors) expect((await place(door, seller, [sell])).body).toEqual(sold.body);

  expect(await operate('POST', 'trading-mode', { mode: 'CANCEL_ONLY' })).toBe(200);
  const closed = await place(doors[1], maker, [order(maker, token)]);
  expect([closed.status, closed.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await cancelAll(doors[1], maker)).toHaveLength(2);
  expect(await operate('POST', 'trading-mode', { mode: 'OPEN' })).toBe(200);

  expect(await operate('POST', `markets/${id}/resolve`, { payout0: '0.5' })).toBe(200);
  const redeem = JSON.stringify({ condition_id: conditions[1], id: 'end' });
  const paid = await call(doors[1], seller, 'POST', '/account/redeem', { body: redeem });
  expect(paid.body).toMatchObject({ success: true, payout: '9.5' });
  const again = await call(doors[0], seller, 'POST', '/account/redeem', { body: redeem });
  expect(again.body).toEqual(paid.body);
}, 60_000);
