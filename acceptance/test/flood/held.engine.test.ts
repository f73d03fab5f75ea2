import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { ExchangeClient } from '@pm/client';
import { testAccounts } from '@pm/deploy/demo/wallets';
import { loopback } from '@pm/deploy/local/ports';
import { defaultHttpLimits } from '@pm/kit/http';
import { streamLimits } from '@pm/schemas/streams/limits';
import { StreamClient } from '../../../streams/test/stream-client.ts';
import { until } from '../exchange-under-test.ts';
import { untilNone, WholeExchange } from '../whole-exchange.ts';

// Connections that one address holds at each listener, while another one trades, cancels and reads (limits.md).
const partitions = 2;
const accounts = testAccounts().slice(0, 2);
/** No addresses of a gateway: one for each attack, since the connections that an address opens have a rate. */
let attackers = 8;
const newAttacker = () => {
  attackers += 1;
  return `127.0.0.${attackers}`;
};
const { perAddress } = defaultHttpLimits.connections;
const connections = perAddress + 50;
/** Longest wait until the listener has ended what is too much, on any machine, milliseconds. */
const endedMaxMs = 240_000;

let exchange: WholeExchange;
let clients: readonly ExchangeClient[];

beforeAll(async () => {
  const markets = [0, 1].map((index) => ({
    slug: `held-${index}`,
    question: `Held ${index}?`,
    minOrderSize: '1',
  }));
  const events = [{ slug: 'held', title: 'Held', markets }];
  exchange = await WholeExchange.open('held', { partitions, events, hasMcp: true });
  await exchange.deposit(accounts, '1000');
  clients = accounts.map((signer) => exchange.client(signer));
  await Promise.all(clients.map((client) => client.connect()));
}, 240_000);

afterAll(() => exchange?.close(), 60_000);

/** Orders that meet, one that rests and is canceled, and the book, through the gateway: nothing of it is refused. */
async function trade(): Promise<void> {
  const [buyer, seller] = clients;
  if (buyer === undefined || seller === undefined) throw new Error('two wallets');
  for (const { tokenIds } of exchange.markets) {
    const [tokenId = '', otherId = ''] = tokenIds;
    const terms = { side: 'BUY', price: '0.50' } as const;
    const rests = await buyer.placeOrder({ ...terms, tokenId, size: '2' });
    expect(rests).toMatchObject({ success: true, status: 'live' });
    expect(await buyer.get('getBook', { query: { token_id: tokenId } })).toHaveProperty('bids');
    const meets = await seller.placeOrder({ ...terms, tokenId: otherId, size: '1' });
    expect(meets).toMatchObject({ success: true, status: 'matched' });
    expect((await buyer.cancelAll()).canceled).toEqual([rests.orderID]);
  }
}

/** Statuses of all requests of this process that say that a client has too much. */
class Refusals {
  readonly statuses: number[] = [];
  readonly #fetch = globalThis.fetch;

  constructor() {
    globalThis.fetch = async (...request) => {
      const response = await this.#fetch(...request);
      const isRefused = response.status === 429 || response.status === 503;
      if (isRefused && (await response.clone().text()).includes('overloaded'))
        this.statuses.push(response.status);
      return response;
    };
  }

  close(): void {
    globalThis.fetch = this.#fetch;
  }
}

/** Connections that a process has ended and requests that it has refused by what clients hold, by reason. */
async function shedAt(opsPort: number): Promise<{ readonly held: number; readonly rate: number }> {
  const metrics = await (await fetch(`http://${loopback}:${opsPort}/metrics`)).text();
  const counts = [...metrics.matchAll(/^pm_http_shed_total\{.*reason="(\w+)".*\} (\d+)$/gm)];
  const sumOf = (isWanted: (reason: string | undefined) => boolean) =>
    counts.reduce((sum, [, reason, count]) => sum + (isWanted(reason) ? Number(count) : 0), 0);
  return { held: sumOf((reason) => reason !== 'rate'), rate: sumOf((reason) => reason === 'rate') };
}

/** Connections of the attacker to one listener. */
class Held {
  readonly sockets: readonly Socket[];

  readonly #timers = new Map<Socket, NodeJS.Timeout>();

  constructor(port: number, attacker: string, { first, againMs, isRead, trickleMs }: Attack) {
    this.sockets = Array.from({ length: connections }, () => {
      const socket = connect({ host: loopback, port, localAddress: attacker });
      socket.on('error', () => {});
      if (isRead)
        socket.on('data', () => {
          if (againMs !== undefined) this.#sendLater(socket, first, againMs);
        });
      else socket.pause();
      socket.write(first);
      if (trickleMs !== undefined)
        this.#timers.set(
          socket,
          setInterval(() => socket.write(' '), trickleMs),
        );
      return socket;
    });
  }

  /** Sends one request after a response, in however many parts the response comes. */
  #sendLater(socket: Socket, request: string, afterMs: number): void {
    if (this.#timers.has(socket)) return;
    const send = () => {
      this.#timers.delete(socket);
      socket.write(request);
    };
    this.#timers.set(socket, setTimeout(send, afterMs));
  }

  async end(): Promise<void> {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    const open = this.sockets.filter((socket) => !socket.closed);
    const closed = open.map((socket) => once(socket, 'close'));
    for (const socket of open) socket.destroy();
    await Promise.all(closed);
  }
}

/** Whether a new connection of the attacker gets the response to its request. */
async function isServed(port: number, attacker: string): Promise<boolean> {
  const socket = connect({ host: loopback, port, localAddress: attacker });
  socket.on('error', () => {});
  socket.write(idle.first);
  const ended = once(socket, 'close').then(() => ['']);
  const [first] = await Promise.race([once(socket, 'data'), ended]).catch(() => ['']);
  socket.destroy();
  return String(first).startsWith('HTTP/1.1 4');
}

interface Attack {
  readonly name: string;
  /** Sent over each connection. */
  readonly first: string;
  /** Pause after each response before it is sent again, milliseconds. */
  readonly againMs?: number;
  /** A byte more of the body at these intervals, milliseconds. */
  readonly trickleMs?: number;
  readonly isRead: boolean;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const post = (path: string, bytes: number, sent: number) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
  `Content-Length: ${bytes}\r\n\r\n${'['.padEnd(sent, ' ')}`;

const idle: Attack = { name: 'idle connections', first: get('/no-such-path'), isRead: true };
const unread = (path: string): Attack => ({
  name: 'unread responses',
  first: get(path).repeat(4),
  isRead: false,
});
const unfinished = (path: string, bytes: number): Attack => ({
  name: 'unfinished bodies',
  first: post(path, bytes, bytes - 1),
  isRead: true,
});
const slow = (path: string, bytes: number): Attack => ({
  name: 'slow bodies',
  first: post(path, bytes, 1),
  isRead: true,
  trickleMs: 500,
});
const without = (path: string): Attack => ({
  name: 'requests without credentials',
  first: post(path, 2, 2).replace('[ ', '{}'),
  // 500 requests a second over all connections: many for one address, and not all that two cores can do.
  againMs: 500,
  isRead: true,
});

type Listener = 'gateway' | 'ingress' | 'queryApi' | 'streams' | 'operator' | 'mcp';

const attacks: readonly (readonly [Listener, readonly Attack[]])[] = [
  [
    'gateway',
    [
      idle,
      unread('/openapi.json'),
      unfinished('/orders', 200_000),
      slow('/orders', 200_000),
      without('/order'),
    ],
  ],
  ['ingress', [idle, unfinished('/orders', 200_000), slow('/orders', 200_000)]],
  ['queryApi', [idle, unread('/openapi.json'), unfinished('/books', 100_000)]],
  ['streams', [idle]],
  ['mcp', [idle, unfinished('/mcp', 60_000), without('/mcp')]],
  ['operator', [idle, unfinished('/operator/deposits', 400_000), without('/operator/deposits')]],
];

describe.each(
  attacks.flatMap(([listener, some]) => some.map((one) => [one.name, listener, one] as const)),
)('%s at the listener of %s', (_name, listener, attack) => {
  test('of one address leave orders, cancels and reads of others as they are', async () => {
    const ops = exchange.ports[`${listener}Ops`];
    const before = await shedAt(ops);
    const attacker = newAttacker();
    const held = new Held(exchange.ports[listener], attacker, attack);
    const refusals = new Refusals();
    try {
      const missing = async () => {
        const shed = (await shedAt(ops)).held - before.held;
        const open = held.sockets.filter(({ closed }) => !closed).length;
        return shed >= connections - perAddress ? [] : [`${shed} ended, ${open} open`];
      };
      await untilNone('connections beyond its share are ended', missing, endedMaxMs);
      // Requests that are sent again are sent again meanwhile.
      const rounds = attack.againMs === undefined ? 1 : 3;
      for (let round = 0; round < rounds; round += 1) await trade();
    } finally {
      refusals.close();
      await held.end();
    }
    expect(refusals.statuses).toEqual([]);
    expect((await shedAt(ops)).rate).toBe(before.rate);
    // Later the address is served as any other.
    await until(() => isServed(exchange.ports[listener], attacker));
  }, 120_000);
});

/** Two frames with as many subscriptions as a connection of the family may have, all with filters of their own. */
function worstFrames(connection: number): readonly string[] {
  const subscription = (at: number) => ({
    topic: 'activity',
    type: 'trades',
    filters: { event_slug: `held-${connection}-${at}`, market_slug: 'é'.repeat(150) },
  });
  return [0, 50].map((from) => {
    const subscriptions = Array.from({ length: 50 }, (_, at) => subscription(from + at));
    return JSON.stringify({ action: 'subscribe', subscriptions });
  });
}

test('connections to streams with the costliest subscriptions leave orders, cancels and reads of others as they are', async () => {
  const url = `ws://${loopback}:${exchange.ports.streams}/ws/live-data`;
  const wanted = streamLimits.connections_per_address + 20;
  const attacker = newAttacker();
  let refused = 0;
  const sockets = Array.from({ length: wanted }, (_, at) => {
    const { socket } = new StreamClient(url, {}, attacker);
    socket.on('close', () => {
      refused += 1;
    });
    socket.on('open', () => {
      for (const frame of worstFrames(at)) socket.send(frame);
    });
    return socket;
  });
  const refusals = new Refusals();
  try {
    await until(async () => refused >= wanted - streamLimits.connections_per_address);
    await trade();
  } finally {
    refusals.close();
    for (const socket of sockets) socket.terminate();
  }
  expect(refusals.statuses).toEqual([]);
}, 120_000);

test('an address opens connections to the listener of operators as fast as it can', async () => {
  const attacker = newAttacker();
  const { operator: port, operatorOps } = exchange.ports;
  for (let opened = 0; opened < 3 * perAddress; opened += 1) {
    const socket = connect({ host: loopback, port, localAddress: attacker });
    await once(socket, 'connect');
    socket.destroy();
  }
  expect((await shedAt(operatorOps)).rate).toBe(0);
});

test('no process ended for any of it', () => {
  const ended = exchange.processes.filter(({ restarts }) => restarts > 0);
  expect(ended.map(({ name }) => name)).toEqual([]);
});
