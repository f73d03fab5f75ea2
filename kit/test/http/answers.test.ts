import { Type } from 'typebox';
import { Fault } from '../../src/fault/index.ts';
import type { HttpApp } from '../../src/http/app.io.ts';
import { openHttp } from '../../src/http/open.io.ts';
import { refusalBody, refuse } from '../../src/http/refuse.io.ts';
import { silentLog } from '../../src/log/index.ts';
import { openMetrics } from '../../src/metrics/index.ts';
import { connectTo } from './raw-talk.ts';

let app: HttpApp;
const metrics = openMetrics('test');

beforeAll(async () => {
  app = openHttp({
    log: silentLog,
    bodyLimitBytes: 1024,
    metrics,
    opensToPages: true,
    limits: { headersTimeoutMs: 300, requestTimeoutMs: 300 },
  });
  app.get('/fail/:how', async (request) => {
    const { how } = request.params as { how: string };
    if (how === 'retry') throw new Fault('redis_unavailable', 'retry', { facts: { key: 'k1' } });
    if (how === 'stop') throw new Fault('broken', 'stop', { facts: { secret: 'hunter2' } });
    if (how === 'status') throw Object.assign(new Error('inner text'), { statusCode: 302 });
    throw new Error('hunter2 at /etc/passwd');
  });
  app.get('/refuse/:code', async (request, reply) => {
    const { code } = request.params as { code: 'rate_limited' };
    return refuse(reply, code, { min: 5, id: '0x1', size: 1 });
  });
  app.get('/slow-down', async (_request, reply) =>
    refuse(reply, 'rate_limited', {}, { retryAfterSeconds: 2.2, body: { scope: 'wallet' } }),
  );
  const Query = Type.Object({ limit: Type.Optional(Type.String()) });
  app.get('/query', { schema: { querystring: Query } }, async (request) => ({ ...request.query }));
  app.get('/item/:id', async () => ({ ok: true }));
  app.get('/api/v1/markets', async () => []);
  app.get('/orders', async () => []);
  await app.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(async () => await app.close());

const get = (url: string, headers: Record<string, string> = {}) =>
  app.inject({ method: 'GET', url, headers });

describe('an error', () => {
  test.each([
    ['stop', 500, { error: 'internal error' }],
    ['unforeseen', 500, { error: 'internal error' }],
    ['status', 500, { error: 'internal error' }],
    ['retry', 503, { error: 'service unavailable, try again shortly', retry_after_seconds: 1 }],
  ])('of kind %s is answered with %d and tells nothing of itself', async (how, status, body) => {
    const answer = await get(`/fail/${how}`);
    expect([answer.statusCode, answer.json()]).toEqual([status, body]);
    expect(answer.headers['retry-after']).toBe(status === 503 ? '1' : undefined);
  });

  test('of the path or the method is 404 or 400 in JSON', async () => {
    expect([(await get('/nothing')).statusCode, (await get('/nothing')).json()]).toEqual([
      404,
      { error: 'not found' },
    ]);
    expect(
      (
        await app.inject({
          method: 'PATCH',
          url: '/orders',
          payload: 'x',
          headers: { 'content-type': 'text/plain' },
        })
      ).json(),
    ).toEqual({ error: 'the path takes other methods' });
    expect((await get('/item/%ff')).json()).toEqual({ error: 'the path cannot be decoded' });
    expect((await get(`/item/${'a'.repeat(256)}`)).statusCode).toBe(200);
    const long = await get(`/item/${'a'.repeat(257)}`);
    expect([long.statusCode, long.json()]).toEqual([
      414,
      { error: 'a part of the path is too long' },
    ]);
  });
});

describe('a refusal', () => {
  test.each([
    ['rate_limited', 429, 'Too Many Requests', '1'],
    ['overloaded', 503, 'too many requests in flight, try again shortly', '1'],
    [
      'partition_not_ready',
      425,
      'the matching engine of this market is restarting, try again shortly',
      '1',
    ],
    ['order_not_found', 404, "order can't be found - already canceled or matched", undefined],
    ['invalid_size', 400, 'order 0x1 is invalid. Size (1) lower than the minimum: 5', undefined],
  ])('%s has its status, text, code and Retry-After', async (code, status, error, retryAfter) => {
    const answer = await get(`/refuse/${code}`);
    const wait = retryAfter === undefined ? {} : { retry_after_seconds: Number(retryAfter) };
    expect([answer.statusCode, answer.json()]).toEqual([status, { error, code, ...wait }]);
    expect(answer.headers['retry-after']).toBe(retryAfter);
  });

  test('of a caller who is not known says how to become so', async () => {
    expect((await get('/refuse/invalid_l2')).headers['www-authenticate']).toBe('HMAC');
  });

  test('reports the retry time in whole seconds, and more when the route says more', async () => {
    const answer = await get('/slow-down');
    expect(answer.headers['retry-after']).toBe('3');
    expect(answer.json()).toEqual({
      error: 'Too Many Requests',
      code: 'rate_limited',
      retry_after_seconds: 3,
      scope: 'wallet',
    });
  });

  test('is the body of a batch item', () => {
    expect(refusalBody('duplicate', { id: '0x2' })).toEqual({
      error: 'order 0x2 is invalid. Duplicated.',
      code: 'duplicate',
    });
  });
});

describe('a query', () => {
  test('is text, and repeated keys are arrays', async () => {
    expect((await get('/query?limit=5')).json()).toEqual({ limit: '5' });
    const twice = await get('/query?limit=5&limit=6');
    expect([twice.statusCode, twice.json().error]).toEqual([
      400,
      'invalid request: querystring/limit must be string',
    ]);
  });

  test('ignores unknown parameters', async () => {
    const answer = await get('/query?geo_block_token=x&__proto__=y&constructor=z');
    expect(answer.statusCode).toBe(200);
    expect(({} as Record<string, unknown>)['y']).toBeUndefined();
  });
});

describe('headers', () => {
  test.each([
    ['a read', 'GET /orders HTTP/1.1', ''],
    ['a read without its body', 'HEAD /orders HTTP/1.1', ''],
    ['a preflight', 'OPTIONS /api/v1/markets HTTP/1.1', ''],
    ['a fault', 'GET /fail/stop HTTP/1.1', ''],
    ['a refusal', 'GET /refuse/rate_limited HTTP/1.1', ''],
    ['an unknown path', 'GET /nowhere HTTP/1.1', ''],
    ['a path that cannot be decoded', 'GET /item/%ff HTTP/1.1', ''],
    ['a body that is no JSON', 'POST /orders HTTP/1.1', 'Content-Length: 1\r\n\r\n{'],
    ['a method that is none', 'BREW /orders HTTP/1.1', ''],
    ['headers that are too large', 'GET /orders HTTP/1.1', `X: ${'x'.repeat(70_000)}`],
    ['a request that is too late', 'POST /orders HTTP/1.1', 'Content-Length: 9\r\n\r\n'],
    ['a request of uncertain length', 'POST /orders HTTP/1.0', 'Transfer-Encoding: chunked'],
  ])('say of the response to %s that its type is not guessed', async (_what, line, rest) => {
    const talk = await connectTo(app);
    talk.send(`${line}\r\nHost: x\r\n${rest}\r\n\r\n`);
    expect(await talk.hears('\r\n\r\n')).toMatch(/^x-content-type-options: nosniff\r$/im);
    talk.close();
  });

  test('carry a request id: the harmless one of the caller, otherwise ours', async () => {
    const ownId = /^[0-9a-f]{12}-[0-9a-z]+$/;
    expect((await get('/orders', { 'x-request-id': 'abc_1-2' })).headers['x-request-id']).toBe(
      'abc_1-2',
    );
    expect(
      (await get('/orders', { 'x-request-id': 'a b<script>' })).headers['x-request-id'],
    ).toMatch(ownId);
    for (const unrouted of ['/nothing', '/item/%ff']) {
      expect((await get(unrouted)).headers['x-request-id']).toMatch(ownId);
    }
  });

  test('open the agent routes to every origin and no others', async () => {
    for (const url of ['/api/v1/markets', '/api/v1/nothing']) {
      const { headers } = await get(url);
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-expose-headers']).toContain('x-behind');
    }
    expect(
      (await get('/api/v1/markets')).headers['access-control-allow-credentials'],
    ).toBeUndefined();
    expect((await get('/orders')).headers['access-control-allow-origin']).toBeUndefined();
    const preflight = await app.inject({ method: 'OPTIONS', url: '/api/v1/markets' });
    expect([preflight.statusCode, preflight.headers['access-control-allow-origin']]).toEqual([
      204,
      '*',
    ]);
    const other = await app.inject({ method: 'OPTIONS', url: '/orders' });
    expect([other.statusCode, other.headers['access-control-allow-origin']]).toEqual([
      204,
      undefined,
    ]);
  });
});

describe('counts', () => {
  test('go by the pattern of the route, never by the path', async () => {
    await get('/item/123456');
    await app.inject({ method: 'HEAD', url: '/item/123456' });
    await get('/nowhere/at/all');
    const text = await metrics.text();
    expect(text).toMatch(/pm_http_requests_total\{method="GET",route="\/item\/:id",status="200"/);
    expect(text).toMatch(/pm_http_requests_total\{method="GET",route="none",status="404"/);
    expect(text).not.toContain('method="HEAD"');
    expect(text).not.toContain('123456');
    expect(text).toContain('pm_http_request_seconds_bucket');
  });
});

/** Sends bytes as they are and gives what comes back until the connection ends. */
async function raw(bytes: string): Promise<string> {
  const talk = await connectTo(app);
  talk.send(bytes);
  return await talk.end();
}

test('ignores an unknown expectation of a request', async () => {
  const answer = await raw(
    'GET /orders HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nConnection: close\r\n\r\n',
  );
  expect([answer.slice(0, 15), answer.slice(-6)]).toEqual(['HTTP/1.1 200 OK', '\r\n\r\n[]']);
});

describe('bytes that are no request', () => {
  test.each([
    ['not HTTP', 'hello\r\n\r\n', 400, 'bad request'],
    [
      'headers beyond 16 KiB',
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`,
      431,
      'the headers are too large',
    ],
    [
      'two lengths',
      'POST /orders HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
      'bad request',
    ],
    [
      'a length and chunks',
      'POST /orders HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'bad request',
    ],
    ['headers that never end', 'GET / HTTP/1.1\r\nHost: a\r\n', 408, 'the request took too long'],
    [
      'a body that never ends',
      'POST /orders HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
      408,
      'the request took too long',
    ],
    ['a method nobody knows', 'JUMP /orders HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'bad request'],
  ])('%s', async (_, bytes, status, error) => {
    const answer = await raw(bytes);
    expect(answer.startsWith(`HTTP/1.1 ${status} `)).toBe(true);
    expect(answer.endsWith(JSON.stringify({ error }))).toBe(true);
  });

  test('are answered in the words of the family that they ask', async () => {
    const overflow = await raw(`GET /events?slug=${'y'.repeat(20_000)} HTTP/1.1\r\n`);
    const error = 'the headers are too large';
    expect(overflow).toMatch(/^HTTP\/1\.1 431 /);
    expect(overflow.endsWith(JSON.stringify({ type: 'bad request', error }))).toBe(true);
    const jump = await raw('JUMP http://example.test/data-api/trades HTTP/1.1\r\n\r\n');
    expect(jump).toMatch(/^HTTP\/1\.1 400 /);
    expect(jump.endsWith('{"error":"bad_request: bad request"}')).toBe(true);
  });
});
