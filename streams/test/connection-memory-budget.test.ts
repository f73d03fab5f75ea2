import { streamLimits } from '@pm/schemas/streams/limits';
import { condition, token } from '../../query-api/test/in-memory.ts';
import {
  ConnectionMemoryBudget,
  keptBytes,
  readerBounds,
} from '../src/protocol/connection-memory-budget.ts';
import { FamilyWorld, goodAuth } from './family-world.ts';
import { SendingClient } from './sending-client.ts';
import { StreamClient } from './stream-client.ts';
import { StreamWorld } from './stream-world.ts';

const { memory_bytes_per_address: ofAddress, memory_bytes_per_connection: ofConnection } =
  streamLimits;
const keyBytes = keptBytes.subscription + keptBytes.publication;

test('the bounds are shares of the largest heap, and queues have an upper one', () => {
  const mebibyte = 1024 * 1024;
  expect(readerBounds(240 * mebibyte)).toEqual({
    roomBytes: 120 * mebibyte,
    queuesBytes: 60 * mebibyte,
  });
  expect(readerBounds(8_192 * mebibyte).queuesBytes).toBe(512 * mebibyte);
});

test('a share grows as far as there is room, and gives all back', () => {
  const room = new ConnectionMemoryBudget(2_500);
  const [one, other] = [room.share('a'), room.share('b')];
  expect(one.take(2_000)).toBeNull();
  expect(other.take(600)).toBe('overloaded');
  expect(other.take(500)).toBeNull();
  one.giveBack(200);
  expect(other.take(200)).toBeNull();
  one.close();
  other.close();
  expect(room.bytes).toBe(0);
  // A frame that ends its connection goes on for a moment.
  one.giveBack(200);
  expect([one.take(1), room.bytes]).toEqual(['overloaded', 0]);
});

test('a connection and an address have shares of their own, and other addresses have theirs', () => {
  const room = new ConnectionMemoryBudget(1 << 30);
  const one = room.share('a');
  expect(one.take(ofConnection + 1)).toBe('too_many_subscriptions');
  const shares = Array.from({ length: ofAddress / ofConnection }, () => room.share('a'));
  expect(shares.map((share) => share.take(ofConnection))).toEqual(shares.map(() => null));
  expect(one.take(1)).toBe('too_many_subscriptions');
  expect(room.openConnection('a')).toBe(false);
  expect(room.openConnection('b')).toBe(true);
  shares[0]?.close();
  expect(one.take(1)).toBeNull();
});

test('what several shares count is once in the room, and whole for each address', () => {
  const room = new ConnectionMemoryBudget(1_000);
  const [one, other] = [room.share('a'), room.share('b')];
  one.take(600);
  room.countOnce(500);
  expect(room.bytes).toBe(100);
  expect(other.take(600)).toBeNull();
  room.countOnce(-500);
  one.close();
  other.close();
  expect(room.bytes).toBe(0);
});

describe('of /v1/stream', () => {
  let world: StreamWorld;
  afterEach(() => world.close());

  test('a connection that has no room is closed with 4029, until one has left', async () => {
    world = await new StreamWorld(undefined, keptBytes.connection).start();
    const first = await world.open();
    const refused = await StreamClient.open(world.url);
    expect(await refused.ended()).toBe(4029);
    first.socket.terminate();
    while (world.room.bytes > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const next = await world.open();
    next.send({ op: 'ping', id: 1 });
    await next.of('pong');
  });

  test('subscriptions without room are refused as a whole and may succeed later', async () => {
    world = await new StreamWorld(undefined, keptBytes.connection + 2 * keyBytes).start();
    const client = await world.open();
    const tokens = [token(1, 0), token(1, 1)];
    client.send({ op: 'subscribe', id: 1, channel: 'book', tokens });
    await client.of('subscribed');
    for (let id = 2; id < 2 + streamLimits.wrong_frames; id += 1) {
      client.send({ op: 'subscribe', id, channel: 'trades', markets: [condition(1)] });
      expect(await client.of('error')).toMatchObject({ id, code: 'overloaded', retryable: true });
    }
    // One that is begun again needs no more room.
    client.send({ op: 'subscribe', id: 8, channel: 'book', tokens });
    await client.of('subscribed');
    client.send({ op: 'unsubscribe', id: 9, channel: 'book', tokens: tokens.slice(1) });
    await client.of('unsubscribed');
    client.send({ op: 'subscribe', id: 10, channel: 'trades', markets: [condition(1)] });
    expect(await client.of('subscribed')).toMatchObject({ id: 10 });
    client.socket.terminate();
    while (world.hub.connections > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(world.room.bytes).toBe(0);
  });

  test('a key that two connections read is once in the room, whoever leaves first', async () => {
    world = await new StreamWorld().start();
    const clients = [new SendingClient(), new SendingClient()];
    for (const client of clients) {
      world.hub.add(client.asSocket, 'address');
      client.receive({ op: 'subscribe', id: 1, channel: 'book', tokens: [token(1, 0)] });
    }
    expect(world.room.bytes).toBe(keyBytes + keptBytes.subscription);
    clients[0]?.receive({ op: 'unsubscribe', id: 2, channel: 'book' });
    expect(world.room.bytes).toBe(keyBytes);
    clients[1]?.receive({ op: 'unsubscribe', id: 2, channel: 'book' });
    expect(world.room.bytes).toBe(0);
  });

  test('one address keeps no more than its share and is told so; others subscribe', async () => {
    world = await new StreamWorld().start();
    const subscribe = { op: 'subscribe', id: 1, channel: 'book', tokens: [token(1, 0)] };
    const open = (address: string): SendingClient => {
      const client = new SendingClient();
      world.counts.open(address, 0);
      world.hub.add(client.asSocket, address);
      client.receive(subscribe);
      return client;
    };
    // As if other connections of the address had nearly all of its share.
    const shareOf = () => world.room.share('a');
    while (shareOf().take(ofConnection) === null);
    while (shareOf().take(keptBytes.connection) === null);
    expect(open('a').error).toContain('too_many_subscriptions');
    expect(open('b').error).toBeNull();
  });
});

describe('of the streams of the family', () => {
  let world: FamilyWorld;
  afterEach(() => world.close());

  const live = { action: 'subscribe', subscriptions: [{ topic: 'activity', type: 'trades' }] };
  const frames: readonly (readonly [string, object])[] = [
    ['/ws/market', { type: 'market', assets_ids: [token(1, 0), token(1, 1), token(2, 0)] }],
    ['/ws/user', { type: 'user', markets: [1, 2, 3].map(condition), auth: goodAuth }],
    ['/ws/live-data', live],
  ];

  test.each(frames)(
    '%s refuses what has no room, and gives all back at the end',
    async (path, frame) => {
      world = await new FamilyWorld(undefined, keptBytes.connection + 200).start();
      const client = await world.open(path);
      client.send(frame);
      expect(await client.text()).toBe(
        '{"error":"the service has no room for more subscriptions"}',
      );
      client.socket.terminate();
      while (world.room.bytes > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(world.hub.connections).toBe(0);
    },
  );

  test.each(frames)(
    '%s: one address keeps no more than its share and is told so',
    async (path, frame) => {
      world = await new FamilyWorld().start();
      const add = (address: string): SendingClient => {
        const client = new SendingClient();
        world.hub.add(client.asSocket, address, path);
        client.receive(frame);
        return client;
      };
      const first = add('a');
      expect(first.error).toBeNull();
      // As if other connections of the address had the rest of its share.
      const shareOf = () => world.room.share('a');
      while (shareOf().take(ofConnection) === null);
      while (shareOf().take(100) === null);
      expect(add('a').error).toBe('{"error":"too many subscriptions"}');
      expect(add('b').error).toBeNull();
    },
  );

  test('a frame that ends its connection leaves nothing counted', async () => {
    world = await new FamilyWorld().start();
    const client = new SendingClient();
    world.counts.open('a', 0);
    world.hub.add(client.asSocket, 'a', '/ws/user');
    const markets = [1, 2, 3].map(condition);
    client.receive({ type: 'user', markets });
    expect(client.closed).toBe(1008);
    expect(world.room.bytes).toBe(0);
  });

  test.each([
    ['/ws/market', { type: 'market', assets_ids: ['\u{1f600}'] }],
    ['/ws/market', { type: 'market', markets: ['\ud800'] }],
    ['/ws/user', { type: 'user', markets: ['a\u0007'], auth: goodAuth }],
    ['/ws/user', { type: 'user', auth: { ...goodAuth, secret: '\u00e9' } }],
    ['/ws/live-data', { action: 'subscribe', subscriptions: [{ topic: '\u0000' }] }],
  ])('%s takes no words but printable ASCII: %j', async (path, frame) => {
    world = await new FamilyWorld().start();
    const client = new SendingClient();
    world.hub.add(client.asSocket, 'a', path);
    client.receive(frame);
    expect([client.error, world.room.bytes]).toEqual(['{"error":"invalid message"}', 0]);
  });

  test('a book that ends its connection leaves no reader behind', async () => {
    world = await new FamilyWorld(1_000).start();
    const [client, other] = [new SendingClient(false), new SendingClient()];
    for (const one of [client, other]) {
      world.counts.open('a', 0);
      world.hub.add(one.asSocket, 'a', '/ws/market');
    }
    other.receive({ type: 'market', assets_ids: [token(1, 0)], initial_dump: false });
    const before = world.room.bytes - keptBytes.connection;
    // Its socket takes no more.
    for (let id = 0; id < 32; id += 1) client.receive('PING');
    // As if others had filled the memory.
    world.queued.bytes += 2 ** 40;
    client.receive({ type: 'market', assets_ids: [token(1, 0), token(1, 1)] });
    while (client.closed === null) await new Promise((resolve) => setImmediate(resolve));
    expect([client.closed, world.room.bytes]).toEqual([4008, before]);
    // If the closed connection still counted as a second reader, its memory would be left.
    other.receive({ operation: 'unsubscribe', assets_ids: [token(1, 0)] });
    expect(world.room.bytes).toBe(keptBytes.connection);
  });

  test('a market that two connections read is once in the room, whoever leaves first', async () => {
    world = await new FamilyWorld().start();
    const clients = [new SendingClient(), new SendingClient()];
    for (const client of clients) {
      world.hub.add(client.asSocket, 'address', '/ws/market');
      client.receive({ type: 'market', assets_ids: [token(1, 0)], initial_dump: false });
    }
    const both = world.room.bytes;
    clients[0]?.receive({ operation: 'unsubscribe', assets_ids: [token(1, 0)] });
    const one = world.room.bytes;
    expect(2 * one - both).toBe(keptBytes.market);
    clients[1]?.receive({ operation: 'unsubscribe', assets_ids: [token(1, 0)] });
    expect(world.room.bytes).toBe(0);
  });
});
