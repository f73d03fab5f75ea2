import type { FillRow } from '@pm/domain/orders/trades';
import { StoredOrder, TradePage } from '@pm/schemas/http/reading';
import { checksumAddress } from '@pm/schemas/ids';
import { tradeHash } from '@pm/schemas/trade-id';
import { Value } from 'typebox/value';
import {
  apiKey,
  asOf,
  condition,
  get,
  nowMs,
  openListener,
  proxy,
  safe,
  token,
  World,
  wallet,
} from '../in-memory.ts';
import { orderId, orderRow } from '../order-rows.ts';

const user = wallet(1);

const setUp = () => {
  const world = new World();
  return { world, app: openListener(world) };
};

/** For tests that change nothing in it. */
const unchanged = setUp();

describe('GET /data/order/:id', () => {
  const placed = orderRow();

  it('answers anyone, without the owner', async () => {
    const { world, app } = setUp();
    world.orders.set(orderId, [placed]);
    const answer = await get(app, `/data/order/${orderId.toUpperCase().replace('0X', '0x')}`);
    expect([...Value.Errors(StoredOrder, answer.body)]).toEqual([]);
    expect(answer.body).toMatchObject({
      id: orderId,
      owner: null,
      status: 'LIVE',
      order: { owner: null, status: 'live', expiration: '0' },
    });
    expect(world.verified).toEqual([]);
  });

  it('shows the maker of an open order, and its trades, to the owner alone', async () => {
    const { world, app } = setUp();
    const fill = orderRow({ kind: 'FILLED', role: 'MAKER', inOffset: '8', sizeMicro: 1_000_000 });
    world.orders.set(orderId, [placed, fill]);
    const zero = `0x${'0'.repeat(40)}`;
    const others = await get(app, `/data/order/${orderId}`);
    expect(others.body).toMatchObject({
      status: 'LIVE',
      maker_address: zero,
      associate_trades: [],
      order: { makerAddress: zero, associateTrades: [] },
    });
    expect(others.text.toLowerCase()).not.toContain(user.slice(2));
    world.caller = { wallet: user, apiKey: apiKey(1) };
    const own = await get(app, `/data/order/${orderId}`, { SERVICE_ADDRESS: user });
    expect(own.body).toMatchObject({ maker_address: checksumAddress(user) });
    expect((own.body as StoredOrder).associate_trades).toHaveLength(1);
    world.orders.set(orderId, [placed, orderRow({ kind: 'CANCELED', inOffset: '9' })]);
    const ended = await get(app, `/data/order/${orderId}`);
    expect(ended.body).toMatchObject({ maker_address: checksumAddress(user) });
  });

  it('shows the owner to itself, hides the order from others, and refuses bad headers', async () => {
    const { world, app } = setUp();
    world.orders.set(orderId, [placed]);
    const headers = { SERVICE_ADDRESS: user };
    const url = `/clob/data/order/${orderId}`;
    expect(await get(app, url, headers)).toMatchObject({
      status: 401,
      body: { error: 'Unauthorized/Invalid api key', code: 'invalid_l2' },
    });
    world.caller = { wallet: user, apiKey: apiKey(1) };
    expect((await get(app, url, headers)).body).toMatchObject({
      owner: apiKey(1),
      order: { owner: apiKey(1) },
    });
    world.caller = { wallet: wallet(9), apiKey: apiKey(9) };
    expect(await get(app, url, headers)).toMatchObject({
      status: 404,
      body: { error: 'order not found' },
    });
    expect(world.verified[0]).toMatchObject({ method: 'GET', url });
  });

  it('knows a wallet by its key when the maker is a contract', async () => {
    const { world, app } = setUp();
    world.orders.set(orderId, [{ ...placed, wallet: wallet(500) }]);
    world.caller = { wallet: user, apiKey: apiKey(1) };
    expect((await get(app, `/data/order/${orderId}`, { SERVICE_ADDRESS: user })).status).toBe(200);
  });

  it('refuses malformed and unknown order ids, and says why an order was refused', async () => {
    const { world, app } = setUp();
    expect(await get(app, '/data/order/0x12')).toMatchObject({
      status: 400,
      body: { error: 'Invalid orderID' },
    });
    expect(await get(app, `/data/order/${orderId}`)).toMatchObject({
      status: 404,
      body: { error: 'order not found' },
    });
    world.orders.set(orderId, [{ ...placed, kind: 'REFUSED', reason: 'too_late' }]);
    expect(await get(app, `/data/order/${orderId}`)).toMatchObject({
      status: 404,
      body: { error: 'order not found', code: 'too_late', reason: 'refused' },
    });
  });
});

describe('GET /data/trades', () => {
  const fill = (eventIndex: number): FillRow => ({
    partition: 3,
    inOffset: '77',
    eventIndex,
    timeMs: 1_782_753_357_123,
    market: 1,
    sizeMicro: 2_500_000,
    takerOrder: orderId,
    taker: user,
    takerKey: apiKey(1),
    takerOutcome: 0,
    takerSide: 'BUY',
    takerPrice: 5200,
    makerOrder: `0x${'cd'.repeat(32)}`,
    maker: wallet(2),
    makerKey: apiKey(2),
    makerOutcome: 1,
    makerSide: 'BUY',
    makerPrice: 4800,
    feeRateBps: 441,
  });
  const known = () => {
    const { world, app } = setUp();
    world.caller = { wallet: user, apiKey: apiKey(1) };
    return { world, app };
  };

  it('requires a proven key', async () => {
    expect(await get(unchanged.app, '/data/trades')).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'HMAC' },
    });
  });

  it('shows the trade of the taker with the order of the maker, and hides the other key', async () => {
    const { world, app } = known();
    world.trades.push(fill(4));
    const answer = await get(app, '/data/trades');
    expect([...Value.Errors(TradePage, answer.body)]).toEqual([]);
    expect(answer.body).toEqual({
      data: [
        {
          id: '3-77-4',
          taker_order_id: orderId,
          market: condition(1),
          asset_id: token(1, 0),
          side: 'BUY',
          size: '2.5',
          fee_rate_bps: '441',
          price: '0.52',
          status: 'CONFIRMED',
          match_time: '1782753357',
          last_update: '1782753357',
          outcome: 'Yes',
          bucket_index: 0,
          owner: apiKey(1),
          maker_address: '0x0000000000000000000000000000000000000001',
          maker_orders: [
            {
              order_id: `0x${'cd'.repeat(32)}`,
              owner: '00000000-0000-0000-0000-000000000000',
              maker_address: '0x0000000000000000000000000000000000000002',
              matched_amount: '2.5',
              price: '0.48',
              fee_rate_bps: '0',
              asset_id: token(1, 1),
              outcome: 'No',
              side: 'BUY',
            },
          ],
          transaction_hash: tradeHash('3-77-4'),
          trader_side: 'TAKER',
          type: 'TAKER',
        },
      ],
      next_cursor: 'LTE=',
      limit: 100,
      count: 1,
      as_of: asOf,
    });
  });

  it('pages by cursors that end with LTE=', async () => {
    const { world, app } = known();
    for (let index = 250; index > 0; index -= 1) world.trades.push(fill(index));
    const ids = new Set<string>();
    let cursor = 'MA==';
    while (cursor !== 'LTE=') {
      const { body } = await get(
        app,
        `/clob/data/trades?next_cursor=${encodeURIComponent(cursor)}`,
      );
      const page = body as { data: { id: string }[]; next_cursor: string };
      for (const { id } of page.data) ids.add(id);
      cursor = page.next_cursor;
    }
    expect(ids.size).toBe(250);
    for (const name of ['next_cursor', 'after_cursor', 'cursor']) {
      const { body } = await get(app, `/data/trades?${name}=LTE=`);
      expect(body).toMatchObject({ data: [], next_cursor: 'LTE=' });
    }
  });

  it('hands its filters on with ids resolved', async () => {
    const { world, app } = known();
    const sides = `maker_address=${wallet(5)}&taker=${wallet(6)}`;
    const traded = `market=${condition(1)}&asset_id=${token(1, 1)}`;
    const query = `id=3-77-4&${sides}&${traded}&before=20&after=10&geo_block_token=x`;
    expect((await get(app, `/data/trades?${query}`)).status).toBe(200);
    expect(world.searches[0]).toMatchObject({
      wallets: new Set([wallet(5)]),
      keys: new Set([apiKey(1)]),
      market: 1,
      outcome: 1,
      limit: 101,
      query: {
        place: { partition: 3, inOffset: '77', eventIndex: 4 },
        taker: wallet(6),
        beforeS: 20,
        afterS: 10,
      },
    });
  });

  it('takes an asset by condition and index too', async () => {
    const { world, app } = known();
    const asset = `${condition(2).toUpperCase().replace('0X', '0x')}:1`;
    await get(app, `/data/trades?asset_id=${asset}`);
    expect(world.searches).toMatchObject([{ market: 2, outcome: 1 }]);
  });

  it('looks through every wallet of the caller', async () => {
    const { world, app } = known();
    world.bound.set(user, [wallet(7)]);
    world.trades.push({ ...fill(1), taker: wallet(7) });
    expect((await get(app, '/data/trades')).body).toMatchObject({
      data: [{ trader_side: 'TAKER' }],
    });
    expect(world.searches[0]?.wallets).toEqual(new Set([user, proxy, safe, wallet(7)]));
  });

  it('finds nothing for tokens that are not listed or do not agree', async () => {
    const { world, app } = known();
    world.trades.push(fill(1));
    for (const query of [
      `market=${condition(99)}`,
      'asset_id=99',
      `market=${condition(2)}&asset_id=${token(1, 0)}`,
      `market=${condition(2)}&asset_id=${condition(1)}:0`,
      `asset_id=${condition(99)}:0`,
    ]) {
      expect((await get(app, `/data/trades?${query}`)).body).toMatchObject({
        data: [],
        next_cursor: 'LTE=',
      });
    }
    expect(world.searches).toEqual([]);
  });

  const { app: knownApp } = known();

  it.each([
    ['before=x', 'invalid trade params'],
    ['after=-1', 'invalid trade params'],
    ['id=abc', 'invalid trade params'],
    ['market=1', 'invalid trade params'],
    ['asset_id=0x1', 'invalid trade params'],
    [`asset_id=${condition(1)}`, 'invalid trade params'],
    [`asset_id=${condition(1)}:2`, 'invalid trade params'],
    ['maker_address=me', 'invalid trade params'],
    ['next_cursor=abc', 'invalid next_cursor'],
    ['next_cursor=MTAw', 'invalid next_cursor'],
  ])('refuses %s', async (query, error) => {
    expect(await get(knownApp, `/data/trades?${query}`)).toMatchObject({
      status: 400,
      body: { error },
    });
  });
});

describe('a clock that is off', () => {
  it('is shown how far, by every private read, before anything else', async () => {
    const { world, app } = setUp();
    world.skewMs = -301_250;
    for (const path of ['/data/trades', '/data/orders', `/data/order/${orderId}`, '/balances']) {
      const answer = await get(app, path, { SERVICE_ADDRESS: user });
      expect(answer).toMatchObject({
        status: 401,
        body: {
          code: 'timestamp_skew',
          server_time: nowMs,
          error: expect.stringContaining('-301.250'),
        },
      });
    }
  });

  it('is no reason where a read-only key is shown', async () => {
    const { world, app } = setUp();
    world.skewMs = -301_250;
    const headers = { SERVICE_READONLY_API_KEY: apiKey(1), SERVICE_ADDRESS: user };
    const { body } = await get(app, '/data/trades', headers);
    expect(body).toEqual({ error: 'Unauthorized/Invalid api key', code: 'invalid_l2' });
  });
});
