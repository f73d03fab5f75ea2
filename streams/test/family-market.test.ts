import { setTimeout as wait } from 'node:timers/promises';
import { streamLimits } from '@pm/schemas/streams/limits';
import { condition, eventEntry, marketEntry, token } from '../../query-api/test/in-memory.ts';
import { rules } from './fake-feed.ts';
import { type FamilyClient, FamilyWorld } from './family-world.ts';
import { fillOf } from './fills.ts';

let world: FamilyWorld;
beforeEach(async () => {
  world = await new FamilyWorld().start();
});
afterEach(() => world.close());

const [yes, no] = [token(1, 0), token(1, 1)];
const bid = (price: number, shares: number) =>
  ({ side: 'BUY', price, sizeMicro: shares * 1_000_000 }) as const;

async function reader(frame: object = {}): Promise<FamilyClient> {
  const client = await world.open('/ws/market');
  client.send({ type: 'market', assets_ids: [yes, no], ...frame });
  return client;
}

test('a subscription begins with the book of each token, in the form of GET /book', async () => {
  world.feed.setLevels(1, [bid(4_000, 2), bid(3_900, 1)]);
  const client = await reader();
  expect(await client.of('book')).toMatchObject({
    market: condition(1),
    asset_id: yes,
    bids: [
      { price: '0.39', size: '1' },
      { price: '0.4', size: '2' },
    ],
    asks: [],
    hash: expect.stringMatching(/^[0-9a-f]{40}$/),
    tick_size: '0.01',
    neg_risk: false,
    last_trade_price: '',
    sequence: 1,
  });
  expect(await client.of('book')).toMatchObject({ asset_id: no, sequence: 2 });
});

test.each([
  ['with a type', { type: 'market', assets_ids: [yes] }],
  ['with an upper-case type', { type: 'MARKET', assets_ids: [yes] }],
  ['with an operation', { operation: 'subscribe', assets_ids: [yes] }],
  [
    'with both',
    { type: 'market', operation: 'subscribe', markets: [], assets_ids: [yes], level: 2 },
  ],
  [
    'with a condition',
    { type: 'market', markets: [condition(1).toUpperCase().replace('0X', '0x')] },
  ],
  ['with fields of its own', { type: 'market', assets_ids: [yes], auth: null, level: 'x', a: [1] }],
])('takes a subscribe frame %s, under both prefixes', async (_, frame) => {
  for (const path of ['/ws/market', '/ws/market/', '/clob/ws/market', '/clob/ws/market/']) {
    const client = await world.open(path);
    client.send(frame);
    expect(await client.of('book')).toMatchObject({ asset_id: yes });
  }
});

test('sends no book where none is wanted, nor for what is subscribed', async () => {
  const client = await reader({ initial_dump: false });
  client.send({ operation: 'subscribe', assets_ids: [yes, no] });
  expect(await client.settled()).toEqual([]);
  world.feed.setLevels(1, [bid(4_000, 2)]);
  expect(await client.of('price_change')).toMatchObject({ sequence: 1 });
});

test('answers PING in any case with PONG', async () => {
  const client = await reader({ assets_ids: [] });
  for (const text of ['PING', 'ping', 'Ping\n']) {
    client.send(text);
    expect(await client.text()).toBe('PONG');
  }
});

test.each(['"ping"', '{"type":"ping"}', '{"op":"PING","id":7}', '{"action":"ping"}'])(
  'answers the ping %s, and does not count it as wrong',
  async (text) => {
    const client = await reader({ assets_ids: [] });
    for (let times = 0; times < 15; times += 1) {
      client.send(text);
      expect(await client.text()).toBe('PONG');
    }
  },
);

test('one frame has room for as many tokens as a connection may subscribe to', () => {
  const longest = `${2n ** 256n - 1n}`;
  const assets_ids = Array(streamLimits.subscriptions_per_connection).fill(longest);
  const frame = { type: 'market', assets_ids, markets: [], custom_feature_enabled: true };
  expect(JSON.stringify(frame).length).toBeLessThan(streamLimits.frame_bytes);
});

test('a change of levels is one message with both tokens, their hashes and best prices', async () => {
  const client = await reader({ initial_dump: false });
  await client.settled();
  world.feed.put(
    { channel: 'book', market: 1, levels: [bid(4_000, 2), bid(3_900, 0)] },
    { channel: 'best', market: 1, bid: 4_000, ask: 0, bidSizeMicro: 2_000_000, askSizeMicro: 0 },
  );
  const hash = expect.stringMatching(/^[0-9a-f]{40}$/);
  const seen = await client.settled();
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({
    event_type: 'price_change',
    market: condition(1),
    timestamp: '1780315200000',
    price_changes: [
      { asset_id: yes, price: '0.4', size: '2', side: 'BUY', hash, best_bid: '0.4', best_ask: '1' },
      { asset_id: no, price: '0.6', size: '2', side: 'SELL', hash, best_bid: '0', best_ask: '0.6' },
      { asset_id: yes, price: '0.39', size: '0', side: 'BUY' },
      { asset_id: no, price: '0.61', size: '0', side: 'SELL' },
    ],
  });
});

test('a trade is a last trade of each token that it trades, and the whole book of each', async () => {
  const client = await reader({ initial_dump: false });
  await client.settled();
  const fill = fillOf({ match: 'MINT', makerOutcome: 1, makerSide: 'BUY', makerPrice: 6_000 });
  world.feed.put(
    { channel: 'book', market: 1, levels: [bid(4_000, 1)] },
    { channel: 'trades', market: 1, fill },
  );
  const seen = await client.settled();
  expect(seen.map((one) => [one['event_type'], one['asset_id']])).toEqual([
    ['price_change', undefined],
    ['last_trade_price', yes],
    ['last_trade_price', no],
    ['book', yes],
    ['book', no],
  ]);
  expect(seen[1]).toMatchObject({ price: '0.4', size: '2', side: 'BUY', fee_rate_bps: '441' });
  expect(seen[2]).toMatchObject({
    price: '0.6',
    side: 'SELL',
    transaction_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  });
});

test('a changed tick, and with custom features new best prices, markets and resolutions', async () => {
  const plain = await reader({ initial_dump: false });
  const custom = await reader({ initial_dump: false, custom_feature_enabled: true });
  await Promise.all([plain.settled(), custom.settled()]);
  const change = { channel: 'markets', market: 1, action: 'changed' } as const;
  world.feed.put({ ...change, rules: { ...rules, tick: 10 } });
  const best = { channel: 'best', market: 1, bid: 4_000, ask: 4_200, askSizeMicro: 1 } as const;
  world.feed.put({ ...best, bidSizeMicro: 1 });
  world.feed.put({ ...best, bidSizeMicro: 2 });
  world.feed.put({ ...change, action: 'resolved', rules: { ...rules, tick: 10, payout0: 0 } });
  const ticks = { event_type: 'tick_size_change', old_tick_size: '0.01', new_tick_size: '0.001' };
  const first = [
    { ...ticks, asset_id: yes },
    { ...ticks, asset_id: no },
  ];
  expect(await plain.settled()).toMatchObject(first);
  expect(await custom.settled()).toMatchObject([
    ...first,
    {
      event_type: 'best_bid_ask',
      asset_id: yes,
      best_bid: '0.4',
      best_ask: '0.42',
      spread: '0.02',
    },
    { event_type: 'best_bid_ask', asset_id: no, best_bid: '0.58', best_ask: '0.6', spread: '0.02' },
    { event_type: 'market_resolved', id: '1', winning_asset_id: no, winning_outcome: 'No' },
  ]);
  world.feed.put({ channel: 'markets', market: 4, action: 'listed', rules });
  expect(await custom.settled()).toEqual([]);
  // The catalog comes on a topic of its own.
  world.catalog.apply(eventEntry('2'));
  world.catalog.apply(marketEntry(4, { eventId: '2' }));
  expect(await custom.of('new_market')).toMatchObject({
    id: '4',
    question: 'Question 4?',
    market: condition(4),
    slug: 'market-4',
    assets_ids: [token(4, 0), token(4, 1)],
    outcomes: ['Yes', 'No'],
    event_message: { id: '2', slug: 'event-2', title: 'Event 2' },
  });
  expect(await plain.settled()).toEqual([]);
});

test('only the token that is read, and nothing after the end of it', async () => {
  const client = await reader({ assets_ids: [no] });
  await client.of('book');
  world.feed.put({ channel: 'trades', market: 1, fill: fillOf() });
  expect(await client.settled()).toMatchObject([{ event_type: 'book', asset_id: no }]);
  client.send({ operation: 'unsubscribe', assets_ids: [no] });
  await client.settled();
  world.feed.put({ channel: 'trades', market: 1, fill: fillOf() });
  expect(await client.settled()).toEqual([]);
  expect(world.hub.subscriptions).toBe(0);
});

test('one message is rendered once for all readers and numbered for each', async () => {
  const first = await reader({ initial_dump: false });
  await first.settled();
  world.feed.setLevels(1, [bid(4_000, 1)]);
  const others = await Promise.all(
    Array.from({ length: 5 }, () => reader({ initial_dump: false })),
  );
  await Promise.all(others.map((one) => one.settled()));
  const before = world.hub.messages;
  world.feed.setLevels(1, [bid(4_000, 2)]);
  expect(await others[0]?.of('price_change')).toMatchObject({ sequence: 1 });
  const seen = await first.settled();
  expect(seen.map(({ sequence }) => sequence)).toEqual([1, 2]);
  expect(world.hub.messages - before).toBe(1);
});

test('a token that is listed later is sent when it is', async () => {
  const client = await reader({ assets_ids: ['77', token(4, 0)] });
  expect(await client.settled()).toEqual([]);
  world.catalog.apply(marketEntry(4));
  expect(await client.of('book')).toMatchObject({ asset_id: token(4, 0) });
  expect(client.closed).toBeNull();
});

test('a connection without a subscription is closed after 30 s, one with a subscription is not', async () => {
  const [idle, busy] = [await reader({ assets_ids: [] }), await reader()];
  await Promise.all([idle.settled(), busy.settled()]);
  world.aheadMs += 31_000;
  expect(await idle.ended()).toBe(1008);
  await busy.settled();
  expect(world.closes).toEqual(['unsubscribed']);
});

test('three wrong frames close; a wrong one is answered', async () => {
  const client = await world.open('/ws/market');
  for (const frame of ['{', '[]', { type: 'user' }]) client.send(frame);
  expect(await client.text()).toBe('{"error":"invalid message"}');
  expect(await client.ended()).toBe(1008);
  expect(world.closes).toEqual(['wrongFrames']);
});

test('readers of a partition that cannot be followed or starts over are closed', async () => {
  const [reading, idle] = [await reader(), await reader({ assets_ids: [] })];
  await Promise.all([reading.of('book'), idle.settled()]);
  world.feed.reset();
  expect(await reading.ended()).toBe(4010);
  expect(idle.closed).toBeNull();
});

test('a reader past the bound of its queue is closed with 4008', async () => {
  await world.close();
  world = await new FamilyWorld(50_000).start();
  const client = await reader({ initial_dump: false });
  await client.settled();
  client.socket.pause();
  for (let seq = 1; seq < 50_000 && world.closes.length === 0; seq += 1) {
    world.feed.setLevels(
      1,
      Array.from({ length: 90 }, (_, price) => bid(price + 1, seq)),
    );
    if (seq % 10 === 0) await wait(1);
  }
  expect(world.closes).toEqual(['slowReader']);
}, 60_000);

test('paths that are no streams are not found', async () => {
  await expect(world.open('/ws/other')).rejects.toThrow(/404/);
  await expect(world.open('/ws/market/x')).rejects.toThrow(/404/);
});
