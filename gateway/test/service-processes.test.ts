import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpApp } from '@pm/kit/http';
import { headers as names } from '@pm/schemas/signing';
import { connectTo } from '../../kit/test/http/raw-talk.ts';
import { openGateway } from '../src/gateway.ts';
import { rankFor, ServiceProcesses } from '../src/service-processes.ts';

const wallet = (number: number) => `0x${String(number).padStart(40, '0')}`;
const urls = ['http://127.0.0.1:20001', 'http://127.0.0.1:20002', 'http://127.0.0.1:20003'];

describe('processes of a service', () => {
  const first = (processes: ServiceProcesses<null>, caller: string) =>
    processes.inOrder(rankFor(caller))[0]?.url ?? '';

  test('share the callers evenly, and a caller stays with its process', () => {
    const processes = new ServiceProcesses(urls, () => null);
    const counts = new Map<string, number>();
    for (let number = 0; number < 3_000; number += 1) {
      const url = first(processes, wallet(number));
      expect(first(processes, wallet(number).toUpperCase())).toBe(url);
      counts.set(url, (counts.get(url) ?? 0) + 1);
    }
    for (const url of urls) expect(counts.get(url)).toBeGreaterThan(850);
  });

  test('that rest come last, and the callers of the others stay where they are', () => {
    const processes = new ServiceProcesses(urls, () => null);
    const before = Array.from({ length: 100 }, (_, number) => first(processes, wallet(number)));
    const [rests] = processes.all;
    if (rests === undefined) throw new Error('there are three');
    processes.rest(rests);
    for (const [number, url] of before.entries()) {
      const now = first(processes, wallet(number));
      if (url === rests.url) expect(now).not.toBe(rests.url);
      else expect(now).toBe(url);
    }
  });
});

describe('a process with a request that takes long', () => {
  const first = (processes: ServiceProcesses<null>) =>
    processes.inOrder(rankFor(wallet(1)))[0]?.url ?? '';
  let isAnswering = true;
  let probed: string[] = [];
  let processes: ServiceProcesses<null>;

  beforeEach(() => {
    jest.useFakeTimers();
    probed = [];
    processes = new ServiceProcesses(
      urls,
      () => null,
      async (url) => {
        probed.push(url);
        return isAnswering;
      },
    );
  });
  afterEach(() => {
    processes.close();
    jest.useRealTimers();
  });

  /** A request that ends when the test says so. */
  function begin() {
    let end: () => void = () => {};
    const [best] = processes.inOrder(rankFor(wallet(1)));
    if (best === undefined) throw new Error('there are three');
    const ending = new Promise<void>((resolve) => {
      end = resolve;
    });
    const ended = processes.watch(best, () => ending);
    return {
      url: best.url,
      end: () => {
        end();
        return ended;
      },
    };
  }

  test('keeps its callers while it answers probes', async () => {
    isAnswering = true;
    const { url, end } = begin();
    await jest.advanceTimersByTimeAsync(12_000);
    expect(first(processes)).toBe(url);
    expect(new Set(probed)).toEqual(new Set([url]));
    await end();
    const count = probed.length;
    await jest.advanceTimersByTimeAsync(12_000);
    expect(probed.length - count).toBeLessThanOrEqual(1);
  });

  test('comes last while it answers none, until it does again', async () => {
    isAnswering = false;
    const { url, end } = begin();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(first(processes)).not.toBe(url);
    await end();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(first(processes)).not.toBe(url);
    isAnswering = true;
    await jest.advanceTimersByTimeAsync(2_000);
    expect(first(processes)).toBe(url);
  });
});

/** A service that says which process answered, and how often each was asked. */
async function openProcess(name: string, asked: Map<string, number>): Promise<Server> {
  const server = createServer((_request, response) => {
    asked.set(name, (asked.get(name) ?? 0) + 1);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name }));
  });
  server.on('upgrade', (_request, socket) => {
    asked.set(name, (asked.get(name) ?? 0) + 1);
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
    );
    socket.write(name);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('the gateway before two processes of each service', () => {
  const asked = new Map<string, number>();
  let servers: readonly Server[] = [];
  let gateway: HttpApp;

  beforeEach(async () => {
    asked.clear();
    servers = [await openProcess('one', asked), await openProcess('two', asked)];
    const both = servers.map((one) => `http://127.0.0.1:${(one.address() as AddressInfo).port}`);
    gateway = openGateway({ ingress: both, 'query-api': both, streams: both });
    await gateway.listen({ host: '127.0.0.1', port: 0 });
  });

  afterEach(async () => {
    await gateway.close();
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  const place = (number: number) =>
    gateway.inject({
      method: 'POST',
      url: '/order',
      headers: { [names.address]: wallet(number), 'content-type': 'application/json' },
      body: '{}',
    });

  test('spreads wallets over both, and sends all requests of one to the same', async () => {
    for (let number = 0; number < 40; number += 1) {
      const answers = [await place(number), await place(number)].map(({ body }) => body);
      expect(answers[0]).toBe(answers[1]);
    }
    for (const name of ['one', 'two']) expect(asked.get(name)).toBeGreaterThan(10);
  });

  test('sends every request to the other one while one cannot be reached', async () => {
    const [gone] = servers;
    gone?.close();
    for (let number = 0; number < 40; number += 1) {
      const { statusCode, body } = await place(number);
      expect([statusCode, body]).toEqual([200, '{"name":"two"}']);
    }
  });

  test('does not send a request again that a process may have got', async () => {
    let times = 0;
    for (const server of servers) {
      server.removeAllListeners('request');
      server.on('request', (request) => {
        times += 1;
        request.socket.destroy();
      });
    }
    expect((await place(1)).statusCode).toBe(503);
    expect(times).toBe(1);
  });

  test('gives a stream to the process with the fewest, and to the other one when it cannot be reached', async () => {
    const upgrade =
      'GET /v1/stream HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    const talks = [];
    for (let opened = 0; opened < 4; opened += 1) {
      const talk = await connectTo(gateway);
      talk.send(upgrade);
      await talk.hears('101');
      talks.push(talk);
    }
    expect([asked.get('one'), asked.get('two')]).toEqual([2, 2]);
    const [gone] = servers;
    gone?.close();
    for (let opened = 0; opened < 3; opened += 1) {
      const talk = await connectTo(gateway);
      talk.send(upgrade);
      await talk.hears('two');
      talks.push(talk);
    }
    for (const talk of talks) talk.close();
  });
});
