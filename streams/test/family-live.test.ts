import { CommentThreads } from '@pm/domain/comments/threads';
import { streamLimits } from '@pm/schemas/streams/limits';
import {
  condition,
  eventEntry,
  marketEntry,
  token,
  wallet,
} from '../../query-api/test/in-memory.ts';
import { type FamilyClient, FamilyWorld } from './family-world.ts';
import { fillOf, walletBytes } from './fills.ts';

let world: FamilyWorld;
beforeEach(async () => {
  world = await new FamilyWorld().start();
  world.catalog.apply(eventEntry('2'));
  world.catalog.apply(marketEntry(2, { eventId: '2' }));
});
afterEach(() => world.close());

async function reader(...subscriptions: readonly object[]): Promise<FamilyClient> {
  const client = await world.open('/ws/live-data');
  client.send({ action: 'subscribe', subscriptions });
  await client.settled();
  return client;
}

function trade(market: number): void {
  const source = fillOf({ market });
  const change = { channel: 'activity', market, source } as const;
  world.feed.put(
    { ...change, wallet: wallet(1), role: 'taker' },
    { ...change, wallet: wallet(2), role: 'maker' },
  );
}

function comment(parentId: string): void {
  const threads = new CommentThreads();
  threads.apply(0, {
    kind: 'CommentPosted',
    author: walletBytes(1),
    parentType: 'EVENT',
    parentId,
    replyTo: '',
    replyAddress: null,
    body: 'It will.',
    clientId: '',
    timeMs: 1_780_315_200_000,
  });
  const held = threads.find('1');
  if (held !== undefined) for (const take of world.commentListeners) take(held);
}

test('a matched order is the row of the taker', async () => {
  const client = await reader({ topic: 'activity', type: 'orders_matched' });
  trade(1);
  expect(await client.settled()).toMatchObject([
    {
      topic: 'activity',
      type: 'orders_matched',
      timestamp: 1_780_315_200_000,
      payload: {
        proxyWallet: wallet(1),
        side: 'BUY',
        asset: token(1, 0),
        conditionId: condition(1),
        size: 2,
        price: 0.4,
        timestamp: 1_780_315_200,
        slug: 'market-1',
        eventSlug: 'event-1',
        outcome: 'Yes',
        outcomeIndex: 0,
        transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      },
    },
  ]);
});

test.each([
  ['an object', { event_slug: 'event-1' }],
  ['a JSON text', '{"event_slug":"event-1"}'],
  ['the slug of a market', { market_slug: 'market-1' }],
])('filters may be %s', async (_, filters) => {
  const client = await reader({ topic: 'activity', type: 'trades', filters });
  trade(2);
  trade(1);
  const seen = await client.settled();
  expect(seen.map(({ payload }) => payload)).toMatchObject([{ eventSlug: 'event-1' }]);
});

test.each([[undefined], [null], [''], [{}], ['{}']])(
  'filters %p let everything through',
  async (filters) => {
    const client = await reader({ topic: 'activity', type: '*', filters });
    trade(1);
    trade(2);
    expect(await client.settled()).toHaveLength(2);
  },
);

test('comments are sent as they are listed, of the named parent', async () => {
  const filters = '{"parentEntityID":1,"parentEntityType":"Event"}';
  const client = await reader({ topic: 'comments', type: 'comment_created', filters });
  comment('2');
  comment('1');
  expect(await client.settled()).toMatchObject([
    {
      topic: 'comments',
      type: 'comment_created',
      payload: { id: '1', body: 'It will.', parentEntityType: 'Event', parentEntityID: 1 },
    },
  ]);
});

test.each<[string, object]>([
  ['unknown topic \\"crypto_prices\\"', { topic: 'crypto_prices', filters: '{"symbol":"btc"}' }],
  ['unknown topic \\"__proto__\\"', { topic: '__proto__' }],
  ['unknown type \\"filled\\" of activity', { topic: 'activity', type: 'filled' }],
  ['unknown filter \\"symbol\\" of activity', { topic: 'activity', filters: { symbol: 'btc' } }],
  [
    'unknown filter \\"event_slug\\" of comments',
    { topic: 'comments', filters: { event_slug: 'a' } },
  ],
  ...[
    ['activity', 'event_slug', '\ud800'],
    ['activity', 'event_slug', 'a\u0007b'],
    ['activity', 'market_slug', ''],
    ['activity', 'market_slug', 's'.repeat(201)],
    ['activity', 'condition_id', '0x12'],
    ['comments', 'parentEntityID', 1.5],
    ['comments', 'parentEntityID', 'one'],
    ['comments', 'parentEntityType', 'Person'],
  ].map(([topic, name, value]): [string, object] => [
    `the filter ${name} of ${topic} takes another form`,
    { topic, filters: { [`${name}`]: value } },
  ]),
])('%s: that subscription is refused, others of its frame begin', async (refusal, subscription) => {
  const client = await world.open('/ws/live-data');
  const subscriptions = [subscription, { topic: 'activity' }, subscription];
  for (let count = 0; count < streamLimits.wrong_frames + 1; count += 1) {
    client.send({ action: 'subscribe', subscriptions });
    expect(await client.text()).toBe(`{"error":"${refusal}"}`);
  }
  expect(world.hub.subscriptions).toBe(1);
  trade(1);
  expect(await client.settled()).toHaveLength(1);
});

test('each refusal of a frame is in its one answer', async () => {
  const client = await world.open('/ws/live-data');
  const subscriptions = [{ topic: 'a' }, { topic: 'b' }, { topic: 'a' }];
  client.send({ action: 'subscribe', subscriptions });
  expect(JSON.parse(await client.text())).toEqual({
    error: 'unknown topic "a"; unknown topic "b"',
  });
  client.send({ action: 'subscribe', subscriptions: [{ topic: 'caf\u00e9' }] });
  expect(await client.text()).toBe('{"error":"invalid message"}');
});

test('types that published clients subscribe to are taken, and a lower-case ping is answered', async () => {
  const types = ['comment_created', 'comment_removed', 'reaction_created', 'reaction_removed'];
  const filters = '{"parentEntityID":1,"parentEntityType":"Series"}';
  const client = await reader(...types.map((type) => ({ topic: 'comments', type, filters })));
  client.send('ping');
  expect(await client.text()).toBe('PONG');
  expect(world.hub.subscriptions).toBe(types.length);
});

test('nothing comes after the end of a subscription', async () => {
  const client = await reader(
    { topic: 'activity', type: 'trades' },
    { topic: 'activity', type: 'trades', filters: { event_slug: 'event-1' } },
  );
  trade(1);
  expect(await client.settled()).toHaveLength(1);
  client.send({ action: 'unsubscribe', subscriptions: [{ topic: 'activity', type: 'trades' }] });
  await client.settled();
  trade(1);
  expect(await client.settled()).toEqual([]);
});
