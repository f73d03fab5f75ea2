import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type TokenId, tokenIdBytes } from '@pm/schemas/ids';
import type { CatalogEntry } from '@pm/schemas/log/catalog';
import { headers } from '@pm/schemas/signing';
import { streamLimits } from '@pm/schemas/streams/limits';
import { heapInUse } from '../../kit/test/hostile/heap.ts';
import { condition, eventEntry, marketEntry, wallet } from '../../query-api/test/in-memory.ts';
import { OwnOrders } from '../src/family/own-orders.ts';
import { ConnectionMemoryBudget } from '../src/protocol/connection-memory-budget.ts';
import { FamilyWorld, goodAuth } from './family-world.ts';
import { placedOrder } from './own-changes.ts';
import { SendingClient } from './sending-client.ts';
import { goodHeaders, StreamWorld } from './stream-world.ts';

/**
 * Every kind of frame that makes the process keep something, in the form that takes the most: the heap may grow by no
 * more than what is counted.
 */

const markets = Array.from({ length: 500 }, (_, at) => 0x1000 + at);
/** As long as tokens are. */
const tokenOf = (market: number, outcome: 0 | 1) =>
  `1${String(market * 2 + outcome).padStart(76, '0')}` as TokenId;
const tokens = markets.flatMap((market) => [tokenOf(market, 0), tokenOf(market, 1)]);
const conditions = markets.map(condition);

function entriesOf(market: number): readonly CatalogEntry[] {
  const eventId = String(market);
  const [token0, token1] = [tokenIdBytes(tokenOf(market, 0)), tokenIdBytes(tokenOf(market, 1))];
  return [eventEntry(eventId), marketEntry(market, { eventId, token0, token1 })];
}

const long = '~'.repeat(500);
/** Frames whose proofs take the most while they are checked. */
const proofs: Readonly<Record<string, string>> = {
  '/v1/stream': JSON.stringify({
    op: 'auth',
    id: 1,
    headers: Object.fromEntries(
      [
        ...Object.values(headers).slice(0, 6),
        ...Array.from({ length: 10 }, (_, at) => `${at}-`.padEnd(64, 'h')),
      ].map((name) => [name, long]),
    ),
  }),
  '/clob/ws/user': JSON.stringify({
    type: 'user',
    auth: { apiKey: long, secret: long, passphrase: long },
  }),
};

type AnyWorld = StreamWorld | FamilyWorld;

function filled<W extends AnyWorld>(world: W): W {
  for (const entry of markets.flatMap(entriesOf)) world.catalog.apply(entry);
  world.feed.list(markets);
  return world;
}

/** With buffers, which are outside of the heap. */
const bytesInUse = async (collections?: number): Promise<number> =>
  (await heapInUse(collections)) + process.memoryUsage().arrayBuffers;

/** Growth since `before`. What is below the bound once is below it; garbage is collected again otherwise. */
async function growthSince(
  before: number,
  bound: number,
  inUse: (collections: number) => Promise<number> = bytesInUse,
): Promise<number> {
  let growth = Number.POSITIVE_INFINITY;
  for (let collected = 0; collected < collectionsMax && growth >= bound; collected += 1)
    growth = (await inUse(1)) - before;
  return growth;
}

const collectionsMax = 3;

/** Lets the clock of a world stand; the function moves it by the time that one frame more may take. */
function standing(world: AnyWorld): () => void {
  let atMs = 0;
  Object.defineProperty(world, 'aheadMs', { get: () => atMs - performance.now() });
  return () => {
    atMs += 1_000 / streamLimits.frames_per_second + 1;
  };
}

interface Run {
  readonly clients: readonly SendingClient[];
  act(): void;
  /** Messages that each subscription begins with. */
  readonly begins: number;
}

interface Growth {
  readonly heap: number;
  readonly counted: number;
}

const measuredMax = 3;

/**
 * Growth of the heap, and of what is counted, by a run. What else the process allocates meanwhile, such as code, is in
 * it and differs from time to time; what the world keeps is there each time: a growth beyond what is counted is
 * measured again.
 */
async function growthOf<W extends AnyWorld>(
  open: () => W,
  prepare: (world: W, advance: () => void) => Run,
): Promise<Growth> {
  let growth = await measureGrowth(open(), prepare);
  for (let measured = 1; measured < measuredMax && growth.heap >= growth.counted; measured += 1)
    growth = await measureGrowth(open(), prepare);
  return growth;
}

async function measureGrowth<W extends AnyWorld>(
  world: W,
  prepare: (world: W, advance: () => void) => Run,
): Promise<Growth> {
  const run = prepare(world, standing(world));
  const countedBefore = world.room.bytes + world.queued.bytes;
  const before = await bytesInUse();
  await finish(world, run);
  const counted = world.room.bytes + world.queued.bytes - countedBefore;
  const heap = await growthSince(before, counted);
  expect(run.clients.map(({ closed }) => closed).filter((code) => code !== null)).toEqual([]);
  // They leave: a connection that is closed is kept for its last frame.
  for (const client of run.clients) client.emit('close');
  expect(world.room.bytes + world.queued.bytes).toBe(0);
  world.hub.close();
  return { heap, counted };
}

async function finish(world: AnyWorld, { act, clients, begins }: Run): Promise<void> {
  act();
  const wanted = begins * world.hub.subscriptions;
  const sent = () => clients.reduce((sum, { writes }) => sum + writes, 0);
  while (sent() < wanted) await new Promise((done) => setImmediate(done));
}

describe('of /v1/stream', () => {
  const open = () => filled(new StreamWorld());

  function connected(world: StreamWorld, count: number, reads = true): readonly SendingClient[] {
    return Array.from({ length: count }, (_, at) => {
      const client = new SendingClient(reads);
      world.counts.open(`address-${at}`, 0);
      world.hub.add(client.asSocket, `address-${at}`);
      return client;
    });
  }

  const halves = (keys: readonly string[]) => [keys.slice(0, 500), keys.slice(500)];

  const some = conditions.slice(0, 200);
  const framesOf = (channel: string) => halves(tokens).map((keys) => ({ channel, tokens: keys }));
  const [bookFrames, bestFrames] = [framesOf('book'), framesOf('best')];

  test.each([
    ['books and best prices that nobody else reads', 2, [bookFrames, bestFrames]],
    ['books that all read', 8, [bookFrames]],
    [
      'the other channels',
      1,
      [
        [
          ...['orders', 'trades', 'markets', 'activity'].map((channel) => ({
            channel,
            markets: some,
          })),
          { channel: 'comments', events: markets.slice(0, 200).map(String) },
        ],
      ],
    ],
    ['connections of all markets', streamLimits.connections_per_key, [[{ channel: 'markets' }]]],
    ['own orders', streamLimits.connections_per_key, [[{ channel: 'own' }]]],
  ])('%s take no more than they count', async (_name, connections, frames) => {
    const { heap, counted } = await growthOf(open, (world) => {
      const clients: SendingClient[] = [];
      const act = () => {
        clients.push(...connected(world, connections));
        for (const [at, client] of clients.entries()) {
          client.receive({ op: 'auth', id: 1, headers: goodHeaders });
          const ofClient: readonly object[] = frames[at % frames.length] ?? [];
          for (const frame of ofClient) client.receive({ op: 'subscribe', id: 2 ** 40, ...frame });
        }
      };
      return { clients, act, begins: 1 };
    });
    expect(heap).toBeLessThan(counted);
  });

  test('subscriptions that wait to be resumed take no more than they count', async () => {
    const { heap, counted } = await growthOf(open, (world, advance) => {
      const clients = connected(world, 1);
      world.feed.pageGate = () => new Promise(() => {});
      const act = () => {
        for (const [at, token] of tokens.entries()) {
          const from = { partition: 0, offset: 0, epoch: world.feed.epoch };
          const frame = {
            op: 'subscribe',
            id: 2 ** 40 + at,
            channel: 'book',
            tokens: [token],
            from,
          };
          for (const client of clients) client.receive(frame);
          advance();
        }
      };
      return { clients, act, begins: 0 };
    });
    expect(heap).toBeLessThan(counted);
  });

  test.each([
    ['answers', 1, 60, { op: 'subscribe', channel: 'book', tokens: tokens.slice(0, 500) }],
    ['errors', 8, 300, { op: 'subscribe', channel: 'comments', events: ['1'] }],
    ['pongs', 8, 300, { op: 'ping' }],
  ])(
    '%s that nobody reads take no more than they count',
    async (_name, connections, count, frame) => {
      const { heap, counted } = await growthOf(open, (world, advance) => {
        const clients = connected(world, connections, false);
        const act = () => {
          for (let id = 2; id < count; id += 1) {
            for (const client of clients) client.receive({ ...frame, id });
            advance();
          }
        };
        return { clients, act, begins: 0 };
      });
      expect(counted).toBeGreaterThan(connections * (count - 40) * 768);
      expect(heap).toBeLessThan(counted);
    },
  );
});

describe('of the streams of the family', () => {
  const open = () => filled(new FamilyWorld());

  function connected(world: FamilyWorld, path: string, count: number, reads = true) {
    return Array.from({ length: count }, (_, at) => {
      const client = new SendingClient(reads);
      world.counts.open(`address-${at}`, 0);
      world.hub.add(client.asSocket, `address-${at}`, path);
      return client;
    });
  }

  const longest = (at: number) => `~${at}`.padEnd(80, '~');
  const words = Array.from({ length: 700 }, (_, at) => longest(at));
  const slugs = (name: string, at: number) => ({
    event_slug: `${name}-${at}-${'\u{1f600}'.repeat(50)}`,
    market_slug: `m-${at}-${'é'.repeat(150)}`,
    condition_id: `0x${at.toString(16).padStart(64, 'a')}`,
  });
  const live = (name: string, from: number) => ({
    action: 'subscribe',
    subscriptions: Array.from({ length: 50 }, (_, at) => ({
      topic: 'activity',
      type: 'trades',
      filters: slugs(name, from + at),
    })),
  });
  const halves = (list: readonly string[]) => [list.slice(0, 500), list.slice(500)];
  const market = (ids: readonly string[]) => ({ type: 'market', assets_ids: ids });

  test.each([
    ['/ws/market', 'tokens that nobody else reads', 1, 1, () => halves(tokens).map(market)],
    ['/ws/market', 'tokens that all read', 1, 8, () => halves(tokens).map(market)],
    ['/ws/market', 'markets', 1, 1, () => [{ type: 'market', markets: conditions }]],
    ['/ws/market', 'ids that are not listed', 0, 8, () => [market(words)]],
    [
      '/ws/user',
      'markets',
      0,
      8,
      () => [
        { type: 'user', auth: goodAuth, markets: [] },
        { operation: 'subscribe', markets: words },
      ],
    ],
    [
      '/ws/live-data',
      'subscriptions with filters',
      0,
      20,
      (connection: number) => [live(`${connection}`, 0), live(`${connection}`, 50)],
    ],
    [
      '/ws/live-data',
      'subscriptions without filters',
      0,
      1_000,
      () => [
        { action: 'subscribe', subscriptions: [{ topic: 'activity' }, { topic: 'comments' }] },
      ],
    ],
  ])('%s: %s take no more than they count', async (path, _name, begins, connections, framesOf) => {
    const { heap, counted } = await growthOf(open, (world) => {
      const clients = connected(world, path, connections);
      const act = () => {
        for (const [at, client] of clients.entries())
          for (const frame of framesOf(at)) client.receive(frame);
        expect(clients.filter(({ error }) => error !== null)).toEqual([]);
      };
      return { clients, act, begins };
    });
    expect(counted).toBeGreaterThan(500 * connections);
    expect(heap).toBeLessThan(counted);
  });

  test('/ws/user: wallets of a key take no more than they count', async () => {
    const { heap, counted } = await growthOf(open, (world) => {
      world.wallets = Array.from({ length: 1_000 }, (_, at) => wallet(at + 1));
      const clients = connected(world, '/ws/user', 1);
      const act = () => clients[0]?.receive({ type: 'user', auth: goodAuth });
      return { clients, act, begins: 0 };
    });
    expect(counted).toBeGreaterThan(0);
    expect(heap).toBeLessThan(counted);
  });

  test.each([
    ['/ws/market', 'PONG', 'PING'],
    [
      '/ws/live-data',
      'refusals',
      {
        action: 'subscribe',
        subscriptions: words.slice(0, 20).map((topic) => ({ topic })),
      },
    ],
  ])('%s: %s that nobody reads take no more than they count', async (path, _name, frame) => {
    const { heap, counted } = await growthOf(open, (world, advance) => {
      const clients = connected(world, path, 20, false);
      const act = () => {
        for (let count = 0; count < 150; count += 1) {
          for (const client of clients) client.receive(frame);
          advance();
        }
      };
      return { clients, act, begins: 0 };
    });
    expect(counted).toBeGreaterThan(0);
    expect(heap).toBeLessThan(counted);
  });

  test.each([0, 3, 50])(
    '/ws/user: pasts of orders with %d trades are bounded by what they count',
    async (trades) => {
      const room = new ConnectionMemoryBudget(1 << 29);
      const before = await bytesInUse();
      const shares = Array.from({ length: 2 }, (_, at) => room.share(`address-${at}`));
      const kept = shares.map((share) => new OwnOrders(wallet(1), share));
      for (let id = 0; id < 20_000 / (trades + 2); id += 1)
        for (const orders of kept)
          for (const change of placedOrder(id, trades)) orders.take(change);
      expect(await growthSince(before, room.bytes)).toBeLessThan(room.bytes);
      expect(kept.every(({ size }) => size > 0)).toBe(true);
      for (const { bytes } of shares)
        expect(bytes).toBeLessThanOrEqual(streamLimits.memory_bytes_per_connection);
    },
  );
});

test.each([
  ['/v1/stream', () => new StreamWorld()],
  ['/clob/ws/market', () => new FamilyWorld()],
  ['/clob/ws/user', () => new FamilyWorld()],
  ['/clob/ws/live-data', () => new FamilyWorld()],
])(
  '%s: connections with a proof and an unfinished frame take no more than they count',
  async (path, open) => {
    const count = 200;
    const own = await open().start();
    // Proofs are tried again as long as the test needs.
    own.isKeyKnown = false;
    standing(own);
    const before = await heapInUse();
    const clients = new Worker(join(__dirname, 'raw-clients.mjs'), {
      workerData: { port: Number(new URL(own.url).port), path, count, frame: proofs[path] ?? '{}' },
    });
    await once(clients, 'message');
    expect(own.hub.connections).toBe(count);
    const heap = await growthSince(before, own.room.bytes, heapInUse);
    expect(heap).toBeLessThan(own.room.bytes);
    await clients.terminate();
    while (own.hub.connections > 0) await new Promise((done) => setImmediate(done));
    await own.close();
  },
);
