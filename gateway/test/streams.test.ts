import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { HttpApp } from '@pm/kit/http';
import { connectTo, type RawTalk } from '../../kit/test/http/raw-talk.ts';
import { until } from '../../kit/test/kafka/deferred.ts';
import { openGateway } from '../src/gateway.ts';

const closedPort = 'http://127.0.0.1:1';
const upgradeOf = (path: string, lines = '') =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${lines}\r\n`;

let service: Server;
let gateway: HttpApp;
let talk: RawTalk;
const afterRefusal: string[] = [];
/** More than the buffers of the machine take. */
const much = Buffer.alloc(64 << 20, '0123456789abcdef_');
const upgraded: { request: IncomingMessage; socket: Duplex }[] = [];

beforeAll(async () => {
  service = createServer();
  service.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    upgraded.push({ request, socket });
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    if (request.url?.endsWith('?refused') === true) {
      socket.end(
        'HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno',
      );
      return;
    }
    if (request.url?.endsWith('?held') === true) {
      socket.write('HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno');
      socket.on('data', (bytes: Buffer) => afterRefusal.push(bytes.toString('utf8')));
      return;
    }
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nfirst',
    );
    if (request.url?.endsWith('?much') === true) socket.end(much);
    if (request.url?.endsWith('?ended') === true) socket.end();
    socket.on('data', (bytes: Buffer) => socket.write(`echo ${bytes.toString('utf8')}`));
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  const streams = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  gateway = openGateway({ ingress: closedPort, 'query-api': closedPort, streams });
  await gateway.listen({ host: '127.0.0.1', port: 0 });
});

beforeEach(async () => {
  talk = await connectTo(gateway);
});
afterEach(() => talk.close());
afterAll(async () => {
  await gateway.close();
  for (const { socket } of upgraded) socket.destroy();
  service.close();
});

test.each(['/v1/stream', '/v1/stream?a=b', '/ws/market', '/clob/ws/user'])(
  'an upgrade of %s reaches the stream service, then bytes go both ways',
  async (path) => {
    const names = 'X-Forwarded-For: 192.0.2.9\r\nSec-WebSocket-Key: abc\r\nX-Name: Zürich\r\n';
    talk.send(upgradeOf(path, names));
    expect(await talk.hears('first')).toContain('101 Switching Protocols');
    talk.send('hello');
    expect(await talk.hears('echo hello')).toBe('echo hello');
    const request = upgraded.at(-1)?.request;
    expect(request?.url).toBe(path);
    expect(request?.headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'sec-websocket-key': 'abc',
      'x-name': Buffer.from('Zürich').toString('latin1'),
    });
  },
);

test('the end of one side is the end of the other', async () => {
  talk.send(upgradeOf('/v1/stream'));
  await talk.hears('first');
  const socket = upgraded.at(-1)?.socket as Duplex;
  talk.close();
  await once(socket, 'close');
  expect(socket.destroyed).toBe(true);
});

test('a reader that stops holds up the service, and gets every byte once it goes on', async () => {
  const client = connect((gateway.server.address() as AddressInfo).port, '127.0.0.1');
  client.write(upgradeOf('/v1/stream?much'));
  await once(client, 'readable');
  await wait(300);
  expect(upgraded.at(-1)?.socket.writableLength).toBeGreaterThan(0);
  const got: Buffer[] = [];
  for await (const bytes of client) got.push(bytes as Buffer);
  const all = Buffer.concat(got);
  const head = all.indexOf('first') + 'first'.length;
  expect(all.subarray(head).equals(much)).toBe(true);
});

test('a refusal of the service is passed on', async () => {
  talk.send(upgradeOf('/v1/stream?refused'));
  expect(await talk.hears('\r\n\r\nno')).toContain('429 Too Many Requests');
});

test('no client is held after the service has ended, also one that does not close', async () => {
  const services = { ingress: closedPort, 'query-api': closedPort };
  const streams = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const own = openGateway({ ...services, streams });
  await own.listen({ host: '127.0.0.1', port: 0 });
  const connections = () =>
    new Promise<number>((resolve) => own.server.getConnections((_, count) => resolve(count)));
  const { port } = own.server.address() as AddressInfo;
  const clients = ['/v1/stream?refused', '/v1/stream?ended'].map((path) => {
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    client.resume().write(upgradeOf(path));
    return client;
  });
  await Promise.all(clients.map((client) => once(client, 'end')));
  await until(async () => (await connections()) === 0, 'the clients are gone');
  for (const client of clients) client.destroy();
  await own.close();
});

test('a stream beyond the share of its address is refused, and others get theirs', async () => {
  // Twice as many may be opened at once, so no look for room is closed for its rate.
  const share = 64;
  const services = { ingress: closedPort, 'query-api': closedPort };
  const streams = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const shared = openGateway({ ...services, streams }, { connectionsPerAddress: share });
  await shared.listen({ host: '127.0.0.1', port: 0 });
  const open = async (from?: string) => {
    const one = await connectTo(shared, from);
    one.send(upgradeOf('/v1/stream'));
    return one;
  };
  const mine = await Promise.all(Array.from({ length: share }, () => open()));
  for (const one of mine) await one.hears('first');
  const further = await open();
  expect(await further.hears('too many connections')).toContain('503');
  const others = await open('127.0.0.2');
  await others.hears('first');
  // One that ends makes room.
  mine[0]?.close();
  const hasRoom = async () => {
    const again = await open();
    mine.push(again);
    return (await again.hears('\r\n\r\n')).includes('101 Switching Protocols');
  };
  await until(hasRoom, 'there is room');
  for (const one of [...mine, further, others]) one.close();
  await shared.close();
});

test('what a client sends after a refused upgrade is no request to the service', async () => {
  const second = 'GET /v1/stream HTTP/1.1\r\nX-Forwarded-For: 192.0.2.9\r\n\r\n';
  talk.send(`${upgradeOf('/v1/stream?held')}${second}`);
  expect(await talk.hears('\r\n\r\nno')).toContain('426 Upgrade Required');
  talk.send(second);
  await wait(100);
  expect(afterRefusal).toEqual([]);
});

test.each(['/book', '/v1/streams', 'http://192.0.2.1/v1/stream', '//192.0.2.1/v1/stream', '/'])(
  'an upgrade of %s goes nowhere',
  async (path) => {
    const before = upgraded.length;
    talk.send(upgradeOf(path));
    expect(await talk.hears('not found')).toContain('404');
    expect(upgraded).toHaveLength(before);
  },
);

test('behind a trusted proxy the stream service gets the address of the client', async () => {
  const { port } = service.address() as AddressInfo;
  const services = { ingress: closedPort, 'query-api': closedPort };
  const streams = `http://127.0.0.1:${port}`;
  const behind = openGateway({ ...services, streams }, { trustedProxies: ['127.0.0.0/8'] });
  await behind.listen({ host: '127.0.0.1', port: 0 });
  const other = await connectTo(behind);
  other.send(upgradeOf('/ws/market', 'X-Forwarded-For: 1.1.1.1, 192.0.2.9\r\n'));
  await other.hears('first');
  expect(upgraded.at(-1)?.request.headers['x-forwarded-for']).toBe('192.0.2.9');
  other.close();
  await behind.close();
});

test('a service that is away is 503', async () => {
  const alone = openGateway({ ingress: closedPort, 'query-api': closedPort, streams: closedPort });
  await alone.listen({ host: '127.0.0.1', port: 0 });
  const other = await connectTo(alone);
  other.send(upgradeOf('/v1/stream'));
  expect(await other.hears('not reachable')).toContain('503');
  other.close();
  await alone.close();
});
