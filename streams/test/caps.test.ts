import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { streamLimits } from '@pm/schemas/streams/limits';
import { condition, marketEntry, token, wallet } from '../../query-api/test/in-memory.ts';
import { FamilyWorld } from './family-world.ts';
import { ScriptedSocket } from './scripted-socket.ts';
import type { Seen, StreamClient } from './stream-client.ts';
import { goodHeaders, StreamWorld } from './stream-world.ts';

let world: StreamWorld | FamilyWorld;
afterEach(() => world.close());

const markets = Array.from(
  { length: streamLimits.subscriptions_per_connection },
  (_, at) => at + 1,
);
const frameKeys = streamLimits.keys_per_frame;

/** Levels of a book, some 40 bytes each. */
function fillBooks(
  { feed, catalog }: StreamWorld | FamilyWorld,
  size: { readonly books: number; readonly levels: number },
): void {
  const filled = markets.slice(0, size.books);
  for (const market of filled) catalog.apply(marketEntry(market));
  feed.list(filled);
  const levels = Array.from({ length: size.levels }, (_, at) => ({
    side: 'BUY' as const,
    price: at + 1,
    sizeMicro: 1_000_000,
  }));
  for (const market of filled) feed.setLevels(market, levels);
}

/** The most books of a connection, together three times what may wait for it. */
const all = { books: markets.length, levels: 30 };
const queueBytes = 400_000;
const large = { books: frameKeys, levels: 300 };

test('a connection at the cap gets every book, however large they are together, and no more', async () => {
  const own = await new StreamWorld(queueBytes).start();
  world = own;
  fillBooks(own, all);
  const client = await own.open();
  for (let from = 0; from < markets.length; from += frameKeys) {
    const tokens = markets.slice(from, from + frameKeys).map((market) => token(market, 0));
    client.send({ op: 'subscribe', id: from, channel: 'book', tokens });
  }
  const found = new Set<unknown>();
  while (found.size < markets.length)
    found.add((await client.next(({ type }) => type === 'snapshot'))['token']);
  client.send({ op: 'subscribe', id: 9, channel: 'book', tokens: [token(1, 1)] });
  expect(await client.of('error')).toMatchObject({ code: 'too_many_subscriptions' });
  own.feed.setLevels(1_000, [{ side: 'SELL', price: 9_000, sizeMicro: 1 }]);
  expect(await client.of('delta')).toMatchObject({ seq: 2, prev: 1, market: condition(1_000) });
}, 60_000);

test('a token that changes while its book waits for its turn has one book and no gap', async () => {
  const own = await new StreamWorld().start();
  world = own;
  fillBooks(own, large);
  const client = await own.open();
  client.socket.pause();
  const tokens = markets.slice(0, frameKeys).map((market) => token(market, 0));
  client.send({ op: 'subscribe', id: 1, channel: 'book', tokens });
  while (own.hub.subscriptions < frameKeys) await new Promise((done) => setTimeout(done, 5));
  for (const market of markets.slice(0, frameKeys))
    own.feed.setLevels(market, [{ side: 'SELL', price: 9_000, sizeMicro: 1 }]);
  client.socket.resume();
  const seqs = new Map<unknown, number>();
  const isWhole = () => seqs.size === frameKeys && [...seqs.values()].every((seq) => seq === 2);
  while (!isWhole()) {
    const next = await client.next(({ type }) => type === 'snapshot' || type === 'delta');
    if (next.type === 'delta') expect(next['prev']).toBe(seqs.get(next['token']));
    else expect(seqs.has(next['token'])).toBe(false);
    seqs.set(next['token'], Number(next['seq']));
  }
}, 60_000);

test('checksums of 500 large books are made in turn, not in one go', async () => {
  const own = await new StreamWorld().start();
  world = own;
  fillBooks(own, large);
  const socket = new ScriptedSocket();
  own.hub.add(socket.asSocket, 'address');
  const tokens = markets.slice(0, frameKeys).map((market) => token(market, 0));
  socket.receive({ op: 'subscribe', id: 1, channel: 'book', tokens });
  while (socket.of('snapshot').length < frameKeys) await setImmediate();
  await wait(200);
  const snapshot = own.feed.snapshot.bind(own.feed);
  let reads = 0;
  own.feed.snapshot = (channel, market) => {
    if (channel === 'book') reads += 1;
    return snapshot(channel, market);
  };
  own.feed.seqOf = () => 1;
  for (let id = 2; id < 10; id += 1) socket.receive({ op: 'checksum', id, tokens });
  expect(reads).toBeLessThan(frameKeys / 2);
  while (socket.of('checksum').length < frameKeys) await setImmediate();
  // Asked for again while they wait, they come once.
  expect(reads).toBeLessThan(2 * frameKeys);
}, 60_000);

test('the same on the stream of the family', async () => {
  const family = await new FamilyWorld(queueBytes).start();
  world = family;
  fillBooks(family, all);
  const client = await family.open('/ws/market');
  client.send({ type: 'market', assets_ids: markets.map((market) => token(market, 0)) });
  const found = new Set<unknown>();
  while (found.size < markets.length) found.add((await client.of('book'))['asset_id']);
  client.send({ operation: 'subscribe', assets_ids: [token(1, 1)] });
  expect(await client.text()).toBe('{"error":"too many subscriptions"}');
}, 60_000);

test('subscriptions of live data have a cap of their own', async () => {
  const family = await new FamilyWorld().start();
  world = family;
  const client = await family.open('/ws/live-data');
  const subscriptions = Array.from(
    { length: streamLimits.live_subscriptions_per_connection + 1 },
    (_, at) => ({ topic: 'activity', type: 'trades', filters: { event_slug: `event-${at}` } }),
  );
  client.send({ action: 'subscribe', subscriptions });
  expect(await client.text()).toBe('{"error":"too many subscriptions"}');
  expect(family.hub.subscriptions).toBe(streamLimits.live_subscriptions_per_connection);
});

describe('own snapshots', () => {
  const many = 20 * streamLimits.snapshot_items;
  const order = (at: number) => {
    const orderId = Buffer.alloc(32);
    orderId.writeUInt32BE(at);
    return {
      orderId,
      apiKey: Buffer.alloc(16, 1),
      market: (at % 3) + 1,
      outcome: 0,
      side: 'BUY',
      timeInForce: 'GTC',
      price: 4_000,
      sizeMicro: 5_000_000,
      restingMicro: 5_000_000,
      expiresAtMs: 0,
      acceptedAtMs: 1,
    } as const;
  };

  async function ownParts(client: StreamClient): Promise<readonly Seen[]> {
    client.send({ op: 'auth', id: 1, headers: goodHeaders });
    client.send({ op: 'subscribe', id: 2, channel: 'own' });
    const parts: Seen[] = [];
    for (let isWhole = false; !isWhole; ) {
      const part = await client.next(({ type }) => type === 'snapshot');
      parts.push(part);
      isWhole = part['more'] !== true;
    }
    return parts;
  }

  test('of many orders and positions come in parts of limited size, and then changes', async () => {
    const own = await new StreamWorld().start();
    world = own;
    const made = { token0Micro: 1, token1Micro: 2 };
    own.feed.ownOrders = Array.from({ length: many }, (_, at) => order(at));
    own.feed.ownPositions = Array.from({ length: many }, (_, at) => ({
      market: (at % 3) + 1,
      ...made,
    }));
    const client = await own.open();
    const parts = await ownParts(client);
    const items = (name: string) => parts.map((part) => (part[name] as readonly Seen[]).length);
    expect(parts.map((part) => part['part'])).toEqual(parts.map((_, index) => index));
    for (const name of ['orders', 'positions'])
      expect(Math.max(...items(name))).toBe(streamLimits.snapshot_items);
    const sum = (name: string) => items(name).reduce((all, one) => all + one, 0);
    expect([sum('orders'), sum('positions')]).toEqual([many, 2 * many]);
    const ids = parts.flatMap((part) => part['orders'] as readonly { readonly id: string }[]);
    expect(new Set(ids.map(({ id }) => id)).size).toBe(many);
    const change = { kind: 'balance', freeMicro: 1, heldMicro: 0 } as const;
    own.feed.put({ channel: 'own', wallet: wallet(1), change });
    expect(await client.of('event')).toMatchObject({ seq: 1, prev: 0 });
    expect(own.places.taken).toBe(0);
  }, 60_000);

  test('of few orders have no parts', async () => {
    const own = await new StreamWorld().start();
    world = own;
    own.feed.ownOrders = [order(1)];
    const [only, ...others] = await ownParts(await own.open());
    expect(others).toEqual([]);
    expect(only?.['part']).toBeUndefined();
  });
});
