import { once } from 'node:events';
import { type AddressInfo, connect, Socket } from 'node:net';
import type { HttpApp } from '../../src/http/app.io.ts';
import type { ShedReason } from '../../src/http/connection-shares.io.ts';
import { type ConnectionLimits, defaultHttpLimits } from '../../src/http/listener-bounds.ts';
import { openHttp } from '../../src/http/open.io.ts';
import { silentLog } from '../../src/log/index.ts';
import { openMetrics } from '../../src/metrics/index.ts';
import { createDeferred, until } from '../kafka/deferred.ts';

const large = 'x'.repeat(40 * 1024 * 1024);
/** The slow client waits after each part: longer in all than a stall may last. */
const partBytes = 4 * 1024 * 1024;
const apps: HttpApp[] = [];
const sockets: Socket[] = [];
const releases: (() => void)[] = [];

afterEach(async () => {
  for (const release of releases.splice(0)) release();
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const app of apps.splice(0)) await app.close();
});

interface Listener {
  readonly app: HttpApp;
  /** Requests of `/held` that wait for their response. */
  held(): number;
  /** Answers them. */
  release(): void;
  shed(reason: ShedReason): Promise<number>;
}

async function listen(
  limits: Partial<ConnectionLimits>,
  trustedProxies: readonly string[] = [],
): Promise<Listener> {
  const metrics = openMetrics('test');
  const connections = { ...defaultHttpLimits.connections, renewMs: 0, ...limits };
  const app = openHttp({
    log: silentLog,
    bodyLimitBytes: 1_024,
    metrics,
    trustedProxies,
    limits: { connections },
  });
  apps.push(app);
  app.get('/short', async () => 'short');
  app.get('/large', async () => large);
  let held = 0;
  const { promise, resolve: release } = createDeferred();
  releases.push(release);
  app.get('/held', async () => {
    held += 1;
    await promise;
    return 'held';
  });
  app.get('/slow', async () => {
    await new Promise((resolve) => setTimeout(resolve, 5 * connections.stallMs));
    return 'slow';
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const shed = async (reason: ShedReason) => {
    const line = new RegExp(`^pm_http_shed_total{.*reason="${reason}".*} (\\d+)`, 'm');
    return Number(line.exec(await metrics.text())?.[1] ?? 0);
  };
  return { app, held: () => held, release, shed };
}

/** A connection from an address of this machine; what it hears is read unless it is paused. */
async function open({ app }: Listener, from: string): Promise<Socket> {
  const { port } = app.server.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', port, localAddress: from });
  socket.on('error', () => {});
  socket.setEncoding('latin1');
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

/** Whether the connection answers a request; false when it was ended. */
async function answers(socket: Socket, path = '/short'): Promise<boolean> {
  socket.write(get(path));
  const [heard] = await Promise.race([
    once(socket, 'data') as Promise<[string]>,
    once(socket, 'close').then(() => [null] as const),
  ]).catch(() => [null] as const);
  return heard?.startsWith('HTTP/1.1 200') ?? false;
}

test('an address has so many connections, further ones are closed, and others are served', async () => {
  const listener = await listen({ perAddress: 3 });
  const mine = await Promise.all([1, 2, 3].map(() => open(listener, '127.0.0.2')));
  for (const socket of mine) socket.write(get('/held'));
  await until(() => listener.held() === 3, 'they wait for their responses');
  expect(await answers(await open(listener, '127.0.0.2'))).toBe(false);
  expect(await answers(await open(listener, '127.0.0.3'))).toBe(true);
  expect(await listener.shed('address')).toBe(1);
  // One that ends makes room for another one.
  mine[0]?.destroy();
  await until(async () => await answers(await open(listener, '127.0.0.2')), 'there is room', 8_000);
});

test('an address that opens connections faster than they are renewed is closed, others are served', async () => {
  const listener = await listen({ perAddress: 3, renewMs: 600_000 });
  for (let each = 0; each < 6; each += 1)
    expect(await answers(await open(listener, '127.0.0.2'))).toBe(true);
  expect(await answers(await open(listener, '127.0.0.2'))).toBe(false);
  expect(await answers(await open(listener, '127.0.0.3'))).toBe(true);
  expect(await listener.shed('rate')).toBe(1);
});

test.each([
  ['has had its response', get('/short'), 1],
  ['has sent nothing', '', 0],
  ['has sent a part of a head', 'GET /short HTTP/1.1\r\nHost:', 0],
])(
  'a connection that %s makes room for one more of its address, one that waits for its response does not',
  async (_how, sent, heard) => {
    const listener = await listen({ perAddress: 2 });
    const answered = await open(listener, '127.0.0.2');
    answered.write(get('/held'));
    await until(() => listener.held() === 1, 'it waits for its response');
    const held = await open(listener, '127.0.0.2');
    held.write(sent);
    if (heard > 0) await once(held, 'data');
    for (let each = 0; each < 5; each += 1)
      expect(await answers(await open(listener, '127.0.0.2'))).toBe(true);
    if (!held.closed) await once(held, 'close');
    expect(answered.closed).toBe(false);
    const whole = once(answered, 'data') as Promise<[string]>;
    listener.release();
    const [response] = await whole;
    expect(response).toMatch(/^HTTP\/1\.1 200/);
    expect(await listener.shed('idle')).toBe(5);
    expect(await listener.shed('address')).toBe(0);
  },
);

test('connections of trusted proxies are those of many clients', async () => {
  const listener = await listen({ perAddress: 1 }, ['127.0.0.2']);
  for (let each = 0; each < 5; each += 1)
    expect(await answers(await open(listener, '127.0.0.2'))).toBe(true);
  expect(await listener.shed('address')).toBe(0);
});

test('while most connections are open an idle one of the address with the most makes room', async () => {
  const listener = await listen({ inAll: 10 });
  const greedy = await Promise.all(Array.from({ length: 8 }, () => open(listener, '127.0.0.2')));
  for (const socket of greedy) expect(await answers(socket)).toBe(true);
  const others: Socket[] = [];
  for (let each = 0; each < 6; each += 1) {
    const other = await open(listener, `127.0.1.${each + 1}`);
    others.push(other);
    expect(await answers(other)).toBe(true);
  }
  expect(others.every((socket) => !socket.closed)).toBe(true);
  await until(() => greedy.filter((socket) => socket.closed).length >= 6, 'they made room', 8_000);
  expect(await listener.shed('idle')).toBe(6);
});

test('when all connections are open and none is idle further ones are closed', async () => {
  const listener = await listen({ inAll: 4 });
  const busy = await Promise.all(Array.from({ length: 4 }, () => open(listener, '127.0.0.2')));
  for (const socket of busy) socket.write(get('/held'));
  await until(() => listener.held() === 4, 'they wait for their responses');
  expect(await answers(await open(listener, '127.0.0.3'))).toBe(false);
  expect(await listener.shed('all')).toBe(1);
});

test('a client that takes nothing of its response is cut off, one that takes it slowly is not', async () => {
  const listener = await listen({ stallMs: 2_000 });
  const silent = await open(listener, '127.0.0.2');
  silent.pause();
  silent.write(get('/large'));
  const slow = await open(listener, '127.0.0.3');
  slow.write(get('/large'));
  let bytes = 0;
  slow.on('data', (text: string) => {
    const parts = Math.floor(bytes / partBytes);
    bytes += text.length;
    if (Math.floor(bytes / partBytes) === parts) return;
    slow.pause();
    setTimeout(() => slow.resume(), 300);
  });
  await until(async () => (await listener.shed('unread')) === 1, 'it is cut off', 30_000);
  const whole = () => bytes >= large.length;
  await until(whole, 'the slow one has its response', 60_000);
  expect(await listener.shed('unread')).toBe(1);
}, 100_000);

test('a response that takes long is waited for', async () => {
  const listener = await listen({ stallMs: 100 });
  expect(await answers(await open(listener, '127.0.0.2'), '/slow')).toBe(true);
});

test('an upgraded connection counts no more', async () => {
  const listener = await listen({ perAddress: 1 });
  listener.app.server.on('upgrade', (_request, socket) => {
    if (socket instanceof Socket) listener.app.upgraded(socket);
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    socket.on('end', () => socket.destroy());
  });
  const upgraded = await open(listener, '127.0.0.2');
  upgraded.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  await once(upgraded, 'data');
  expect(await answers(await open(listener, '127.0.0.2'))).toBe(true);
  upgraded.end();
});
