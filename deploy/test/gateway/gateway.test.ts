import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { routes, urlsOf } from '@pm/schemas';
import type { FastifyInstance } from 'fastify';
import { openGateway } from '../../src/gateway/gateway.ts';

/** A door that tells what reached it. */
function openDoor(name: string): Promise<Server> {
  const server = createServer((request, response) => {
    const hash = createHash('sha256');
    request.on('data', (part) => hash.update(part));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.setHeader('x-door', name);
      const { method, url, headers } = request;
      const header = headers['service_address'];
      const from = headers['x-forwarded-for'];
      response.end(JSON.stringify({ method, url, header, from, body: hash.digest('hex') }));
    });
  });
  return new Promise((done) => {
    server.listen(0, '127.0.0.1', () => done(server));
  });
}

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

let ingress: Server;
let queryApi: Server;
let gateway: FastifyInstance;

beforeAll(async () => {
  ingress = await openDoor('ingress');
  queryApi = await openDoor('query-api');
  gateway = await openGateway({ ingress: urlOf(ingress), 'query-api': urlOf(queryApi) });
  await gateway.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await gateway.close();
  ingress.close();
  queryApi.close();
});

test.each(routes)('$method $path goes to its door, wherever the table says', async (route) => {
  for (const { url: pattern } of urlsOf(route)) {
    const url = pattern.replaceAll(/:\w+/g, '42');
    const answer = await gateway.inject({ method: route.method, url: `${url}?a=1` });
    expect(answer.headers['x-door']).toBe(route.door);
    expect(answer.json()).toMatchObject({ method: route.method, url: `${url}?a=1` });
  }
});

test('a preflight of /api/v1 reaches a door that answers it, of other paths none', async () => {
  const asked = await gateway.inject({ method: 'OPTIONS', url: '/api/v1/markets' });
  expect([asked.statusCode, asked.json().method]).toEqual([200, 'OPTIONS']);
  expect((await gateway.inject({ method: 'OPTIONS', url: '/orders' })).statusCode).toBe(404);
});

test('the bytes of a body and headers with underscores arrive unchanged', async () => {
  const body = '{"a":1,  "b":"\u00e9"}';
  const answer = await gateway.inject({
    method: 'POST',
    url: '/order',
    headers: { 'content-type': 'application/json', SERVICE_ADDRESS: '0xabc' },
    payload: body,
  });
  const sent = createHash('sha256').update(body).digest('hex');
  expect(answer.json()).toMatchObject({ body: sent, header: '0xabc' });
});

test('a door is told who speaks to the gateway, whatever he says of himself', async () => {
  const answer = await gateway.inject({
    url: '/book',
    remoteAddress: '192.0.2.7',
    headers: { 'x-forwarded-for': '198.51.100.1, 127.0.0.1' },
  });
  expect(answer.json()).toMatchObject({ from: '192.0.2.7' });
});

test('an unknown path is a JSON 404', async () => {
  const answer = await gateway.inject({ method: 'GET', url: '/no/such/path' });
  expect(answer.statusCode).toBe(404);
  expect(answer.json()).toEqual({ error: 'not found' });
});

test('a 503 of a door is passed on at once, and asked for once', async () => {
  let asked = 0;
  const busy = createServer((_request, response) => {
    asked += 1;
    response.writeHead(503, { 'retry-after': '7' }).end('{"error":"away"}');
  });
  await new Promise<void>((done) => {
    busy.listen(0, '127.0.0.1', done);
  });
  const front = await openGateway({ ingress: urlOf(busy), 'query-api': urlOf(busy) });
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

test('a door that is away is a 503 that says when to come back', async () => {
  const alone = await openGateway({
    ingress: 'http://127.0.0.1:1',
    'query-api': 'http://127.0.0.1:1',
  });
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
