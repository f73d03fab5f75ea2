import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type HttpApp, listenerBounds, openHttp } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import { Random } from '@pm/kit/random';
import { bodyMaxBytes, urlsOf } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';
import { connectTo, type RawTalk } from '../../kit/test/http/raw-talk.ts';
import { openGateway } from '../src/gateway.ts';

async function serve(answer: RequestListener): Promise<Server> {
  // Wide enough for whatever the gateway lets pass.
  const server = createServer({ maxHeaderSize: 64 * 1024 }, answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** A service that returns the requests that reach it. */
function openListener(name: string): Promise<Server> {
  return serve((request, response) => {
    const hash = createHash('sha256');
    request.on('data', (part) => hash.update(part));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.setHeader('x-service', name);
      const { method, url, headers } = request;
      const echo = JSON.stringify({ method, url, headers, body: hash.digest('hex') });
      response.setHeader('content-length', Buffer.byteLength(echo));
      response.end(echo);
    });
  });
}

/** A service that sends an event, and the next one when the caller has read that; it notes callers who go away. */
const events = { next: (): void => {}, gone: 0 };

function openEvents(): Promise<Server> {
  return serve((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: first\n\n');
    events.next = () => void response.write('data: second\n\n');
    response.on('close', () => {
      events.gone += 1;
    });
  });
}

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const closedPort = 'http://127.0.0.1:1';
const digest = (body: string | Buffer) => createHash('sha256').update(body).digest('hex');

let ingress: Server;
let queryApi: Server;
let mcp: Server;
let gateway: HttpApp;

beforeAll(async () => {
  ingress = await openListener('ingress');
  queryApi = await openListener('query-api');
  mcp = await openEvents();
  gateway = openGateway({
    ingress: urlOf(ingress),
    'query-api': urlOf(queryApi),
    mcp: urlOf(mcp),
  });
  await gateway.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  // The client of `fetch` keeps connections for later.
  gateway.server.closeAllConnections();
  await gateway.close();
  ingress.close();
  queryApi.close();
  mcp.close();
});

const talks: RawTalk[] = [];

/** A connection that ends with the test. */
async function openTalk(app: HttpApp): Promise<RawTalk> {
  const talk = await connectTo(app);
  talks.push(talk);
  return talk;
}

afterEach(() => {
  for (const talk of talks.splice(0)) talk.close();
});

/** The request that reaches the service for this target and these header lines. */
async function reached(talk: RawTalk, target: string, lines = ''): Promise<Reached> {
  talk.send(`GET ${target} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`);
  const answer = await talk.hears('"body":"');
  return JSON.parse(`${answer.slice(answer.indexOf('{')).replace(/,"body.*$/, '')}}`) as Reached;
}

interface Reached {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

describe('a request', () => {
  test.each(routes)(
    '$method $path goes to its service, at every mount of the table',
    async (route) => {
      const methods = route.method === 'GET' ? ['GET' as const, 'HEAD' as const] : [route.method];
      for (const { url: pattern } of urlsOf(route)) {
        const url = `${pattern.replaceAll(/:\w+/g, '42')}?a=1`;
        for (const method of methods) {
          const answer = await gateway.inject({ method, url });
          expect(answer.headers['x-service']).toBe(route.service);
          if (method === 'HEAD') expect(answer.body).toBe('');
          else expect(answer.json()).toMatchObject({ method, url });
        }
      }
    },
  );

  test('HEAD is answered with the headers of GET', async () => {
    const [whole, head] = [
      await gateway.inject('/events?a=1'),
      await gateway.inject({ method: 'HEAD', url: '/events?a=1' }),
    ];
    const namesOf = ({ headers }: typeof head) => Object.keys(headers).sort();
    expect([head.statusCode, namesOf(head)]).toEqual([200, namesOf(whole)]);
    expect(Number(head.headers['content-length'])).toBeGreaterThan(0);
  });

  test('arrives with its target byte for byte, whatever the query is', async () => {
    const random = new Random(20_260_801);
    const talk = await openTalk(gateway);
    const hostile = ['%', '%2', '%ff', '%FF%fe', '../', '%2F..', '/..%5c', '#', '&&==', '?', '\\'];
    for (let sent = 0; sent < 500; sent += 1) {
      const parts = Array.from({ length: random.below(20) }, () =>
        random.chance(0.3) ? random.pick(hostile) : String.fromCharCode(random.integer(0x21, 0x7e)),
      );
      const target = `${random.pick(['/', '/events', '/public-search', '/order-scoring'])}?${parts.join('')}`;
      expect((await reached(talk, target)).url).toBe(target);
    }
  });

  test.each([
    ['/events/..%2Fx', '/events/..%2Fx'],
    ['/events/%2e%2e', '/events/%2e%2e'],
    ['/events/slug/a%20b%C3%A9?c', '/events/slug/a%20b%C3%A9?c'],
    ['http://example.test/ok?x=1', '/ok?x=1'],
    ['HTTP://example.test', '/'],
    ['https://example.test?x=/../y', '/?x=/../y'],
  ])('for %s requests %s from the service', async (target, url) => {
    const talk = await openTalk(gateway);
    expect((await reached(talk, target)).url).toBe(url);
  });

  test('with parts of a path as long as a service accepts passes', async () => {
    const url = `/events/slug/${'s'.repeat(256)}`;
    expect((await reached(await openTalk(gateway), url)).url).toBe(url);
    const answer = await gateway.inject(`/gamma${url}s`);
    const error = 'a part of the path is too long';
    expect([answer.statusCode, answer.json()]).toEqual([414, { type: 'bad request', error }]);
  });

  test('with 500 condition ids passes', async () => {
    const ids = Array.from({ length: 500 }, () => `0x${'c'.repeat(64)}`);
    const url = `/rewards/markets/multi?condition_ids=${ids.join()}`;
    expect(url.length).toBeGreaterThan(33_000);
    const talk = await openTalk(gateway);
    expect((await reached(talk, url)).url).toBe(url);
  });

  test('keeps the bytes of its body and headers with underscores', async () => {
    const body = '{"a":1,  "b":"\u00e9"}';
    const headers = { 'content-type': 'application/json', SERVICE_ADDRESS: '0xabc' };
    for (const [method, url] of [
      ['POST', '/order'],
      ['DELETE', '/order'],
      ['PUT', '/profile'],
    ] as const) {
      const answer = await gateway.inject({ method, url, headers, payload: body });
      const length = String(Buffer.byteLength(body));
      expect(answer.json()).toMatchObject({
        method,
        body: digest(body),
        headers: { service_address: '0xabc', 'content-length': length },
      });
    }
  });

  test('keeps the bytes of an encoded body, and the name of its encoding', async () => {
    const payload = gzipSync('{"a":1}');
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const answer = await gateway.inject({ method: 'POST', url: '/order', headers, payload });
    expect(answer.json()).toMatchObject({
      body: digest(payload),
      headers: { 'content-encoding': 'gzip', 'content-length': String(payload.length) },
    });
  });

  test('keeps a body in chunks, and no body is none', async () => {
    const talk = await openTalk(gateway);
    const head = 'POST /order HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
    talk.send(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n3\r\n,2]\r\n0\r\n\r\n`);
    expect(await talk.hears(`"body":"${digest('[1,2]')}"`)).toContain('"content-length":"5"');
    talk.send(`${head}\r\n`);
    await talk.hears(`"body":"${digest('')}"`);
    talk.send('DELETE /order HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\r\n');
    await talk.hears(`"body":"${digest('')}"`);
  });

  test('sends the service no headers of its connection, and answers its own expectation', async () => {
    const talk = await openTalk(gateway);
    const { headers } = await reached(
      talk,
      '/ok',
      'Connection: keep-alive, X-Mine, Upgrade\r\nKeep-Alive: timeout=5\r\nX-Mine: 1\r\nUpgrade: websocket\r\n' +
        'TE: trailers\r\nTrailer: X-End\r\nProxy-Authorization: Basic eDp5\r\nProxy-Connection: keep-alive\r\n' +
        'Expect: wonders\r\nX-Else: 2\r\n',
    );
    const { 'x-request-id': id, host, connection, ...others } = headers;
    expect([id, host]).toEqual([expect.any(String), new URL(urlOf(ingress)).host]);
    expect([connection, others]).toEqual([
      'keep-alive',
      {
        'x-else': '2',
        'x-forwarded-for': '127.0.0.1',
        'x-waited-ms': expect.stringMatching(/^\d+$/),
      },
    ]);
    const head = 'POST /order HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
    talk.send(`${head}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`);
    await talk.hears('HTTP/1.1 100 Continue\r\n\r\n');
    talk.send('{}');
    expect(await talk.hears(`"body":"${digest('{}')}"`)).toContain('HTTP/1.1 200 OK');
  });

  test("is sent to the service as that of the connection, independent of the client's headers", async () => {
    const answer = await gateway.inject({
      url: '/book',
      remoteAddress: '192.0.2.7',
      headers: { 'x-forwarded-for': '198.51.100.1, 127.0.0.1', connection: 'x-forwarded-for' },
    });
    expect(answer.json().headers['x-forwarded-for']).toBe('192.0.2.7');
  });

  test('behind a trusted proxy is the right-most one that the proxy names', async () => {
    const services = { ingress: urlOf(ingress), 'query-api': urlOf(queryApi) };
    const behind = openGateway(services, { trustedProxies: ['192.0.2.0/24'] });
    const forwarded = async (remoteAddress: string) => {
      const headers = { 'x-forwarded-for': '1.1.1.1, 198.51.100.9' };
      const answer = await behind.inject({ url: '/book', remoteAddress, headers });
      return answer.json().headers['x-forwarded-for'];
    };
    expect(await forwarded('192.0.2.7')).toBe('198.51.100.9');
    expect(await forwarded('203.0.113.7')).toBe('203.0.113.7');
    await behind.close();
  });

  test('has one id at the gateway and at the service', async () => {
    const answer = await gateway.inject('/book');
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{12}-/);
    expect(answer.json().headers['x-request-id']).toBe(answer.headers['x-request-id']);
    const named = await gateway.inject({ url: '/book', headers: { 'x-request-id': 'mine' } });
    expect(named.json().headers['x-request-id']).toBe('mine');
  });
});

describe('a request that no service accepts', () => {
  test.each([
    ['/no/such/path', 404, { error: 'not found' }],
    ['/events/7/nothing', 404, { type: 'not found error', error: 'not found' }],
    ['/gamma/book', 404, { type: 'not found error', error: 'not found' }],
    ['/data-api/nothing', 404, { error: 'not_found: not found' }],
    ['/events/%FF', 400, { type: 'bad request', error: 'the path cannot be decoded' }],
    ['/data-api/%', 400, { error: 'bad_request: the path cannot be decoded' }],
    ['/order/%c3', 400, { error: 'the path cannot be decoded' }],
  ])('%s is answered in the words of its family, without it', async (url, status, body) => {
    const answer = await gateway.inject(url);
    expect([answer.statusCode, answer.json()]).toEqual([status, body]);
  });

  test('because of its content type is a 415', async () => {
    const headers = { 'content-type': 'foo' };
    const answer = await gateway.inject({
      method: 'POST',
      url: '/comments',
      headers,
      payload: '{}',
    });
    const error = 'the content type of a body is application/json';
    expect([answer.statusCode, answer.json()]).toEqual([415, { type: 'bad request', error }]);
  });

  test.each([
    [
      'an unknown method',
      'JUMP /gamma/events HTTP/1.1\r\n\r\n',
      400,
      '{"type":"bad request","error":"bad request"}',
    ],
    [
      'a target beyond ASCII',
      'GET /data-api/\u00ff HTTP/1.1\r\n\r\n',
      400,
      '{"error":"bad_request: bad request"}',
    ],
    [
      'too long a target',
      `GET /events?slug=${'x'.repeat(49 * 1024)} HTTP/1.1\r\n\r\n`,
      431,
      '"error":"the headers are too large"}',
    ],
  ])('because of %s gets the response of a service', async (_, bytes, status, body) => {
    const talk = await openTalk(gateway);
    talk.send(Buffer.from(bytes, 'latin1'));
    const answer = await talk.end();
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer.endsWith(body)).toBe(true);
  });

  test('can be read by any page where it needs no credentials, and signed ones have no preflight', async () => {
    const nothing = await gateway.inject('/api/v1/nothing');
    expect(nothing.headers['access-control-allow-origin']).toBe('*');
    const asked = await gateway.inject({ method: 'OPTIONS', url: '/api/v1/markets' });
    expect([asked.statusCode, asked.headers['access-control-allow-origin']]).toEqual([204, '*']);
    const signed = await gateway.inject({ method: 'OPTIONS', url: '/orders' });
    expect([signed.statusCode, signed.headers['access-control-allow-origin']]).toEqual([
      204,
      undefined,
    ]);
    const book = await gateway.inject({ method: 'OPTIONS', url: '/books/' });
    expect(book.headers).toMatchObject({
      allow: 'POST, OPTIONS',
      'access-control-allow-origin': '*',
    });
  });
});

describe('a body', () => {
  let service: HttpApp;
  let front: HttpApp;

  beforeAll(async () => {
    const { tooLarge } = listenerBounds['query-api'];
    service = openHttp({ log: silentLog, bodyLimitBytes: bodyMaxBytes['query-api'] });
    service.post('/prices', { config: { tooLarge } }, (_request, reply) =>
      reply.send({ read: true }),
    );
    await service.listen({ host: '127.0.0.1', port: 0 });
    const url = urlOf(service.server);
    front = openGateway({ ingress: url, 'query-api': url, mcp: url });
    await front.listen({ host: '127.0.0.1', port: 0 });
  });

  afterAll(async () => {
    await front.close();
    await service.close();
  });

  const head = 'POST /prices HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
  const whole = (bytes: number) =>
    `${head}Content-Length: ${bytes}\r\n\r\n"${'x'.repeat(bytes - 2)}"`;
  const inChunks = (bytes: number) => {
    const chunk = `2710\r\n${'x'.repeat(10_000)}\r\n`;
    return `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(bytes / 10_000)}0\r\n\r\n`;
  };

  test('beyond the limit gets its 400 each time, and the connection goes on', async () => {
    const talks = await Promise.all(Array.from({ length: 4 }, () => openTalk(front)));
    await Promise.all(
      talks.map(async (talk) => {
        for (let round = 0; round < 10; round += 1) {
          for (const bytes of [200_000, 1_000_000]) {
            for (const message of [whole(bytes), inChunks(bytes)]) {
              talk.send(message);
              expect(await talk.hears('{"error":"Payload exceeds the limit"}')).toMatch(
                /^HTTP\/1\.1 400 /,
              );
            }
          }
          talk.send(whole(100_000));
          await talk.hears('{"read":true}');
        }
      }),
    );
  });

  test('that is refused is answered before it was sent', async () => {
    const talk = await openTalk(front);
    talk.send(`${head}Content-Length: 1000000\r\n\r\n"half`);
    await talk.hears('{"error":"Payload exceeds the limit"}');
    talk.send(`${'x'.repeat(1_000_000 - 5)}${whole(10)}`);
    await talk.hears('{"read":true}');
  });

  test('beyond the limits of writes is a 413, like that of their service', async () => {
    const payload = Buffer.alloc(256 * 1024 + 1, ' ');
    const headers = { 'content-type': 'application/json' };
    for (const [url, body] of [
      ['/orders', { error: 'the body is too large' }],
      ['/gamma/comments', { type: 'bad request', error: 'the body is too large' }],
    ] as const) {
      const answer = await front.inject({ method: 'POST', url, headers, payload });
      expect([answer.statusCode, answer.json()]).toEqual([413, body]);
    }
  });

  test('for a service that is away is read, so that the connection goes on', async () => {
    const alone = openGateway({ ingress: closedPort, 'query-api': closedPort, mcp: closedPort });
    await alone.listen({ host: '127.0.0.1', port: 0 });
    const talk = await openTalk(alone);
    for (let sent = 0; sent < 3; sent += 1) {
      talk.send(whole(120_000));
      expect(await talk.hears('"retry_after_seconds":1}')).toMatch(/^HTTP\/1\.1 503 /);
    }
    await alone.close();
  });
});

describe('a service', () => {
  test('that answers 503 is passed on at once, and asked once', async () => {
    let asked = 0;
    const busy = await serve((_request, response) => {
      asked += 1;
      response.writeHead(503, { 'retry-after': '7' }).end('{"error":"away"}');
    });
    const front = openGateway({ ingress: urlOf(busy), 'query-api': urlOf(busy), mcp: urlOf(busy) });
    const answer = await front.inject({ method: 'GET', url: '/book?token_id=1' });
    expect([answer.statusCode, answer.headers['retry-after'], answer.json(), asked]).toEqual([
      503,
      '7',
      { error: 'away' },
      1,
    ]);
    await front.close();
    busy.close();
  });

  test('whose response is encoded is passed on byte for byte', async () => {
    const packed = gzipSync('{"bids":[]}');
    const encoding = { 'content-encoding': 'gzip', vary: 'accept-encoding' };
    const packing = await serve((request, response) => {
      const { 'accept-encoding': accepted } = request.headers;
      response.writeHead(accepted === 'gzip' ? 200 : 406, encoding).end(packed);
    });
    const url = urlOf(packing);
    const front = openGateway({ ingress: url, 'query-api': url, mcp: url });
    const headers = { 'accept-encoding': 'gzip' };
    const answer = await front.inject({ url: '/book?token_id=1', headers });
    expect(answer).toMatchObject({ statusCode: 200, headers: encoding, rawPayload: packed });
    await front.close();
    packing.close();
  });

  test('that is away is a 503 with the time to retry', async () => {
    const alone = openGateway({ ingress: closedPort, 'query-api': closedPort, mcp: closedPort });
    const error = 'the service behind this route is not reachable';
    for (const [url, body] of [
      ['/book?token_id=1', { error, retry_after_seconds: 1 }],
      ['/events', { type: 'service unavailable', error }],
      ['/holders', { error: `unavailable: ${error}` }],
      ['/clob/status', { error, retry_after_seconds: 1 }],
    ] as const) {
      const answer = await alone.inject({ method: 'GET', url });
      expect([answer.statusCode, answer.headers['retry-after'], answer.json()]).toEqual([
        ...[503, '1', body],
      ]);
    }
    await alone.close();
  });
});

test('serves the pictures of the demo, and 404 for other names', async () => {
  const picture = await gateway.inject({ url: '/demo/pictures/economics.svg' });
  expect([picture.statusCode, picture.headers['content-type']]).toEqual([200, 'image/svg+xml']);
  expect(picture.body).toContain('<svg ');
  const other = await gateway.inject({ url: '/demo/pictures/nothing.svg' });
  expect(other.statusCode).toBe(404);
});

test('events of /mcp arrive one by one, and the service sees that the caller has gone', async () => {
  const { port } = gateway.server.address() as AddressInfo;
  const abort = new AbortController();
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
    signal: abort.signal,
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const reader = response.body?.getReader();
  const text = async () => Buffer.from((await reader?.read())?.value ?? []).toString('utf8');
  expect(await text()).toBe('data: first\n\n');
  events.next();
  expect(await text()).toBe('data: second\n\n');
  abort.abort();
  for (let tries = 0; tries < 100 && events.gone === 0; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(events.gone).toBe(1);
});
