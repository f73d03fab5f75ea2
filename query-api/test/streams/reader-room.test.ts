import { streamLimits } from '@pm/schemas';
import { ReaderRoom, readerBounds } from '../../src/streams/protocol/reader-room.ts';
import { condition, token } from '../in-memory.ts';
import { FamilyWorld, goodAuth } from './family-world.ts';
import { StreamClient } from './stream-client.ts';
import { StreamWorld } from './stream-world.ts';

const connectionBytes = 24 * 1024;
const subscriptionBytes = 256;

test('the bounds are shares of the largest heap, and queues have an upper one', () => {
  const mebibyte = 1024 * 1024;
  expect(readerBounds(240 * mebibyte)).toEqual({
    roomBytes: 120 * mebibyte,
    queuesBytes: 60 * mebibyte,
  });
  expect(readerBounds(8_192 * mebibyte).queuesBytes).toBe(512 * mebibyte);
});

test('a share grows as far as there is room, shrinks always, and gives all back', () => {
  const room = new ReaderRoom(10 * subscriptionBytes);
  const [one, other] = [room.share(), room.share()];
  expect(one.resize(8)).toBe(true);
  expect(other.resize(3)).toBe(false);
  expect(other.resize(2)).toBe(true);
  expect(one.resize(9)).toBe(false);
  expect(one.resize(7)).toBe(true);
  expect(other.resize(3)).toBe(true);
  one.resize(0);
  other.resize(0);
  expect(room.bytes).toBe(0);
});

describe('of /v1/stream', () => {
  let world: StreamWorld;
  afterEach(() => world.close());

  test('a connection that has no room is closed with 4029, until one has left', async () => {
    world = await new StreamWorld(undefined, connectionBytes).start();
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
    world = await new StreamWorld(undefined, connectionBytes + 2 * subscriptionBytes).start();
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
});

describe('of the streams of the family', () => {
  let world: FamilyWorld;
  afterEach(() => world.close());

  const refusal = '{"error":"the service has no room for more subscriptions"}';

  test.each([
    ['/ws/market', { type: 'market', assets_ids: [token(1, 0), token(1, 1), token(2, 0)] }],
    ['/ws/user', { type: 'user', markets: [1, 2, 3].map(condition), auth: goodAuth }],
    [
      '/ws/live-data',
      { action: 'subscribe', subscriptions: [{ topic: 'activity', type: 'trades' }] },
    ],
  ])('%s refuses what has no room, and gives all back at the end', async (path, frame) => {
    const roomBytes = connectionBytes + 2 * subscriptionBytes;
    world = await new FamilyWorld(undefined, roomBytes).start();
    const client = await world.open(path);
    client.send(frame);
    expect(await client.text()).toBe(refusal);
    client.socket.terminate();
    while (world.room.bytes > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(world.hub.connections).toBe(0);
  });
});
