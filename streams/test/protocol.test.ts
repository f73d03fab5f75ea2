import { createHash } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { bookAnswerOf, bookJson } from '@pm/schemas/http/book-hash';
import { streamLimits } from '@pm/schemas/streams/limits';
import { condition, token, wallet } from '../../query-api/test/in-memory.ts';
import { rules } from './fake-feed.ts';
import { fillOf } from './fills.ts';
import { StreamClient } from './stream-client.ts';
import { goodHeaders, StreamWorld } from './stream-world.ts';

let world: StreamWorld;

beforeEach(async () => {
  world = await new StreamWorld().start();
});
afterEach(() => world.close());

const [yes, no] = [token(1, 0), token(1, 1)];
const bid = (price: number, sizeMicro: number) => ({ side: 'BUY', price, sizeMicro }) as const;
const subscribe = (changes: object = {}) => ({
  op: 'subscribe',
  id: 1,
  channel: 'book',
  tokens: [yes],
  ...changes,
});

test('a subscription begins with a snapshot and goes on with deltas, for both tokens', async () => {
  world.feed.setLevels(1, [bid(4_000, 2_000_000)]);
  const client = await world.open();
  client.send(subscribe({ tokens: [yes, no] }));
  expect(await client.of('subscribed')).toMatchObject({
    keys: [
      { key: yes, seq: 1 },
      { key: no, seq: 1 },
    ],
  });
  const first = await client.of('snapshot');
  expect(first).toMatchObject({
    token: yes,
    seq: 1,
    bids: [{ price: '0.4', size: '2' }],
    asks: [],
  });
  expect(await client.of('snapshot')).toMatchObject({
    token: no,
    asks: [{ price: '0.6', size: '2' }],
  });
  world.feed.setLevels(1, [bid(4_000, 0), bid(4_100, 1_000_000)]);
  expect(await client.next(({ token: of, type }) => type === 'delta' && of === yes)).toMatchObject({
    seq: 2,
    prev: 1,
    at: { partition: 0, offset: 1, index: 0 },
    levels: [
      { side: 'BUY', price: '0.4', size: '0' },
      { side: 'BUY', price: '0.41', size: '1' },
    ],
  });
  expect(await client.next(({ token: of, type }) => type === 'delta' && of === no)).toMatchObject({
    levels: [
      { side: 'SELL', price: '0.6', size: '0' },
      { side: 'SELL', price: '0.59', size: '1' },
    ],
  });
});

test('every public channel of a market sends its snapshot and its changes in declared forms', async () => {
  const client = await world.open();
  const markets = [condition(1)];
  client.send(subscribe({ id: 1, channel: 'best' }));
  for (const [id, channel] of ['orders', 'trades', 'markets', 'activity'].entries()) {
    client.send({ op: 'subscribe', id: id + 2, channel, markets });
  }
  for (const channel of ['best', 'orders', 'trades', 'markets', 'activity']) {
    await client.next((seen) => seen.type === 'snapshot' && seen['channel'] === channel);
  }
  const order = {
    orderId: Buffer.alloc(32, 7),
    side: 'BUY',
    price: 4_000,
    restingMicro: 5,
  } as const;
  const fill = fillOf();
  world.feed.put(
    { channel: 'best', market: 1, bid: 4_000, ask: 0, bidSizeMicro: 5, askSizeMicro: 0 },
    { channel: 'orders', market: 1, action: 'add', order },
    { channel: 'orders', market: 1, action: 'remove', order },
    { channel: 'trades', market: 1, fill },
    { channel: 'markets', market: 1, action: 'changed', rules },
    { channel: 'activity', market: 1, wallet: wallet(2), source: fill, role: 'maker' },
  );
  const of = (channel: string) =>
    client.next((seen) => seen['channel'] === channel && seen['seq'] === 1);
  expect(await of('best')).toMatchObject({ bid: { price: '0.4' }, ask: null });
  expect(await of('orders')).toMatchObject({ action: 'add', size: '0.000005' });
  expect(await of('trades')).toMatchObject({ id: '0-0-3', price: '0.4', size: '2' });
  expect(await of('markets')).toMatchObject({
    action: 'changed',
    tokens: [yes, no],
    payouts: null,
  });
  expect(await of('activity')).toMatchObject({ activity: { type: 'TRADE', usdcSize: 0.8 } });
});

test('a resumed subscription sends what was missed and what came meanwhile, each once', async () => {
  for (let price = 1; price <= 250; price += 1) world.feed.setLevels(1, [bid(price, 1_000_000)]);
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  world.feed.pageGate = () => gate;
  const client = await world.open();
  client.send(subscribe({ from: { seq: 100 } }));
  await client.of('subscribed');
  const listed = { channel: 'book', key: yes };
  // Until the messages are sent, its newest number says nothing of how old it is.
  const waits = { subscriptions: [{ ...listed, seq: 100, waiting: true }] };
  const found = await client.next(({ subscriptions }) => String(subscriptions ?? '') !== '');
  expect(found).toMatchObject(waits);
  for (let price = 251; price <= 260; price += 1) world.feed.setLevels(1, [bid(price, 1_000_000)]);
  release();
  for (let seq = 101; seq <= 260; seq += 1) {
    const next = await client.next(({ type }) => type === 'delta' || type === 'snapshot');
    expect(next).toMatchObject({ type: 'delta', seq, prev: seq - 1 });
  }
  const whole = JSON.stringify([{ ...listed, seq: 260 }]);
  await client.next(({ subscriptions }) => JSON.stringify(subscriptions) === whole);
});

test('a position in the log resumes after its record', async () => {
  for (let price = 1; price <= 5; price += 1) world.feed.setLevels(1, [bid(price, 1_000_000)]);
  const client = await world.open();
  client.send(subscribe({ from: { partition: 0, offset: 2 } }));
  expect(await client.of('delta')).toMatchObject({ seq: 4 });
  client.send(subscribe({ id: 2, from: { partition: 7, offset: 2 } }));
  expect(await client.of('error')).toMatchObject({ id: 2, code: 'invalid_frame' });
});

test('a position too far back gets a snapshot that says so; one ahead of the log an error', async () => {
  for (let price = 1; price <= 5; price += 1) world.feed.setLevels(1, [bid(price, 1_000_000)]);
  world.feed.replayMax = 2;
  const client = await world.open();
  client.send(subscribe({ from: { seq: 1 } }));
  expect(await client.of('snapshot')).toMatchObject({ seq: 5, gap: true });
  client.send(subscribe({ id: 2, from: { seq: 6 } }));
  expect(await client.of('error')).toMatchObject({
    id: 2,
    code: 'position_ahead',
    retryable: true,
  });
  world.feed.setLevels(1, [bid(9, 1_000_000)]);
  expect(await client.of('delta')).toMatchObject({ seq: 6 });
});

test('a resumed best price stands for all that were missed', async () => {
  const best = { channel: 'best', market: 1, ask: 0, askSizeMicro: 0, bidSizeMicro: 1 } as const;
  for (let price = 1; price <= 3; price += 1) world.feed.put({ ...best, bid: price });
  world.feed.replay = () => ({
    toSeq: 3,
    pages: (async function* () {
      yield [{ ...best, bid: 3, seq: 3, at: { partition: 0, offset: 2, index: 0, timeMs: 1 } }];
    })(),
  });
  const client = await world.open();
  client.send(subscribe({ channel: 'best', from: { seq: 1 } }));
  expect(await client.of('delta')).toMatchObject({ seq: 3, prev: 1, merged: true });
});

test('heartbeats name every subscription with its newest message', async () => {
  const client = await world.open();
  client.send(subscribe());
  await client.of('snapshot');
  world.feed.setLevels(1, [bid(1, 1_000_000)]);
  await client.of('delta');
  const beat = await client.next(
    ({ type, subscriptions }) => type === 'heartbeat' && JSON.stringify(subscriptions) !== '[]',
  );
  expect(beat).toMatchObject({ lag_ms: 0, partitions: [{ partition: 0, lag_ms: 0 }] });
  const last = await client.next(
    ({ type, subscriptions }) =>
      type === 'heartbeat' && JSON.stringify(subscriptions).includes(':1'),
  );
  expect(last['subscriptions']).toEqual([{ channel: 'book', key: yes, seq: 1 }]);
});

test('a checksum is the hash of the book over HTTP: on request and after every hundredth delta', async () => {
  const client = await world.open();
  client.send(subscribe());
  await client.of('snapshot');
  for (let price = 1; price <= 100; price += 1) world.feed.setLevels(1, [bid(price, 1_000_000)]);
  const checksum = await client.of('checksum');
  const levels = Array.from({ length: 100 }, (_, index) => ({
    price: index + 1,
    sizeMicro: 1_000_000,
  }));
  const facts = { negRisk: false, timeMs: 1, tick: 100, minSizeMicro: 5_000_000 };
  const pair = { market: condition(1), tokens: [yes, no], lasts: [null, null], ...facts } as const;
  const sha1 = (text: string) => createHash('sha1').update(text).digest('hex');
  const { hash } = JSON.parse(
    bookJson(bookAnswerOf(pair, 0, { bids: levels, asks: [] }), sha1),
  ) as {
    hash: string;
  };
  expect(checksum).toMatchObject({ seq: 100, hash });
  client.send({ op: 'checksum', id: 9, tokens: [yes] });
  expect(await client.of('checksum')).toMatchObject({ seq: 100, hash });
  client.send({ op: 'checksum', id: 10, tokens: [no] });
  expect(await client.of('error')).toMatchObject({ id: 10, code: 'not_subscribed' });
});

test('nothing follows the end of a subscription', async () => {
  const client = await world.open();
  client.send(subscribe({ tokens: [yes, no] }));
  await client.of('subscribed');
  client.send({ op: 'unsubscribe', id: 2, channel: 'book', tokens: [yes] });
  expect(await client.of('unsubscribed')).toMatchObject({ id: 2, keys: [{ key: yes, seq: 0 }] });
  world.feed.setLevels(1, [bid(1, 1_000_000)]);
  expect(await client.of('delta')).toMatchObject({ token: no });
  client.send({ op: 'ping', id: 3 });
  await client.of('pong');
  expect(client.seen.some(({ type }) => type === 'delta')).toBe(false);
});

const wrong: readonly (readonly [string, object | string, string])[] = [
  ['text that is no JSON', '{', 'not_json'],
  ['an array', '[]', 'not_json'],
  ['an unknown op', { op: 'order', id: 1 }, 'unknown_op'],
  ['a missing id', { op: 'checksum', tokens: [yes] }, 'invalid_frame'],
  ['an unknown field', { op: 'checksum', id: 1, tokens: [yes], more: 1 }, 'invalid_frame'],
  ['an unknown channel', subscribe({ channel: 'tape' }), 'unknown_channel'],
  [
    'markets for a channel of tokens',
    subscribe({ tokens: undefined, markets: [condition(1)] }),
    'wrong_keys',
  ],
  ['no keys', subscribe({ tokens: undefined }), 'wrong_keys'],
  ['a token that is not listed', subscribe({ tokens: ['77'] }), 'unknown_key'],
  [
    'two keys with a position',
    subscribe({ tokens: [yes, no], from: { seq: 0 } }),
    'one_key_to_resume',
  ],
  ['own without a key', { op: 'subscribe', id: 1, channel: 'own' }, 'not_authenticated'],
  ['headers that prove nothing', { op: 'auth', id: 1, headers: {} }, 'unauthorized'],
];

test.each(wrong)('%s gets an error frame', async (_what, frame, code) => {
  const client = await world.open();
  client.send(frame);
  if (code === 'unauthorized') await world.proofTimePasses();
  expect(await client.of('error')).toMatchObject({ code });
});

test.each<[text: string, id: number | null]>([
  ['{"op":"ping","id":7}', 7],
  ['{"type":"ping","id":8}', 8],
  ['{"type":"ping"}', null],
  ['{"op":"ping"}', null],
  ['PING', null],
])('the ping %s is answered and is no wrong frame', async (text, id) => {
  const client = await world.open();
  for (let count = 0; count < 4; count += 1) client.send(text);
  expect(await client.of('pong')).toMatchObject({ id });
  expect(client.seen.some(({ type }) => type === 'error')).toBe(false);
});

test('a key that the service reads a moment after its proof is proven', async () => {
  const client = await world.open();
  world.isKeyKnown = false;
  client.send({ op: 'auth', id: 1, headers: goodHeaders });
  client.send({ op: 'auth', id: 2, headers: goodHeaders });
  expect(await client.of('error')).toMatchObject({ id: 2, code: 'already_authenticated' });
  world.isKeyKnown = true;
  expect(await client.of('authenticated')).toMatchObject({ id: 1 });
});

test('a connection that ends while its proof is tried again is not proven', async () => {
  const client = await world.open();
  world.isKeyKnown = false;
  client.send({ op: 'auth', id: 1, headers: goodHeaders, cancel_on_disconnect: true });
  client.send({ op: 'auth', id: 2, headers: goodHeaders });
  await client.of('error');
  client.socket.terminate();
  await client.ended();
  world.isKeyKnown = true;
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(world.held).toBe(0);
});

test('three wrong frames close the connection with 1008', async () => {
  const client = await world.open();
  for (let count = 0; count < 3; count += 1) client.send('{');
  expect(await client.of('closing')).toMatchObject({ code: 1008, resume: [] });
  expect(await client.ended()).toBe(1008);
});

test('a binary frame is wrong, and one that is too large closes with 1009', async () => {
  const client = await world.open();
  client.socket.send(Buffer.from('{"op":"ping","id":1}'), { binary: true });
  expect(await client.of('error')).toMatchObject({ code: 'not_json' });
  client.send(`"${'x'.repeat(streamLimits.frame_bytes)}"`);
  expect(await client.ended()).toBe(1009);
});

test('more frames a second than allowed are refused, then close', async () => {
  const client = await world.open();
  // A few at a time: answers that wait for their client are bounded, too.
  const error = async () => {
    for (let id = 0; ; id += 1) {
      client.send({ op: 'ping', id });
      if (id % 16 !== 0) continue;
      const seen = await client.next(({ type, id: of }) => type === 'error' || of === id);
      if (seen.type === 'error') return seen;
    }
  };
  expect(await error()).toMatchObject({ code: 'too_many_frames', retryable: true });
  for (let id = 0; id < streamLimits.frames_per_second; id += 1) client.send({ op: 'ping', id });
  expect(await client.ended()).toBe(1008);
});

test('a connection without a subscription is closed after its time', async () => {
  const client = await world.open();
  world.aheadMs = streamLimits.unsubscribed_seconds * 1_000;
  expect(await client.ended()).toBe(1008);
  expect(world.closes).toEqual(['unsubscribed']);
});

test('connections of one address are limited; another address by a trusted proxy is not', async () => {
  const headers = { 'x-forwarded-for': '192.0.2.1' };
  for (let count = 0; count < streamLimits.connections_per_address; count += 1) {
    expect(world.counts.open('192.0.2.1', count * 1_000)).toBe(true);
  }
  const refused = await StreamClient.open(world.url, headers);
  expect(await refused.ended()).toBe(4029);
  expect(world.closes).toEqual(['tooManyConnections']);
  const other = await world.open({ 'x-forwarded-for': '192.0.2.2' });
  other.send({ op: 'ping', id: 1 });
  await other.of('pong');
});

test('the heartbeat says of each partition whether its data is live', async () => {
  const reader = await world.open();
  const beat = async (live: boolean) =>
    await reader.next(
      ({ type, partitions }) =>
        type === 'heartbeat' && (partitions as { live: boolean }[])[0]?.live === live,
    );
  await beat(true);
  world.feed.isLive = false;
  await beat(false);
});

describe('with the turns of heartbeats at will', () => {
  /** Runs turns of the heartbeat timer; an interval has a hundred turns. */
  const turns = (count: number) => {
    for (let turn = 0; turn < count; turn += 1) {
      world.aheadMs += 1;
      jest.advanceTimersByTime(1);
    }
  };

  beforeEach(async () => {
    const others = ['setTimeout', 'setImmediate', 'nextTick', 'queueMicrotask', 'performance'];
    const doNotFake = [...others, 'Date', 'hrtime', 'clearTimeout', 'clearImmediate'];
    jest.useFakeTimers({ doNotFake: doNotFake as 'Date'[] });
    await world.close();
    world = await new StreamWorld().start();
  });
  afterEach(() => jest.useRealTimers());

  test('a partition that stops is reported out of turn, and again when it goes on', async () => {
    const reader = await world.open();
    for (const live of [false, true]) {
      // The reader has had its turn in this interval.
      turns(100);
      world.feed.isLive = live;
      turns(25);
      await reader.next(
        ({ type, partitions }) =>
          type === 'heartbeat' && (partitions as { live: boolean }[])[0]?.live === live,
      );
    }
  });
});

test('a log that cannot be followed is reported, and after 5 s its readers are closed with positions', async () => {
  world.feed.setLevels(1, [bid(1, 1_000_000)]);
  const [reader, other] = [await world.open(), await world.open()];
  reader.send(subscribe());
  await reader.of('snapshot');
  world.feed.faultMs = 4_000;
  expect(
    await other.next(({ type, lag_ms }) => type === 'heartbeat' && lag_ms !== 0),
  ).toMatchObject({
    lag_ms: 4_000,
  });
  world.feed.faultMs = 5_000;
  expect(await reader.of('closing')).toMatchObject({
    code: 4010,
    resume: [{ channel: 'book', key: yes, seq: 1 }],
  });
  expect(await reader.ended()).toBe(4010);
  expect(other.closed).toBeNull();
});

test('a log that is folded again closes its readers; a partition that is not ready is an error', async () => {
  const client = await world.open();
  client.send(subscribe());
  await client.of('snapshot');
  world.feed.reset();
  expect(await client.ended()).toBe(4010);
  world.feed.isCaughtUp = false;
  const next = await world.open();
  next.send(subscribe());
  expect(await next.of('error')).toMatchObject({ code: 'unavailable', retryable: true });
});

test('a shutdown closes with 1012 and the positions', async () => {
  world.feed.setLevels(1, [bid(1, 1_000_000)]);
  const client = await world.open();
  client.send(subscribe());
  await client.of('snapshot');
  world.hub.close();
  expect(await client.of('closing')).toMatchObject({ code: 1012, resume: [{ key: yes, seq: 1 }] });
  expect(await client.ended()).toBe(1012);
  expect(world.feed.listeners).toBe(0);
});

test('a process that stops accepts no connection, and its own go on until each is closed', async () => {
  const [first, second] = [await world.open(), await world.open()];
  for (const client of [first, second]) {
    client.send(subscribe());
    await client.of('snapshot');
  }
  world.listener.refuse();
  await expect(world.open()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  world.hub.leaving()[0]?.();
  expect(await first.ended()).toBe(1012);
  second.send({ op: 'unsubscribe', id: 2, channel: 'book', tokens: [yes] });
  await second.of('unsubscribed');
  world.hub.close();
  expect(await second.ended()).toBe(1012);
});

test('a key opens its own channel, which is resumed by partition and closed when it is revoked', async () => {
  const client = await world.open();
  client.send({ op: 'auth', id: 1, headers: goodHeaders, cancel_on_disconnect: true });
  await client.of('authenticated');
  expect(world.held).toBe(1);
  client.send({ op: 'subscribe', id: 2, channel: 'own' });
  expect(await client.of('subscribed')).toMatchObject({ keys: [{ partition: 0, seq: 0 }] });
  expect(await client.of('snapshot')).toMatchObject({ balance: { free: '5', held: '0' } });
  const own = { channel: 'own', wallet: wallet(1) } as const;
  world.feed.put({ ...own, change: { kind: 'balance', freeMicro: 1_000_000, heldMicro: -1 } });
  world.feed.put({ ...own, change: { kind: 'fill', fill: fillOf(), role: 'maker' } });
  world.feed.put({
    channel: 'own',
    wallet: wallet(2),
    change: { kind: 'balance', freeMicro: 1, heldMicro: 1 },
  });
  expect(await client.of('event')).toMatchObject({
    seq: 1,
    balance: { free: '1', held: '-0.000001' },
  });
  expect(await client.of('event')).toMatchObject({ seq: 2, role: 'MAKER', price: '0.4', fee: '0' });
  client.send({ op: 'subscribe', id: 3, channel: 'own', from: [{ seq: 1, partition: 0 }] });
  expect(await client.of('event')).toMatchObject({ seq: 2, kind: 'fill' });
  client.send({ op: 'auth', id: 4, headers: goodHeaders });
  expect(await client.of('error')).toMatchObject({ code: 'already_authenticated' });
  world.isKeyActive = false;
  expect(await client.ended()).toBe(1008);
  expect(world.held).toBe(0);
});

test('readers of all partitions are closed once one more is caught up, and have it when they come back', async () => {
  const [bookReader, markets, trader] = [
    await world.open(),
    await world.open(),
    await world.open(),
  ];
  bookReader.send(subscribe());
  await bookReader.of('snapshot');
  markets.send({ op: 'subscribe', id: 1, channel: 'markets' });
  await markets.of('subscribed');
  const subscribeOwn = async (client: StreamClient) => {
    client.send({ op: 'auth', id: 1, headers: goodHeaders });
    await client.of('authenticated');
    client.send({ op: 'subscribe', id: 2, channel: 'own' });
    return await client.of('subscribed');
  };
  world.feed.growth = 'begun';
  expect(await subscribeOwn(trader)).toMatchObject({ keys: [{ partition: 0 }] });
  world.feed.grow();
  expect(await trader.of('closing')).toMatchObject({ code: 1012, resume: [{ partition: 0 }] });
  expect([await trader.ended(), await markets.ended()]).toEqual([1012, 1012]);
  const keys = [{ partition: 0 }, { partition: 1 }];
  expect(await subscribeOwn(await world.open())).toMatchObject({ keys });
  expect(bookReader.closed).toBeNull();
});

test('requests without an upgrade get the channels as a document, or 426', async () => {
  const base = world.url.replace('ws:', 'http:');
  const description = (await (await fetch(base)).json()) as { channels: readonly object[] };
  expect(description.channels).toHaveLength(8);
  expect((await fetch(base.replace('/v1/stream', '/ws/market'))).status).toBe(426);
  expect((await fetch(base.replace('/v1/stream', '/book'))).status).toBe(404);
});

test('no response has a type that browsers guess, those to wrong handshakes included', async () => {
  const base = world.url.replace('ws:', 'http:');
  for (const path of ['/v1/stream', '/ws/market', '/book']) {
    const { headers } = await fetch(base.replace('/v1/stream', path));
    expect([path, headers.get('x-content-type-options')]).toEqual([path, 'nosniff']);
  }
  const wrong = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '7' };
  for (const path of ['/v1/stream', '/nowhere']) {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(base.replace('/v1/stream', path), { headers: wrong }, resolve).on('error', reject);
    });
    response.resume();
    expect([path, response.statusCode, response.headers]).toMatchObject([
      path,
      path === '/nowhere' ? 404 : 400,
      { 'x-content-type-options': 'nosniff', 'content-type': 'application/json; charset=utf-8' },
    ]);
  }
});

test('what is closed leaves nothing', async () => {
  const client = await world.open();
  client.send(subscribe());
  await client.of('snapshot');
  client.socket.terminate();
  const endMs = Date.now() + 5_000;
  while (world.hub.connections > 0 && Date.now() < endMs) await wait(10);
  expect(world.hub.connections).toBe(0);
  expect(world.counts.addresses).toBe(0);
  expect(world.closes).toEqual(['left']);
});
