import { Agent, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type HttpApp, openHttp } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import type { WalletAddress } from '@pm/schemas/ids';
import { limitTable } from '../../src/ratelimit/callers.ts';
import { type Credentials, limitRequests } from '../../src/ratelimit/limit-requests.io.ts';
import { RateLimiter } from '../../src/ratelimit/limiter.io.ts';
import { TestClock } from './fixture.ts';
import { PlainStore } from './plain-store.ts';

const metrics = openMetrics('test');
const json = Buffer.from('{"bids":[]}');
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const payer = '0x' as WalletAddress;
const named: Credentials = {
  claims: (headers) => headers['x-key'] !== undefined,
  claimed: (headers) => String(headers['x-key']),
  claimedPayer: () => null,
  prove: ({ headers }) => ({ kind: 'key', id: String(headers['x-key']), payer }),
};
let clock: TestClock;
let app: HttpApp;
/** Requests that went the whole way. */
let handled = 0;

beforeAll(async () => {
  clock = new TestClock();
  // Ten times the table: of smaller limits nothing is leased, so nothing can be granted without asking.
  const limits = limitTable(10, { agent: 2, wallet: 2, network: 4, unfunded: 0.1 });
  const store = new PlainStore(clock.nowMs);
  const limiter = new RateLimiter({ store, limits, clock, processes: 1, log: silentLog });
  app = openHttp({
    log: silentLog,
    bodyLimitBytes: 1,
    metrics,
    trustedProxies: ['127.0.0.1'],
    rateLimits: limitRequests({ limiter, credentials: [named] }),
  });
  app.answerAtHand('/book', {
    prefix: '/book?token_id=',
    find: (token) => (token === '7' ? json : undefined),
  });
  app.get('/book', (_request, reply) => {
    handled += 1;
    return reply.header('content-type', 'application/json; charset=utf-8').send(json);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
});

beforeEach(() => {
  clock.pass(10_000);
  handled = 0;
});

afterAll(async () => {
  agent.destroy();
  await app.close();
});

interface Read {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly from: number | undefined;
  /** Whether the framework saw it. */
  readonly wholeWay: boolean;
}

/** Over a real connection, which is kept. */
async function read(
  path = '/book?token_id=7',
  headers: Record<string, string> = {},
): Promise<Read> {
  const { port } = app.server.address() as AddressInfo;
  const before = handled;
  return await new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent, headers }, (answer) => {
      const from = answer.socket.localPort;
      const chunks: Buffer[] = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          from,
          body: Buffer.concat(chunks).toString(),
          wholeWay: handled > before,
        }),
      );
    }).on('error', reject);
  });
}

/** Until the connection is known and a part of the limit is leased. */
async function warm(headers: Record<string, string> = {}): Promise<void> {
  for (let sent = 0; sent < 3; sent += 1) await read('/book?token_id=7', headers);
}

test('an answer of the lane says everything that the framework would have said', async () => {
  const whole = await read('/book?token_id=8');
  let express = await read();
  for (let sent = 0; express.wholeWay && sent < 5; sent += 1) express = await read();
  expect([whole.wholeWay, express.wholeWay]).toEqual([true, false]);
  expect([express.status, express.body, express.from]).toEqual([200, whole.body, whole.from]);
  const told = ({ headers }: Read) => ({
    ...headers,
    date: null,
    'x-request-id': /^[0-9a-f]{12}-[0-9a-z]+$/.test(String(headers['x-request-id'])),
    'ratelimit-remaining': Number(headers['ratelimit-remaining']) > 1990,
  });
  expect(told(express)).toEqual(told(whole));
  expect(express.headers).toMatchObject({ 'content-length': '11', 'ratelimit-limit': '2000' });
  expect((await read('/book?token_id=7', { 'x-request-id': 'mine' })).headers).toMatchObject({
    'x-request-id': 'mine',
  });
});

test('whatever is in question goes the whole way', async () => {
  await warm();
  const ways: Record<string, boolean> = {};
  for (const [what, path, headers] of [
    ['unknown', '/book?token_id=8', {}],
    ['more parameters', '/book?token_id=7&at=1', {}],
    ['a bearer', '/book?token_id=7', { authorization: 'Bearer x' }],
    ['a key', '/book?token_id=7', { 'x-key': 'firm' }],
    [
      'a client that a proxy names for the first time',
      '/book?token_id=7',
      { 'x-forwarded-for': '192.0.2.9' },
    ],
  ] as const) {
    ways[what] = (await read(path, headers)).wholeWay;
  }
  expect(Object.values(ways)).toEqual([true, true, true, true, true]);
});

test('both ways together grant exactly the limit, to each client behind a proxy', async () => {
  for (const client of ['192.0.2.1', '192.0.2.2']) {
    const from = { 'x-forwarded-for': client };
    const reads: Read[] = [];
    for (let sent = 0; sent < 2_020; sent += 1) reads.push(await read('/book?token_id=7', from));
    expect(reads.filter(({ status }) => status === 200)).toHaveLength(2_000);
    expect(reads.at(-1)).toMatchObject({ status: 429, headers: { 'retry-after': '10' } });
  }
});

test('what it answers is counted as answers of the route', async () => {
  const sum = async (series: RegExp) =>
    [...(await metrics.text()).matchAll(series)].reduce(
      (total, [, count]) => total + Number(count),
      0,
    );
  const answers = /pm_http_requests_total\{method="GET",route="\/book",status="200"[^}]*\} (\d+)/g;
  const passed = /pm_rate_allowed_total\{scope="book"[^}]*\} (\d+)/g;
  const before = [await sum(answers), await sum(passed)];
  for (let sent = 0; sent < 50; sent += 1) await read();
  expect(handled).toBeLessThan(50);
  expect([await sum(answers), await sum(passed)]).toEqual(before.map((count) => count + 50));
});
