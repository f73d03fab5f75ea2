import type { IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type HttpApp, openHttp } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import type { WalletAddress } from '@pm/schemas/ids';
import {
  type Credentials,
  limitRequests,
  type PayerFunds,
} from '../../src/ratelimit/limit-requests.io.ts';
import { openLimiter, TestClock } from './fixture.ts';
import { PlainStore } from './plain-store.ts';

/** `x-key` proves the caller it names, except `wrong`. */
const named: Credentials = {
  claims: (headers) => headers['x-key'] !== undefined,
  claimed: (headers) => String(headers['x-key']),
  claimedPayer: walletIn,
  prove({ headers }) {
    if (headers['x-proof'] === 'wrong' || headers['x-key'] === 'wrong') return null;
    const wallet = walletIn(headers);
    return { kind: 'key', id: String(headers['x-key']), wallet, payer: wallet };
  },
};

function walletIn(headers: IncomingHttpHeaders): WalletAddress {
  return String(headers['x-wallet'] ?? headers['x-key']) as WalletAddress;
}

/** Wallets named `free` have no money; the first answer about one comes later. */
const asked = new Set<string>();
const funds: PayerFunds = {
  isFunded(payer) {
    const isFunded = !payer.startsWith('free');
    const isKnown = asked.has(payer);
    asked.add(payer);
    return isKnown ? isFunded : Promise.resolve(isFunded);
  },
  isKnownUnfunded: (payer) => asked.has(payer) && payer.startsWith('free'),
};

const metrics = openMetrics('test');
let clock: TestClock;
let app: HttpApp;

beforeEach(() => {
  asked.clear();
  clock = new TestClock();
  const limiter = openLimiter(new PlainStore(clock.nowMs), clock);
  app = openHttp({
    log: silentLog,
    bodyLimitBytes: 10_000,
    trustedProxies: ['127.0.0.1'],
    rateLimits: limitRequests({ limiter, credentials: [named], funds }),
  });
  for (const url of [
    ...['/', '/clob/', '/data-api/', '/book', '/events', '/positions', '/internal'],
    ...['/markets', '/clob/markets', '/closed-positions'],
  ]) {
    app.get(url, (_request, reply) => reply.send({ ok: true }));
  }
  app.get('/data/trades', (request, reply) =>
    request.headers['x-key'] === 'wrong' ? reply.code(401).send({}) : reply.send({}),
  );
  app.get('/trades', (_request, reply) => reply.send([]));
  app.post('/orders', (_request, reply) => reply.send([]));
  app.delete('/order', (_request, reply) => reply.send({}));
});

afterEach(() => app.close());

async function send(url: string, count: number, given: object = {}): Promise<number[]> {
  const statuses: number[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    statuses.push((await app.inject({ url, ...given })).statusCode);
  }
  return statuses;
}

const passed = (statuses: readonly number[]) => statuses.filter((one) => one === 200).length;
const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
const as = (key: string) => ({ headers: { 'x-key': key } });

test('a limited answer says what is left; the refusal says when to come again', async () => {
  const first = await app.inject('/');
  expect(first.headers).toMatchObject({
    'ratelimit-limit': '50',
    'ratelimit-remaining': '49',
    'ratelimit-reset': '10',
  });
  await send('/', 49);
  clock.pass(3_500);
  const refused = await app.inject('/');
  expect(refused.statusCode).toBe(429);
  expect(refused.headers).toMatchObject({ 'retry-after': '7', 'ratelimit-remaining': '0' });
  expect(refused.json()).toEqual({
    error: 'Too Many Requests',
    code: 'rate_limited',
    retry_after_seconds: 7,
  });
  clock.pass(6_500);
  expect((await app.inject('/')).statusCode).toBe(200);
});

test('a mount is the same route', async () => {
  await send('/', 30);
  await send('/clob', 10);
  await send('/clob/', 10);
  expect((await app.inject('/clob')).statusCode).toBe(429);
});

test.each([
  ['/events', 500, { type: 'too many requests', error: 'Too Many Requests' }],
  ['/positions', 150, { error: 'rate_limited: Too Many Requests' }],
  ['/data-api', 50, { error: 'rate_limited: Too Many Requests' }],
  ['/clob/markets', 300, { error: 'Too Many Requests' }],
  ['/markets', 300, { type: 'too many requests', error: 'Too Many Requests' }],
] as const)('%s is refused in the words of its mount or family', async (url, limit, body) => {
  expect(passed(await send(url, limit + 1))).toBe(limit);
  const wait = { code: 'rate_limited', retry_after_seconds: 10 };
  expect((await app.inject(url)).json()).toEqual({ ...body, ...wait });
});

test('two clients behind a proxy have two buckets, and only a trusted proxy can name an address', async () => {
  expect(passed(await send('/', 60, from('192.0.2.1')))).toBe(50);
  expect(passed(await send('/', 60, from('192.0.2.2')))).toBe(50);
  const direct = { remoteAddress: '198.51.100.1' };
  const spoofed = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      app.inject({ url: '/', ...direct, ...from(`192.0.2.${100 + index}`) }),
    ),
  );
  expect(passed(spoofed.map((one) => one.statusCode))).toBe(50);
});

test('a proven key is counted for itself, not for its address', async () => {
  expect(passed(await send('/positions', 160, as('one')))).toBe(150);
  expect(passed(await send('/positions', 10, as('two')))).toBe(10);
  expect(passed(await send('/positions', 160))).toBe(150);
});

const ofWallet = (key: string, wallet: string, address: string) => ({
  headers: { 'x-key': key, 'x-wallet': wallet, 'x-forwarded-for': address },
});

test('the keys of one wallet share twice the table, from whatever addresses', async () => {
  let granted = 0;
  for (let key = 0; key < 5; key += 1) {
    const one = ofWallet(`key ${key}`, 'wallet', `192.0.2.${key}`);
    granted += passed(await send('/positions', 150, one));
  }
  expect(granted).toBe(300);
  expect(await send('/positions', 1, ofWallet('other', 'other', '192.0.2.1'))).toEqual([200]);
});

test('the keys at one address share four times the table, and others are not touched', async () => {
  let granted = 0;
  for (let key = 0; key < 7; key += 1) {
    const one = ofWallet(`key ${key}`, `wallet ${key}`, '192.0.2.1');
    granted += passed(await send('/positions', 150, one));
  }
  expect(granted).toBe(600);
  expect(await send('/positions', 1, ofWallet('good', 'good', '192.0.2.2'))).toEqual([200]);
  expect(
    await send('/order', 1, { method: 'DELETE', ...ofWallet('one', 'one', '192.0.2.1') }),
  ).toEqual([200]);
});

async function useUpOrders(address: string): Promise<void> {
  const payload = Array(15).fill({});
  for (let key = 0; key < 5; key += 1) {
    const { headers } = ofWallet(`key ${key}`, `wallet ${key}`, address);
    await send('/orders', 161, { method: 'POST', payload, headers });
  }
}

test('wallets without money at one address share a tenth of a table of trading', async () => {
  const batch = { method: 'POST', payload: Array(15).fill({}) };
  let granted = 0;
  for (let key = 0; key < 5; key += 1) {
    const free = ofWallet(`key ${key}`, `free ${key}`, '192.0.2.1');
    granted += passed(await send('/orders', 15, { ...batch, ...free }));
  }
  expect(granted * 15).toBe(240);
  const rich = ofWallet('rich', 'rich', '192.0.2.1');
  expect(passed(await send('/orders', 160, { ...batch, ...rich }))).toBe(160);
  const elsewhere = ofWallet('key 1', 'free 1', '192.0.2.2');
  expect(await send('/orders', 1, { ...batch, ...elsewhere })).toEqual([200]);
});

test('what wallets without money do beside trading is not counted for them together', async () => {
  for (let key = 0; key < 3; key += 1) {
    const free = ofWallet(`key ${key}`, `free ${key}`, '192.0.2.1');
    expect(passed(await send('/positions', 100, free))).toBe(100);
  }
});

test('their part used up, they are refused before a body is read, and others are not', async () => {
  const free = ofWallet('one', 'free one', '192.0.2.1');
  await send('/orders', 41, { method: 'POST', payload: Array(15).fill({}), ...free });
  expect(await send('/orders', 1, broken(free.headers))).toEqual([429]);
  const rich = ofWallet('rich', 'rich', '192.0.2.1');
  expect(await send('/orders', 1, broken(rich.headers))).toEqual([400]);
  expect(await send('/order', 1, { method: 'DELETE', ...free })).toEqual([200]);
});

const broken = (headers: object) => ({
  method: 'POST' as const,
  headers: { ...headers, 'content-type': 'application/json' },
  payload: '{',
});

test('an address whose keys have used up a route is refused before a body is read', async () => {
  await useUpOrders('192.0.2.1');
  clock.pass(2_500);
  const { headers } = ofWallet('another', 'another', '192.0.2.1');
  const refused = await app.inject({ url: '/orders', ...broken(headers) });
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '8']);
  const { headers: elsewhere } = ofWallet('another', 'another', '192.0.2.2');
  expect(await send('/orders', 1, broken(elsewhere))).toEqual([400]);
});

test('a refusal before the body counts for no caller', async () => {
  await useUpOrders('192.0.2.1');
  expect(
    passed(await send('/orders', 300, broken({ 'x-key': 'key 9', ...from('192.0.2.1').headers }))),
  ).toBe(0);
  const batch = { method: 'POST', payload: Array(15).fill({}) };
  const { headers } = ofWallet('key 9', 'wallet 9', '192.0.2.2');
  expect(passed(await send('/orders', 170, { ...batch, headers }))).toBe(160);
});

test('a claim that failed too often is refused before its body is read', async () => {
  const claimed = { headers: { 'x-key': 'wrong', ...from('192.0.2.1').headers } };
  await send('/orders', 101, { method: 'POST', payload: [], ...claimed });
  expect(await send('/orders', 1, broken(claimed.headers))).toEqual([429]);
  expect(await send('/orders', 1, broken({ ...claimed.headers, 'x-key': 'other' }))).toEqual([400]);
});

test('the body of a refused request is read and dropped, and its connection serves the next one', async () => {
  await useUpOrders('127.0.0.1');
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(requestOf('POST', '/orders', 'x'.repeat(1_000_000)));
  socket.write(requestOf('DELETE', '/order', '{}'));
  const statuses = await statusesOf(socket, 2);
  socket.destroy();
  expect(statuses).toEqual(['429', '200']);
});

function requestOf(method: string, path: string, body: string): string {
  const head = [`${method} ${path} HTTP/1.1`, 'host: test', 'x-key: key 9'];
  const lines = [...head, 'content-type: application/json', `content-length: ${body.length}`];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

async function statusesOf(socket: Socket, count: number): Promise<readonly string[]> {
  let text = '';
  for await (const bytes of socket) {
    text += bytes;
    const found = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1] ?? '');
    if (found.length >= count) return found;
  }
  return [text];
}

const guess = (key: string, address = '127.0.0.1') => ({
  headers: { 'x-key': key, 'x-proof': 'wrong', 'x-forwarded-for': address },
});

test('proofs of a key that fail lock out that key from that address, and nothing else', async () => {
  const guesses = await send('/closed-positions', 101, guess('one', '192.0.2.1'));
  expect(passed(guesses)).toBe(100);
  const good = (key: string, address: string) => ({
    headers: { 'x-key': key, 'x-forwarded-for': address },
  });
  expect(await send('/closed-positions', 1, good('one', '192.0.2.1'))).toEqual([429]);
  expect(await send('/closed-positions', 1, good('one', '192.0.2.2'))).toEqual([200]);
  expect(await send('/closed-positions', 1, good('two', '192.0.2.1'))).toEqual([200]);
  clock.pass(10_000);
  expect(await send('/closed-positions', 1, good('one', '192.0.2.1'))).toEqual([200]);
});

test('a key that is locked out at an address can cancel there', async () => {
  await send('/positions', 150, guess('one'));
  expect(await send('/positions', 1, as('one'))).toEqual([429]);
  expect(await send('/order', 1, { method: 'DELETE', ...as('one') })).toEqual([200]);
});

test('an address with too many failed proofs gets 429 for bad ones, and good ones pass', async () => {
  for (let key = 0; key < 50; key += 1) {
    await send('/order', 100, { method: 'DELETE', ...guess(`key ${key}`) });
  }
  expect(await send('/order', 1, { method: 'DELETE', ...guess('another') })).toEqual([429]);
  expect(await send('/positions', 1, guess('another'))).toEqual([429]);
  expect(await send('/positions', 1, as('good'))).toEqual([200]);
  expect(await send('/book', 1)).toEqual([200]);
});

test('IPv6 counts by network, and what a proxy names without an address counts for the proxy', async () => {
  expect(passed(await send('/', 30, from('2001:db8:0:1::1')))).toBe(30);
  expect(passed(await send('/', 30, from('2001:db8:0:1::2')))).toBe(20);
  const nameless = Array.from({ length: 60 }, (_, index) => from(`unknown-${index}`));
  const statuses = await Promise.all(nameless.map((one) => app.inject({ url: '/', ...one })));
  expect(passed(statuses.map((one) => one.statusCode))).toBe(50);
});

test('the right-most address that is no trusted proxy counts', async () => {
  const chains = Array.from({ length: 60 }, (_, index) => from(`192.0.2.${index}, 203.0.113.9`));
  const statuses = await Promise.all(chains.map((one) => app.inject({ url: '/', ...one })));
  expect(passed(statuses.map((one) => one.statusCode))).toBe(50);
});

test('a batch costs its orders, an unreadable body counts as a failed proof', async () => {
  const batch = { method: 'POST', ...as('firm'), payload: Array(15).fill({}) };
  expect(passed(await send('/orders', 170, batch))).toBe(160);
  const statuses = await send('/orders', 101, broken({ 'x-key': 'firm' }));
  expect(statuses[0]).toBe(400);
  expect(statuses.at(-1)).toBe(429);
});

test('cancels pass when everything else is used up', async () => {
  const batch = { method: 'POST', ...as('firm'), payload: Array(15).fill({}) };
  await send('/orders', 170, batch);
  expect(await send('/order', 1, { method: 'DELETE', ...as('firm') })).toEqual([200]);
});

test('HEAD counts as one GET, is refused as one, and a route outside the table is not limited', async () => {
  await send('/', 1, { method: 'HEAD' });
  expect((await app.inject('/')).headers['ratelimit-remaining']).toBe('48');
  await send('/positions', 150, { method: 'HEAD' });
  const refused = await app.inject({ method: 'HEAD', url: '/positions' });
  const asked = await app.inject('/positions');
  expect([refused.statusCode, refused.body]).toEqual([429, '']);
  expect(refused.headers['content-length']).toBe(asked.headers['content-length']);
  const free = await app.inject('/internal');
  expect(free.headers['ratelimit-limit']).toBeUndefined();
});

test('what passed and what was refused is counted by scope', async () => {
  const limiter = openLimiter(new PlainStore(clock.nowMs), clock);
  const rateLimits = limitRequests({ limiter, credentials: [] });
  const counted = openHttp({ log: silentLog, bodyLimitBytes: 1, metrics, rateLimits });
  counted.get('/', (_request, reply) => reply.send('OK'));
  for (let sent = 0; sent < 53; sent += 1) await counted.inject('/');
  const text = await metrics.text();
  expect(text).toMatch(/pm_rate_allowed_total\{[^}]*scope="health"[^}]*\} 50/);
  expect(text).toMatch(/pm_rate_allowed_total\{[^}]*scope="clob"[^}]*\} 50/);
  expect(text).toMatch(/pm_rate_limited_total\{[^}]*scope="health"[^}]*\} 3/);
});

test('both ledgers of trades share one budget of a client, with a key and without', async () => {
  const here = { 'x-forwarded-for': '192.0.2.7' };
  const keyed = (key: string) => ({ headers: { ...here, 'x-key': key } });
  expect(passed(await send('/trades', 100, { headers: here }))).toBe(100);
  expect(passed(await send('/data/trades', 30, keyed('one')))).toBe(30);
  expect(passed(await send('/data/trades', 30, keyed('two')))).toBe(20);
  expect(await send('/trades', 1, { headers: here })).toEqual([429]);
  expect(await send('/trades', 1, keyed('three'))).toEqual([429]);
  expect(
    await send('/data/trades', 1, { headers: { 'x-forwarded-for': '192.0.2.8', 'x-key': 'one' } }),
  ).toEqual([200]);
});
