import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type HttpApp, waitedHeader } from '@pm/kit/http';
import { openGateway } from '../src/gateway.ts';

/** A service that keeps requests until it is told to answer. */
const kept: {
  readonly path: string;
  readonly client: string;
  readonly waitedMs: number;
  response: ServerResponse;
}[] = [];
/** Longest wait for requests to come, milliseconds: many times what it takes. */
const keptWithinMs = 60_000;
let service: Server;
let gateway: HttpApp;

beforeAll(async () => {
  service = createServer((request, response) => {
    request.resume();
    const client = String(request.headers['x-forwarded-for']);
    const waitedMs = Number(request.headers[waitedHeader]);
    kept.push({ path: `${request.method} ${request.url}`, client, waitedMs, response });
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const options = { trustedProxies: ['127.0.0.1'] };
  gateway = openGateway({ ingress: url, 'query-api': url }, options);
  await gateway.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  gateway.server.closeAllConnections();
  await gateway.close();
  service.closeAllConnections();
  service.close();
});

function send(client: string, method: string, path: string): Promise<Response> {
  const { port } = gateway.server.address() as AddressInfo;
  const headers = { 'x-forwarded-for': client };
  return fetch(`http://127.0.0.1:${port}${path}`, { method, headers });
}

async function untilKept(count: number): Promise<void> {
  const endMs = performance.now() + keptWithinMs;
  while (kept.length < count) {
    if (performance.now() > endMs) throw new Error(`${kept.length} of ${count} requests came`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Sends again what was refused because it waited too long, as on a slow machine. */
async function sendUntilTaken(client: string, method: string, path: string): Promise<Response> {
  for (;;) {
    const response = await send(client, method, path);
    if (response.status !== 503) return response;
  }
}

function answerAll(): void {
  for (const { response } of kept.splice(0)) response.end('{}');
}

test('an address with many requests has so many at a service, and others do not wait for it', async () => {
  const flood = Array.from({ length: 100 }, () => send('198.51.100.1', 'POST', '/order'));
  await untilKept(32);
  // Requests that came later and belong to another client, or take orders off the book.
  const others = [
    send('198.51.100.2', 'POST', '/order'),
    send('198.51.100.1', 'DELETE', '/order'),
    send('198.51.100.1', 'GET', '/book?token_id=1'),
  ];
  await untilKept(35);
  expect(kept.slice(0, 32).every(({ client }) => client === '198.51.100.1')).toBe(true);
  expect(
    kept
      .slice(32)
      .map(({ path, client }) => [path, client])
      .sort(),
  ).toEqual([
    ['DELETE /order', '198.51.100.1'],
    ['GET /book?token_id=1', '198.51.100.1'],
    ['POST /order', '198.51.100.2'],
  ]);
  const answering = setInterval(answerAll, 5);
  const answers = await Promise.all(others);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  // On a slow machine some of the flood have waited too long.
  for (const { status } of await Promise.all(flood)) expect([200, 503]).toContain(status);
  clearInterval(answering);
});

test('orders of all addresses with a process are bounded, and the wait counts towards the time to book', async () => {
  const [other, heldMs] = ['198.51.100.99', 300];
  const flood = Array.from({ length: 512 }, (_, at) =>
    send(`198.51.100.${at % 16}`, 'POST', '/order'),
  );
  await untilKept(512);
  const order = send(other, 'POST', '/order');
  await new Promise((resolve) => setTimeout(resolve, heldMs));
  kept[0]?.response.end('{}');
  await untilKept(513);
  expect(kept.at(-1)).toMatchObject({ path: 'POST /order', client: other });
  expect(kept.at(-1)?.waitedMs).toBeGreaterThan(heldMs / 2);
  // As many orders are there again: another one is refused, and cancels do not wait for any.
  const refused = send(other, 'POST', '/order');
  const cancel = send(other, 'DELETE', '/order');
  await untilKept(514);
  expect(kept.at(-1)).toMatchObject({ path: 'DELETE /order', client: other });
  const response = await refused;
  expect([response.status, await response.json()]).toMatchObject([503, { code: 'overloaded' }]);
  answerAll();
  await Promise.all([...flood, order, cancel]);
});

test('a response holds the place of its address until it is taken, or its client has gone', async () => {
  const [slow, other] = ['198.51.100.50', '198.51.100.51'];
  const large = Buffer.alloc(8 * 1024 * 1024, ' ');
  const { port } = gateway.server.address() as AddressInfo;
  const head = `GET /book?token_id=1 HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${slow}\r\n\r\n`;
  const clients = Array.from({ length: 64 }, () => connect(port, '127.0.0.1').pause());
  for (const client of clients) client.write(head);
  await untilKept(clients.length);
  for (const { response } of kept.splice(0)) response.end(large);
  const waiting = sendUntilTaken(slow, 'GET', '/book?token_id=2');
  const read = send(other, 'GET', '/book?token_id=3');
  await untilKept(1);
  expect(kept.map(({ client }) => client)).toEqual([other]);
  clients[0]?.resume();
  clients[1]?.destroy();
  await untilKept(2);
  expect(kept.at(-1)).toMatchObject({ client: slow, path: 'GET /book?token_id=2' });
  answerAll();
  expect([(await waiting).status, (await read).status]).toEqual([200, 200]);
  for (const client of clients) client.destroy();
});
