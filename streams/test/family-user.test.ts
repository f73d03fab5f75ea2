import { setTimeout as wait } from 'node:timers/promises';
import { apiKeyFromBytes, type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import type { EventOf } from '@pm/schemas/log/executions';
import { apiKey, condition, token, wallet } from '../../query-api/test/in-memory.ts';
import { type FamilyClient, FamilyWorld, goodAuth } from './family-world.ts';
import { fillOf, keyBytes, walletBytes } from './fills.ts';
import { termsOf } from './own-changes.ts';

let world: FamilyWorld;
beforeEach(async () => {
  world = await new FamilyWorld().start();
});
afterEach(() => world.close());

const orderId = Buffer.alloc(32, 7);
const orderText = `0x${'07'.repeat(32)}`;

const terms = {
  ...termsOf(1),
  orderId,
  maker: walletBytes(1),
  acceptedAtMs: 1_780_315_199_000,
} as const;

function placed(changes: Partial<EventOf<'OrderPlaced'>> = {}): EventOf<'OrderPlaced'> {
  return {
    kind: 'OrderPlaced',
    command: 0,
    ...terms,
    postOnly: false,
    signer: walletBytes(1),
    builder: Buffer.alloc(32),
    status: 'LIVE',
    filledMicro: 0,
    paidMicro: 0,
    feeMicro: 0,
    restingMicro: 5_000_000,
    ...changes,
  };
}

type OrderEvent = EventOf<
  'OrderPlaced' | 'OrderRefused' | 'OrderDelayed' | 'OrderCanceled' | 'Fill'
>;

/** `before`: what rested of the order; null for a delayed one, absent for one that was not open. */
const own = (
  event: OrderEvent,
  restingMicro: number | null = null,
  { of = wallet(1), before }: { of?: WalletAddress; before?: number | null } = {},
) =>
  ({
    channel: 'own',
    wallet: of,
    change: {
      kind: 'order',
      event,
      orderId: event.kind === 'Fill' ? event.makerOrderId : event.orderId,
      market: event.market,
      restingMicro,
      before: before === undefined ? null : { ...terms, restingMicro: before },
    },
  }) as const;

const canceled = (): OrderEvent => ({
  kind: 'OrderCanceled',
  command: 0,
  orderId,
  market: 1,
  maker: walletBytes(1),
  apiKey: keyBytes(1),
  reason: 'USER',
  restMicro: 5_000_000,
});

/** Until credentials have been held against the keys so often. */
async function afterProofs(count: number): Promise<void> {
  while (world.proofs < count) await wait(10);
}

async function reader(frame: object = {}): Promise<FamilyClient> {
  const client = await world.open('/ws/user');
  client.send({ type: 'user', markets: [], auth: goodAuth, ...frame });
  await client.settled();
  return client;
}

test('the fixtures of keys and wallets are those of the reader', () => {
  expect(apiKeyFromBytes(keyBytes(1))).toBe(apiKey(1));
  expect(walletFromBytes(walletBytes(1))).toBe(wallet(1));
});

test.each([
  ['apikey', goodAuth],
  ['apiKey', { apiKey: goodAuth.apikey, secret: 'secret', passphrase: 'pass' }],
])('takes credentials with %s', async (_, auth) => {
  const client = await reader({ auth });
  world.feed.put(own(placed()));
  expect(await client.of('order')).toMatchObject({ id: orderText });
});

test.each([
  ['a wrong secret', { ...goodAuth, secret: 'x' }],
  ['a wrong passphrase', { ...goodAuth, passphrase: 'x' }],
  ['an unknown key', { ...goodAuth, apikey: apiKey(9) }],
  ['no credentials', undefined],
])('%s is refused, and the connection closed with 1008', async (_, auth) => {
  const client = await world.open('/clob/ws/user');
  client.send({ type: 'user', markets: [], auth });
  if (auth !== undefined) await afterProofs(1);
  world.aheadMs += 3_000;
  expect(await client.text()).toBe('{"error":"Unauthorized/Invalid api key"}');
  expect(await client.ended()).toBe(1008);
});

test('a reader is closed with 1012 once a partition is added, of which it missed the first records', async () => {
  const client = await reader();
  world.feed.grow();
  expect(await client.ended()).toBe(1012);
});

test('a key that the service reads a moment after its frame gets its orders', async () => {
  world.isKeyKnown = false;
  const client = await world.open('/ws/user');
  client.send({ type: 'user', markets: [], auth: goodAuth });
  // A frame in between changes the markets, and proves nothing again.
  client.send({ operation: 'subscribe', markets: [condition(1)] });
  await afterProofs(3);
  world.isKeyKnown = true;
  await afterProofs(4);
  world.feed.put(own(placed()));
  expect(await client.of('order')).toMatchObject({ id: orderText });
});

test('a connection that ends while its key is not read yet reads nothing', async () => {
  world.isKeyKnown = false;
  const client = await world.open('/ws/user');
  client.send({ type: 'user', markets: [], auth: goodAuth });
  await afterProofs(1);
  client.socket.terminate();
  await client.ended();
  while (world.hub.connections > 0) await wait(10);
  const { proofs } = world;
  world.isKeyKnown = true;
  await wait(300);
  expect(world.proofs).toBe(proofs);
});

test('a key that is revoked ends its connections', async () => {
  const client = await reader();
  world.isKeyActive = false;
  expect(await client.ended()).toBe(1008);
});

test('an order that is placed has all fields of its list', async () => {
  const client = await reader();
  world.feed.put(own(placed(), 5_000_000));
  expect(await client.of('order')).toEqual({
    event_type: 'order',
    type: 'PLACEMENT',
    id: orderText,
    owner: apiKey(1),
    order_owner: apiKey(1),
    market: condition(1),
    asset_id: token(1, 0),
    side: 'SELL',
    original_size: '5',
    size_matched: '0',
    price: '0.4',
    associate_trades: [],
    outcome: 'Yes',
    created_at: '1780315200',
    expiration: '0',
    order_type: 'GTC',
    status: 'LIVE',
    maker_address: wallet(1),
    timestamp: '1780315200000',
    sequence: 1,
    stream_id: expect.stringMatching(/^s-/),
    server_ts_ms: expect.any(Number),
  });
});

test('fills update the order until it is matched; a cancel ends it', async () => {
  const client = await reader();
  const fill = fillOf({
    taker: walletBytes(2),
    maker: walletBytes(1),
    makerKey: keyBytes(1),
    makerOrderId: orderId,
    makerRestMicro: 3_000_000,
  });
  world.feed.put(own(placed(), 5_000_000));
  world.feed.put(
    { channel: 'own', wallet: wallet(1), change: { kind: 'fill', fill, role: 'maker' } },
    own(fill, 3_000_000, { before: 5_000_000 }),
  );
  const rest = { ...fill, sizeMicro: 3_000_000, makerRestMicro: 0 };
  world.feed.put(own(rest, 0, { before: 3_000_000 }));
  world.feed.put(own(canceled()));
  world.feed.put(own(placed(), 5_000_000));
  world.feed.put(own(canceled(), 0, { before: 5_000_000 }));
  const steps = (await client.settled()).filter((one) => one['event_type'] === 'order');
  expect(steps).toMatchObject([
    { type: 'PLACEMENT' },
    { type: 'UPDATE', size_matched: '2', status: 'LIVE', associate_trades: ['0-1-1'] },
    { type: 'UPDATE', size_matched: '5', status: 'MATCHED', associate_trades: ['0-1-1', '0-2-0'] },
    { type: 'PLACEMENT', size_matched: '0', associate_trades: [] },
    { type: 'CANCELLATION', status: 'CANCELED', size_matched: '0' },
  ]);
});

test('a trade is matched, and confirmed after everything else of its record', async () => {
  const client = await reader();
  const fill = fillOf({ takerOrderId: orderId });
  const event = placed({
    side: 'BUY',
    status: 'CANCELED',
    filledMicro: 2_000_000,
    restingMicro: 0,
  });
  world.feed.put(
    { channel: 'own', wallet: wallet(1), change: { kind: 'fill', fill, role: 'taker' } },
    own({ ...event, timeInForce: 'FAK' }),
  );
  const seen = await client.settled();
  const trade = {
    event_type: 'trade',
    type: 'TRADE',
    id: '0-0-0',
    taker_order_id: orderText,
    market: condition(1),
    asset_id: token(1, 0),
    side: 'BUY',
    size: '2',
    price: '0.4',
    fee_rate_bps: '441',
    match_time: '1780315200',
    last_update: '1780315200',
    outcome: 'Yes',
    owner: apiKey(1),
    trade_owner: apiKey(1),
    maker_address: wallet(1),
    trader_side: 'TAKER',
    maker_orders: [
      {
        order_id: `0x${'02'.repeat(32)}`,
        owner: '00000000-0000-0000-0000-000000000000',
        matched_amount: '2',
        outcome_index: 0,
      },
    ],
    timestamp: '1780315200000',
  };
  expect(seen).toMatchObject([
    { ...trade, status: 'MATCHED' },
    { type: 'PLACEMENT', status: 'CANCELED', size_matched: '2', associate_trades: ['0-0-0'] },
    { type: 'CANCELLATION', status: 'CANCELED', size_matched: '2' },
    { ...trade, status: 'CONFIRMED' },
  ]);
});

test('a trade between two wallets of one key is shown once', async () => {
  const client = await reader();
  const fill = fillOf({ maker: walletBytes(11), makerKey: keyBytes(1) });
  world.feed.put(
    { channel: 'own', wallet: wallet(1), change: { kind: 'fill', fill, role: 'taker' } },
    { channel: 'own', wallet: wallet(11), change: { kind: 'fill', fill, role: 'maker' } },
  );
  expect(await client.settled()).toMatchObject([
    { status: 'MATCHED', trader_side: 'TAKER' },
    { status: 'CONFIRMED' },
  ]);
});

test('a delayed order is placed once; its refusal cancels it', async () => {
  const client = await reader();
  const delayed = { kind: 'OrderDelayed', command: 0, ...terms } as OrderEvent;
  const refused = {
    kind: 'OrderRefused',
    command: 0,
    ...terms,
    code: 'post_only_would_cross',
  } as unknown as OrderEvent;
  world.feed.put(own(delayed));
  world.feed.put(own(placed(), 5_000_000, { before: null }));
  world.feed.put(own(canceled(), 0, { before: 5_000_000 }));
  world.feed.put(own(delayed));
  world.feed.put(own(refused, null, { before: null }));
  world.feed.put(own(refused));
  expect(await client.settled()).toMatchObject([
    { type: 'PLACEMENT', status: 'DELAYED' },
    { type: 'UPDATE', status: 'LIVE' },
    { type: 'CANCELLATION' },
    { type: 'PLACEMENT', status: 'DELAYED' },
    { type: 'CANCELLATION', status: 'CANCELED' },
  ]);
});

test('only the named markets are sent; without a name all are', async () => {
  const client = await reader({ markets: [condition(2)] });
  world.feed.put(own(placed(), 5_000_000));
  expect(await client.settled()).toEqual([]);
  client.send({ operation: 'subscribe', markets: [condition(1)] });
  await client.settled();
  world.feed.put(own(placed(), 5_000_000));
  expect(await client.settled()).toHaveLength(1);
  client.send({ operation: 'unsubscribe', markets: [condition(1)] });
  await client.settled();
  world.feed.put(own(placed(), 5_000_000));
  expect(await client.settled()).toEqual([]);
  client.send({ operation: 'unsubscribe', markets: [condition(2)] });
  await client.settled();
  world.feed.put(own(placed(), 5_000_000));
  expect(await client.settled()).toHaveLength(1);
});

test('other wallets are not shown', async () => {
  const client = await reader();
  world.feed.put(own(placed(), 5_000_000, { of: wallet(2) }));
  expect(await client.settled()).toEqual([]);
});
