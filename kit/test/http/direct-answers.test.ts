import { Agent, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { directAnswers, type HttpApp, openHttp } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import { openMetrics } from '@pm/kit/metrics';
import { openLimiter, TestClock } from '../ratelimit/fixture.ts';
import { PlainStore } from '../ratelimit/plain-store.ts';

const metrics = openMetrics('test');
const json = Buffer.from('{"bids":[]}');
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let app: HttpApp;

beforeAll(async () => {
  const clock = new TestClock();
  const limiter = openLimiter(new PlainStore(clock.nowMs), clock);
  const rateLimits = { limiter, credentials: [] };
  app = openHttp({ log: silentLog, bodyLimitBytes: 1, metrics, rateLimits });
  const answer = directAnswers(app, { method: 'GET', url: '/book' });
  app.get('/book', (request, reply) => answer(request, reply, json));
  app.get('/spread', (_request, reply) =>
    reply.header('content-type', 'application/json; charset=utf-8').send(json),
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  agent.destroy();
  await app.close();
});

/** Over a real connection, which is kept. */
async function read(path: string) {
  const { port } = app.server.address() as AddressInfo;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent }, resolve).on('error', reject);
  });
  const from = answer.socket.localPort;
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return { answer, from, body: Buffer.concat(chunks).toString() };
}

test('a direct answer says everything that any other answer says', async () => {
  const [direct, plain] = [await read('/book'), await read('/spread')];
  expect([direct.answer.statusCode, direct.body]).toEqual([200, plain.body]);
  const told = ({ answer: { headers } }: typeof direct) => ({
    ...headers,
    date: null,
    'x-request-id': /^[0-9a-f]{12}-[0-9a-z]+$/.test(String(headers['x-request-id'])),
    'ratelimit-remaining': Number(headers['ratelimit-remaining']) > 190,
  });
  expect(told(direct)).toEqual(told(plain));
  expect(direct.answer.headers).toMatchObject({
    'content-length': '11',
    'ratelimit-limit': '200',
    'ratelimit-remaining': '199',
  });
});

test('connections are kept behind it, and it goes through injected requests too', async () => {
  const first = await read('/book');
  expect((await read('/book')).from).toBe(first.from);
  expect((await app.inject('/book')).json()).toEqual({ bids: [] });
});

test('it is counted, and limited like any other', async () => {
  for (let sent = 0; sent < 210; sent += 1) await app.inject('/book');
  expect((await app.inject('/book')).statusCode).toBe(429);
  const text = await metrics.text();
  const of = 'method="GET",route="/book"';
  expect(text).toMatch(new RegExp(`pm_http_requests_total\\{${of},status="200"[^}]*\\} 200`));
  expect(text).toMatch(new RegExp(`pm_http_requests_total\\{${of},status="429"[^}]*\\} [1-9]`));
  expect(text).toMatch(
    new RegExp(`pm_http_request_seconds_count\\{[^}]*${of}[^}]*\\} 2[0-9][0-9]`),
  );
});

test('routes that browsers may call have no direct answers', () => {
  expect(() => directAnswers(app, { method: 'GET', url: '/api/v1/markets' })).toThrow(/browsers/);
});
