import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import type { HttpApp } from '../../src/http/app.io.ts';
import { openHttp } from '../../src/http/open.io.ts';
import { silentLog } from '../../src/log/index.ts';
import { createDeferred, type Deferred, until } from '../kafka/deferred.ts';

/** More than the buffers of a connection hold. */
const long = Buffer.alloc(16 << 20, 'x');
/** A slow client begins to read after this time, milliseconds. */
const slowMs = 200;
let app: HttpApp;
let agent: Agent;
let answering: Deferred;

beforeEach(async () => {
  // A proxy may keep its connections longer than this test runs.
  app = openHttp({ log: silentLog, bodyLimitBytes: 1_000, trustedProxies: ['127.0.0.1'] });
  answering = createDeferred();
  const { promise } = answering;
  app.get('/later', async () => {
    await promise;
    return { late: true };
  });
  app.get('/begun', async (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { 'content-length': String(long.length) });
    reply.raw.write(long.subarray(0, 1));
    await promise;
    reply.raw.end(long.subarray(1));
  });
  app.get('/written', (_request, reply) => {
    void reply.header('content-type', 'application/json').send(long);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  agent = new Agent({ keepAlive: true });
});

afterEach(() => agent.destroy());

/** Sends a request; resolves when it has arrived. */
async function begin(path: string): Promise<{ readonly response: Promise<IncomingMessage> }> {
  const { port } = app.server.address() as AddressInfo;
  const arrived = once(app.server, 'request');
  const answered = once(get({ port, host: '127.0.0.1', path, agent }), 'response');
  await arrived;
  return { response: answered.then(([response]) => response as IncomingMessage) };
}

async function takenSlowly(response: Promise<IncomingMessage>): Promise<Buffer> {
  await wait(slowMs);
  return await buffer(await response);
}

/** Begins to close the app; resolves to its end once no connection is taken any more. */
async function beginClosing(): Promise<{ readonly closed: Promise<void> }> {
  const closed = app.close();
  await until(() => !app.server.listening, 'it takes no more connections');
  return { closed };
}

test('a request that is answered while the listener closes gets its response, which ends its connection', async () => {
  const { response } = await begin('/later');
  const { closed } = await beginClosing();
  answering.resolve();
  const { headers } = await response;
  expect(headers.connection).toBe('close');
  expect((await buffer(await response)).toString()).toBe('{"late":true}');
  await closed;
});

test('a response whose head was sent before the listener closes is sent in full to a client that is slow', async () => {
  const { response } = await begin('/begun');
  const { headers } = await response;
  expect(headers.connection).toBe('keep-alive');
  const { closed } = await beginClosing();
  answering.resolve();
  expect((await takenSlowly(response)).equals(long)).toBe(true);
  await closed;
});

test('a response that was written before the listener closes is sent in full to a client that is slow', async () => {
  const { response } = await begin('/written');
  await response;
  const closed = app.close();
  expect((await takenSlowly(response)).equals(long)).toBe(true);
  await closed;
});

test('a client that takes nothing of its response holds the end of the listener for a bounded time', async () => {
  const { response } = await begin('/written');
  await response;
  await app.close();
});
