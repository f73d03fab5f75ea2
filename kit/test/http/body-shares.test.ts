import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { HttpApp } from '../../src/http/app.io.ts';
import { openHttp } from '../../src/http/open.io.ts';
import { silentLog } from '../../src/log/index.ts';
import { until } from '../kafka/deferred.ts';

const limitBytes = 1_000;
let app: HttpApp;
const sockets: Socket[] = [];

beforeAll(async () => {
  app = openHttp({
    log: silentLog,
    bodyLimitBytes: limitBytes,
    trustedProxies: ['127.0.0.1'],
    limits: { bodies: { ofEach: 3 * limitBytes, inAll: 5 * limitBytes } },
  });
  app.post('/words', async ({ rawBody }) => ({ bytes: rawBody.length }));
  app.get('/words', async () => ({}));
  await app.listen({ host: '127.0.0.1', port: 0 });
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

afterAll(async () => await app.close());

const whole = JSON.stringify('x'.repeat(limitBytes - 2));

async function send(client: string, method: 'POST' | 'GET' = 'POST') {
  const { port } = app.server.address() as AddressInfo;
  const headers = { 'x-forwarded-for': client, 'content-type': 'application/json' };
  const body = method === 'GET' ? {} : { body: whole };
  return await fetch(`http://127.0.0.1:${port}/words`, { method, headers, ...body });
}

/** A body that does not end; resolves with its connection when the listener has seen its headers. */
async function begin(client: string, length: string): Promise<Socket> {
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  sockets.push(socket);
  await once(socket, 'connect');
  const seen = once(app.server, 'request');
  socket.write(
    `POST /words HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}\r\n${length}\r\n\r\n`,
  );
  await seen;
  return socket;
}

const announced = `Content-Type: application/json\r\nContent-Length: ${limitBytes}`;
const chunked = 'Content-Type: application/json\r\nTransfer-Encoding: chunked';

test.each([
  ['whose length is announced', announced],
  ['of unknown length', chunked],
])('bodies %s count as large as they may be, before they have come', async (_what, length) => {
  const held = [];
  for (let each = 0; each < 3; each += 1) held.push(await begin('198.51.100.1', length));
  const refused = await send('198.51.100.1');
  expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'overloaded' }]);
  expect(refused.headers.get('retry-after')).toBe('1');
  // Reads have no body, and other addresses a share of their own.
  expect((await send('198.51.100.1', 'GET')).status).toBe(200);
  expect((await send('198.51.100.2')).status).toBe(200);
  for (const socket of held) socket.destroy();
  const isTaken = async () => (await send('198.51.100.1')).status === 200;
  await until(isTaken, 'they count no more', 8_000);
});

test('all bodies together are bounded', async () => {
  for (let each = 0; each < 5; each += 1) await begin(`203.0.113.${each}`, announced);
  expect((await send('198.51.100.2')).status).toBe(503);
});

test('a body that was answered counts no more', async () => {
  const isTaken = async () => (await send('198.51.100.3')).status === 200;
  await until(isTaken, 'those of the test before have gone', 8_000);
  for (let each = 0; each < 20; each += 1) expect((await send('198.51.100.3')).status).toBe(200);
});
