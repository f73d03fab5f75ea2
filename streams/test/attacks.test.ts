import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { streamLimits } from '@pm/schemas/streams/limits';
import { apiKey, condition, token, wallet } from '../../query-api/test/in-memory.ts';
import { rules } from './fake-feed.ts';
import { FamilyWorld, goodAuth } from './family-world.ts';
import { ScriptedSocket } from './scripted-socket.ts';
import { SendingClient } from './sending-client.ts';
import { StreamClient } from './stream-client.ts';
import { goodHeaders, StreamWorld } from './stream-world.ts';

let world: StreamWorld | FamilyWorld;
afterEach(() => world.close());

async function opened(queueBytes?: number): Promise<StreamWorld> {
  const made = await new StreamWorld(queueBytes).start();
  world = made;
  return made;
}

const yes = token(1, 0);
const level = (price: number) => ({ side: 'BUY', price, sizeMicro: 1_000_000 }) as const;
const book = (id: number, from?: object) => ({
  op: 'subscribe',
  id,
  channel: 'book',
  tokens: [yes],
  ...(from === undefined ? {} : { from }),
});

describe('what is said', () => {
  test('a position of another log is void, also where its number exists', async () => {
    const { feed, ...made } = await opened();
    for (let price = 1; price <= 5; price += 1) feed.setLevels(1, [level(price)]);
    const client = await (world as StreamWorld).open();
    client.send(book(1, { seq: 3, epoch: feed.epoch }));
    expect(await client.of('delta')).toMatchObject({ seq: 4, prev: 3 });
    feed.epoch = 'aaaaaaaaaaaaaaaa';
    client.send(book(2, { seq: 3, epoch: '9f2b6d4c81e7a053' }));
    expect(await client.of('snapshot')).toMatchObject({ seq: 5, gap: true });
    expect(made.closes).toEqual([]);
  });

  test('a log that starts over gives no positions to resume from', async () => {
    const own = await opened();
    own.feed.setLevels(1, [level(1)]);
    const client = await own.open();
    client.send(book(1));
    await client.of('snapshot');
    own.feed.reset();
    expect(await client.of('closing')).toMatchObject({ code: 4010, resume: [] });
  });

  test('a state after a place in the log stands for all that the client may have missed', async () => {
    const own = await opened();
    const best = { channel: 'best', market: 1, ask: 0, askSizeMicro: 0, bidSizeMicro: 1 } as const;
    for (let price = 1; price <= 3; price += 1) own.feed.put({ ...best, bid: price });
    const change = own.feed.replay({ channel: 'best', market: 1, from: { seq: 2 } });
    own.feed.replay = () => change;
    const client = await own.open();
    const from = { partition: 0, offset: 0 };
    client.send({ op: 'subscribe', id: 1, channel: 'best', tokens: [yes], from });
    expect(await client.of('delta')).toMatchObject({ seq: 3, prev: 0, merged: true });
  });

  test('a resume with nothing missed is live at its own number', async () => {
    const own = await opened();
    own.feed.setLevels(1, [level(1)]);
    const client = await own.open();
    client.send(book(1, { partition: 0, offset: 0 }));
    await client.of('subscribed');
    const beat = await client.next(
      ({ type, subscriptions }) =>
        type === 'heartbeat' && JSON.stringify(subscriptions).includes('"seq":1'),
    );
    expect(beat['subscriptions']).toEqual([{ channel: 'book', key: yes, seq: 1 }]);
  });

  test('comments after the newest of an event, but in the topic, are no position ahead', async () => {
    const own = await opened();
    const event = {
      kind: 'CommentPosted',
      author: Buffer.alloc(20, 1),
      parentType: 'EVENT',
    } as const;
    const text = { replyTo: '', replyAddress: null, body: 'x', clientId: '', timeMs: 1 };
    for (let offset = 0; offset < 5; offset += 1)
      own.comments.apply(offset, { ...event, ...text, parentId: offset === 0 ? '1' : '2' });
    const client = await own.open();
    const frame = { op: 'subscribe', channel: 'comments', events: ['1'] };
    client.send({ ...frame, id: 1, from: { seq: 4 } });
    expect(await client.of('subscribed')).toMatchObject({ keys: [{ key: '1', seq: 4 }] });
    client.send({ ...frame, id: 2, from: { seq: 6 } });
    expect(await client.of('error')).toMatchObject({ id: 2, code: 'position_ahead' });
  });
});

describe('memory and processor', () => {
  test('resumes of a reader that reads nothing stop after few pages, however often they are asked', async () => {
    const own = await opened(200_000);
    for (let record = 0; record < 5_000; record += 1)
      own.feed.setLevels(1, [level((record % 9_000) + 1)]);
    let pages = 0;
    own.feed.pageGate = async () => {
      pages += 1;
    };
    const socket = new ScriptedSocket();
    own.hub.add(socket.asSocket, 'address');
    socket.stall();
    for (let round = 0; round < 500; round += 1) {
      socket.receive(book(round, { seq: 0 }));
      own.aheadMs += 55;
      await setImmediate();
    }
    expect(own.closes).toEqual([]);
    expect(own.places.taken).toBeLessThanOrEqual(streamLimits.resumes_per_connection);
    // The answers wait; of the pages no more than a quarter of the queue.
    expect(own.queued.bytes).toBeLessThan(500 * 1_000);
    // One page of each, not all fifty.
    expect(pages).toBeLessThan(2 * 500);
  });

  test('a resume whose answer ends the connection holds no place', async () => {
    const own = await opened(20_000);
    own.feed.setLevels(1, [level(1)]);
    own.feed.pageGate = () => new Promise(() => {});
    const client = new SendingClient(false);
    own.hub.add(client.asSocket, 'address');
    for (let id = 0; client.closed === null && id < 5_000; id += 1) {
      client.receive(book(id, { seq: 0 }));
      own.aheadMs += 55;
      await setImmediate();
    }
    expect(client.closed).toBe(4008);
    await wait(50);
    expect([own.places.taken, own.places.waiting]).toEqual([0, 0]);
  });

  test('a process with too much waiting closes those with much, and nobody else', async () => {
    const own = await opened();
    const [slow, fast] = [new ScriptedSocket(), new ScriptedSocket()];
    for (const socket of [slow, fast]) {
      own.hub.add(socket.asSocket, 'address');
      socket.receive(book(2));
    }
    slow.stall();
    // As if others had filled the memory.
    own.queued.bytes += 2 ** 40;
    for (let record = 0; own.closes.length === 0 && record < 2_000; record += 1) {
      const levels = Array.from({ length: 90 }, (_, at) => level(((record * 90 + at) % 9_999) + 1));
      own.feed.setLevels(1, levels);
    }
    own.queued.bytes -= 2 ** 40;
    expect(own.closes).toEqual(['slowReader']);
    expect([slow.closed, fast.closed]).toEqual([4008, null]);
  });

  test('pings count as frames', async () => {
    const own = await opened();
    const client = await own.open();
    let pongs = 0;
    client.socket.on('pong', () => {
      pongs += 1;
    });
    for (let sent = 0; sent < 500; sent += 1) client.socket.ping();
    expect(await client.ended()).toBe(1008);
    expect(pongs).toBeLessThanOrEqual(2 * streamLimits.frames_per_second + 3);
  });

  test('a refused connection is cut off, whether it answers the close or not', async () => {
    const own = await opened();
    for (let count = 0; count < streamLimits.connections_per_address; count += 1)
      own.counts.open('192.0.2.1', count * 1_000);
    const refused = await StreamClient.open(own.url, { 'x-forwarded-for': '192.0.2.1' });
    refused.socket.pause();
    await wait(1_500);
    refused.socket.resume();
    expect([1006, 4029]).toContain(await refused.ended());
  });

  test('what is no address in the header of a proxy is not counted as one', async () => {
    const own = await opened();
    await own.open({ 'x-forwarded-for': `x${'y'.repeat(5_000)}` });
    await own.open({ 'x-forwarded-for': 'unknown' });
    expect([own.hub.connections, own.counts.addresses]).toEqual([2, 1]);
  });

  test('readers of all markets share one list of rules, until one changes', async () => {
    const own = await opened();
    const snapshot = own.feed.snapshot.bind(own.feed);
    let reads = 0;
    own.feed.snapshot = (channel, market) => {
      reads += 1;
      return snapshot(channel, market);
    };
    const client = await own.open();
    for (let id = 1; id <= 10; id += 1) client.send({ op: 'subscribe', id, channel: 'markets' });
    for (let id = 1; id <= 10; id += 1) await client.of('subscribed');
    expect(reads).toBe(3);
    own.feed.put({ channel: 'markets', market: 2, action: 'changed', rules });
    client.send({ op: 'subscribe', id: 11, channel: 'markets' });
    expect(await client.of('subscribed')).toMatchObject({ keys: [{ seq: 1 }] });
    expect(reads).toBe(6);
  });
});

describe('what belongs to others', () => {
  test("a contract wallet that is the caller's no more ends the connections that read it", async () => {
    const family = await new FamilyWorld().start();
    world = family;
    const client = await family.open('/ws/user');
    client.send({ type: 'user', auth: goodAuth });
    await client.settled();
    family.wallets = [wallet(1)];
    expect(await client.ended()).toBe(1008);
    expect(family.closes).toEqual(['notAuthorized']);
  });

  test('own orders of others need their key: neither names nor repeated headers help', async () => {
    const own = await opened();
    const client = await own.open();
    const forged = [
      { SERVICE_SIGNATURE: 'bad', service_address: wallet(2) },
      { service_signature: 'bad' },
    ];
    for (const [id, headers] of forged.entries()) {
      client.send({ op: 'auth', id, headers });
      await own.proofTimePasses();
      expect(await client.of('error')).toMatchObject({ code: 'unauthorized' });
    }
    const other = await own.open();
    other.send({ op: 'auth', id: 1, headers: { ...goodHeaders, SERVICE_ADDRESS: wallet(2) } });
    expect(await other.of('authenticated')).toMatchObject({ wallet: wallet(1) });
    for (const keys of [{ tokens: [yes] }, { markets: [condition(1)] }, { events: ['1'] }]) {
      other.send({ op: 'subscribe', id: 2, channel: 'own', ...keys });
      expect(await other.of('error')).toMatchObject({ code: 'wrong_keys' });
      if (other.closed !== null) break;
    }
    expect(apiKey(1)).toBe(goodAuth.apikey);
  });

  test('a name of a resting order tells nothing of its id, and is the same in every process', async () => {
    const names: unknown[] = [];
    const orderId = Buffer.alloc(32, 7);
    const resting = { side: 'BUY', price: 1, restingMicro: 1 } as const;
    for (let process = 0; process < 2; process += 1) {
      const own = await opened();
      own.feed.orders = [{ orderId, ...resting }];
      const client = await own.open();
      client.send({ op: 'subscribe', id: 1, channel: 'orders', markets: [condition(1)] });
      const [first] = (await client.of('snapshot'))['orders'] as readonly { order: string }[];
      names.push(first?.order);
      await own.close();
    }
    expect(names[0]).toMatch(/^[0-9a-f]{16}$/);
    expect(names[1]).toBe(names[0]);
    expect(orderId.toString('hex')).not.toContain(String(names[0]));
  });
});
