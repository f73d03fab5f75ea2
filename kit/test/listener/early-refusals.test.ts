import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Duplex } from 'node:stream';
import { openHttp } from '../../src/http/open.io.ts';
import { guardServer } from '../../src/listener/before-routing.io.ts';
import {
  endedForMs,
  endSocket,
  refuseUpgrade,
  takeUpgrades,
} from '../../src/listener/upgrades.io.ts';
import { silentLog } from '../../src/log/index.ts';
import { connectTo } from '../http/raw-talk.ts';
import { until } from '../kafka/deferred.ts';

/** Methods of the requests that reached the routes of a listener, and `upgrade` for each upgrade. */
const routed: string[] = [];
const closings: (() => Promise<unknown>)[] = [];

async function openFramework(): Promise<Server> {
  const app = openHttp({ log: silentLog, bodyLimitBytes: 1024 });
  app.all('/any', async ({ method }) => {
    routed.push(method);
    return {};
  });
  takeUpgrades(app.server, (_request, socket) => {
    routed.push('upgrade');
    refuseUpgrade(socket, { status: 404, error: 'not found' });
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  closings.push(() => app.close());
  return app.server;
}

async function openBare(): Promise<Server> {
  const server = createServer(({ method = '' }, response) => {
    routed.push(method);
    response.end('{}');
  });
  guardServer(server);
  takeUpgrades(server, (_request, socket) => {
    routed.push('upgrade');
    refuseUpgrade(socket, { status: 404, error: 'not found' });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closings.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  return server;
}

const connectionsOf = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));

beforeEach(() => void routed.splice(0));
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

const chunked = 'Transfer-Encoding: chunked\r\n';
const keptOpen = 'Connection: keep-alive\r\n';
const nothing = '0\r\n\r\n';
const next = 'GET /any HTTP/1.1\r\nHost: x\r\n\r\n';

describe.each([
  ['an app', openFramework],
  ['a server without a framework', openBare],
])('%s', (_name, open) => {
  test.each([
    ['', 'POST /any HTTP/1.0\r\n'],
    ['of an unknown path', 'POST /nowhere HTTP/1.0\r\n'],
    ['of a read', 'GET /any HTTP/1.0\r\n'],
    ['with a length too', 'POST /any HTTP/1.0\r\nContent-Length: 5\r\n'],
    ['that waits', 'POST /any HTTP/1.0\r\nExpect: 100-continue\r\n'],
    ['that expects what is not known', 'POST /any HTTP/1.0\r\nExpect: tea\r\n'],
  ])('refuses Transfer-Encoding in HTTP/1.0 %s, and nothing after it runs', async (_how, line) => {
    const talk = await connectTo({ server: await open() });
    talk.send(`${line}${chunked}${keptOpen}\r\n${nothing}${next}`);
    const answer = await talk.end();
    expect(answer.split('HTTP/1.1 ').length - 1).toBe(1);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toMatch(/^connection: close\r$/im);
    expect(routed).toEqual([]);
  });

  test('refuses it in a request to upgrade', async () => {
    const talk = await connectTo({ server: await open() });
    talk.send(
      `GET /any HTTP/1.0\r\n${chunked}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n${nothing}${next}`,
    );
    expect(await talk.end()).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(routed).toEqual([]);
  });

  test('holds no refused connection of a client that does not close', async () => {
    const server = await open();
    const { port } = server.address() as AddressInfo;
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    client.write('GET /any HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    const [answer] = (await once(client, 'data')) as [Buffer];
    expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 404/);
    await until(async () => (await connectionsOf(server)) === 0, 'the connection is closed');
    client.destroy();
  });

  test('answers what came before it on its connection first', async () => {
    const talk = await connectTo({ server: await open() });
    talk.send(`${next}POST /any HTTP/1.0\r\n${chunked}${keptOpen}\r\n${nothing}${next}`);
    const statuses = [...(await talk.end()).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, one]) => one);
    expect([statuses, routed]).toEqual([['200', '400'], ['GET']]);
  });

  test.each([
    ['HTTP/1.0 with a length', 'POST /any HTTP/1.0\r\nContent-Length: 0\r\n'],
    ['HTTP/1.1 in chunks', `POST /any HTTP/1.1\r\nHost: x\r\n${chunked}Connection: close\r\n`],
  ])('takes %s', async (_how, head) => {
    const talk = await connectTo({ server: await open() });
    talk.send(`${head}\r\n${head.includes(chunked) ? nothing : ''}`);
    expect(await talk.end()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(routed).toEqual(['POST']);
  });
});

describe('an upgraded socket', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick'] }));
  afterEach(() => void jest.useRealTimers());

  const refusal = { status: 400, error: 'x' } as const;
  const takesAll = () => new Duplex({ read: () => {}, write: (_bytes, _encoding, done) => done() });
  const takesNothing = () => new Duplex({ read: () => {}, write: () => {} });

  test('that is refused is destroyed once all is written', async () => {
    const socket = takesAll();
    refuseUpgrade(socket, refusal);
    await once(socket, 'close');
  });

  test('that is ended is destroyed when its client has ended too', async () => {
    const socket = takesAll();
    endSocket(socket);
    await once(socket, 'finish');
    expect(socket.destroyed).toBe(false);
    socket.push(null);
    await once(socket, 'close');
  });

  test.each([
    ['is refused', takesNothing, (socket: Duplex) => refuseUpgrade(socket, refusal)],
    ['is ended', takesAll, (socket: Duplex) => endSocket(socket)],
  ])('that %s is destroyed in time whatever its client does', (_how, open, end) => {
    const socket = open();
    end(socket);
    jest.advanceTimersByTime(endedForMs - 1);
    expect(socket.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    expect(socket.destroyed).toBe(true);
  });
});
