import { noQuote } from '@pm/domain/books/quote';
import { OpenOrderPage } from '@pm/schemas/http/private-reading';
import { Value } from 'typebox/value';
import { runLength } from '../../../kit/test/long-runs.ts';
import { seeded } from '../../../kit/test/seeded.ts';
import type { OpenOrderRow } from '../../src/orders/open-orders.ts';
import {
  apiKey,
  appOf,
  asOf,
  condition,
  get,
  openListener,
  post,
  proxy,
  safe,
  token,
  World,
  wallet,
} from '../in-memory.ts';
import { orderRow } from '../order-rows.ts';

/** Lists that are walked while orders come and go. */
const walks = runLength({ test: 10, deep: 20 });
const user = wallet(1);
const orderId = (index: number) => `0x${index.toString(16).padStart(64, '0')}`;
const known = () => {
  const world = new World();
  world.caller = { wallet: user, apiKey: apiKey(1) };
  return { world, app: openListener(world) };
};
/** For tests that change nothing in it. */
const unchanged = known();
/** No caller is proven. */
const stranger = new World();
const open = (index: number): OpenOrderRow => ({
  orderId: orderId(index),
  placedAtMs: 1_000 + index,
  partition: 3,
  inOffset: String(index),
});

describe('GET /data/orders', () => {
  it('lists open orders in the flat form and in camel case', async () => {
    const { world, app } = known();
    world.open.push(open(7));
    world.orders.set(orderId(7), [
      orderRow({ orderId: orderId(7) }),
      orderRow({ orderId: orderId(7), kind: 'FILLED', eventIndex: 2, sizeMicro: 4_000_000 }),
    ]);
    const answer = await get(app, '/data/orders');
    expect([...Value.Errors(OpenOrderPage, answer.body)]).toEqual([]);
    const address = '0x0000000000000000000000000000000000000001';
    expect(answer.body).toEqual({
      data: [
        {
          id: orderId(7),
          status: 'LIVE',
          owner: apiKey(1),
          market: condition(1),
          asset_id: token(1, 0),
          assetId: token(1, 0),
          side: 'BUY',
          price: '0.52',
          outcome: 'Yes',
          expiration: '0',
          order_type: 'GTC',
          maker_address: address,
          makerAddress: address,
          original_size: '10',
          originalSize: '10',
          size_matched: '4',
          sizeMatched: '4',
          associate_trades: ['3-77-2'],
          associateTrades: ['3-77-2'],
          created_at: 1_780_315_200,
          createdAt: '2026-06-01T12:00:00.000Z',
        },
      ],
      next_cursor: 'LTE=',
      limit: 100,
      count: 1,
      as_of: asOf,
    });
  });

  /** Ids on the pages of the list, read until there are no more. */
  const walkedIds = async (world: World, meanwhile: () => void): Promise<readonly string[]> => {
    const app = openListener(world);
    const ids: string[] = [];
    for (let cursor = 'MA=='; cursor !== 'LTE='; meanwhile()) {
      const url = `/clob/data/orders?next_cursor=${cursor}&geo_block_token=x`;
      const page = (await get(app, url)).body as { data: { id: string }[]; next_cursor: string };
      ids.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    return ids;
  };
  const rest = (world: World, index: number, placedAtMs: number) => {
    world.open.push({ ...open(index), placedAtMs });
    world.orders.set(orderId(index), [orderRow({ orderId: orderId(index) })]);
  };

  it('lists every order that rests all the time once, whatever comes and goes meanwhile', async () => {
    const random = seeded(41);
    for (let walk = 0; walk < walks; walk += 1) {
      const { world } = known();
      // Many have the time of others.
      for (let index = 1; index <= 250; index += 1) rest(world, index, random(60));
      const resting = new Set(world.open.map((row) => row.orderId));
      let placed = 250;
      const ids = await walkedIds(world, () => {
        for (let moves = random(60); moves > 0; moves -= 1) {
          const [ended] = world.open.splice(random(world.open.length), 1);
          if (ended !== undefined) resting.delete(ended.orderId);
          placed += 1;
          rest(world, placed, random(80));
        }
      });
      expect(new Set(ids).size).toBe(ids.length);
      expect([...resting].filter((id) => !ids.includes(id))).toEqual([]);
    }
  });

  it('refuses a cursor of other filters, of another list, and one that names a number', async () => {
    const { world, app } = known();
    for (let index = 1; index <= 101; index += 1) rest(world, index, index);
    const { body } = await get(app, '/data/orders');
    const { next_cursor } = body as { next_cursor: string };
    for (const url of [
      `/data/orders?market=${condition(1)}&next_cursor=${next_cursor}`,
      `/data/trades?next_cursor=${next_cursor}`,
      '/data/orders?next_cursor=MTAw',
    ]) {
      const error = 'invalid next_cursor';
      expect(await get(app, url)).toMatchObject({ status: 400, body: { error } });
    }
    for (const name of ['next_cursor', 'after_cursor', 'cursor']) {
      const last = await get(app, `/data/orders?${name}=${next_cursor}&geo_block_token=x`);
      expect(last.body).toMatchObject({ count: 1, next_cursor: 'LTE=' });
    }
  });

  it('leaves out orders that ended while they were looked up', async () => {
    const { world, app } = known();
    world.open.push(open(1), open(2));
    world.orders.set(orderId(1), [orderRow({ orderId: orderId(1), status: 'MATCHED' })]);
    world.orders.set(orderId(2), [orderRow({ orderId: orderId(2) })]);
    expect((await get(app, '/data/orders')).body).toMatchObject({
      data: [{ id: orderId(2) }],
      count: 1,
    });
  });

  it.each([token(1, 1), `${condition(1)}:1`])(
    'reads all wallets and keys of the caller, with ids resolved (%s)',
    async (asset) => {
      const { world, app } = known();
      world.bound.set(user, [wallet(7)]);
      const query = `id=${orderId(5)}&market=${condition(1)}&asset_id=${asset}`;
      await get(app, `/data/orders?${query}`);
      expect(world.openSearches).toEqual([
        {
          wallets: [user, proxy, safe, wallet(7)],
          keys: new Set([apiKey(1)]),
          orderId: orderId(5),
          market: 1,
          outcome: 1,
          after: null,
          limit: 101,
        },
      ]);
    },
  );

  it.each([
    [`market=${condition(99)}`, 200],
    ['next_cursor=LTE%3D', 200],
    ['asset_id=x', 400],
    ['id=1', 400],
    ['next_cursor=%00', 400],
  ])('answers %s without asking the tables', async (query, status) => {
    const { world, app } = known();
    const answer = await get(app, `/data/orders?${query}`);
    expect(answer.status).toBe(status);
    if (status === 200) expect(answer.body).toMatchObject({ data: [], next_cursor: 'LTE=' });
    expect(world.openSearches).toEqual([]);
  });

  it('says so when the tables are away', async () => {
    const { world, app } = known();
    world.away = 'clickhouse';
    expect(await get(app, '/data/orders')).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
    });
  });
});

describe('POST /data/orders', () => {
  it('answers each id by itself, in order, and knows only own orders', async () => {
    const { world, app } = known();
    world.orders.set(orderId(1), [orderRow({ orderId: orderId(1) })]);
    world.orders.set(orderId(2), [
      orderRow({ orderId: orderId(2), wallet: wallet(2), apiKey: apiKey(2) }),
    ]);
    world.orders.set(orderId(3), [
      orderRow({ orderId: orderId(3), kind: 'REFUSED', reason: 'too_late' }),
    ]);
    const ids = [3, 1, 2, 4, 1].map(orderId);
    const body = [...ids.map((id) => ({ orderId: id })), { orderID: 'x' }];
    expect(await post(app, '/data/orders', body)).toMatchObject({
      status: 207,
      body: [
        { order_id: ids[0], status: 404, error: 'order not found', code: 'too_late' },
        { order_id: ids[1], status: 200, order: { id: ids[1], status: 'live', reason: null } },
        { order_id: ids[2], status: 404, error: 'order not found' },
        { order_id: ids[3], status: 404, error: 'order not found' },
        { order_id: ids[4], status: 200 },
        { order_id: 'x', status: 400, error: 'Invalid orderID' },
      ],
    });
  });

  it.each([[[]], [{}], [[{}]], [[1]], [Array(501).fill({ orderId: orderId(1) })]])(
    'refuses a body that is no list of 1 to 500 ids',
    async (body) => {
      expect((await post(unchanged.app, '/data/orders', body)).status).toBe(400);
    },
  );
});

describe('order scoring', () => {
  const scoring = async (changes: Parameters<typeof orderRow>[0], bid = 5_000, ask = 5_400) => {
    const { world, app } = known();
    world.quotes.set(token(1, 0), { ...noQuote, bid, ask });
    const sizeMicro = 60_000_000;
    world.orders.set(orderId(1), [orderRow({ orderId: orderId(1), sizeMicro, ...changes })]);
    const one = (await get(app, `/order-scoring?order_id=${orderId(1)}`)).body;
    const many = (await post(app, '/orders-scoring', [orderId(1), orderId(2)])).body;
    expect(many).toEqual({
      [orderId(1)]: (one as { scoring: boolean }).scoring,
      [orderId(2)]: false,
    });
    return (one as { scoring: boolean }).scoring;
  };

  it('is true within the spread of the rewards and from their size on', async () => {
    expect(await scoring({ price: 5_200 })).toBe(true);
    expect(await scoring({ price: 4_850 })).toBe(true);
    expect(await scoring({ sizeMicro: 50_000_000 })).toBe(true);
  });

  it('is false farther away, below the size, after the end, and of others', async () => {
    expect(await scoring({ price: 4_849 })).toBe(false);
    expect(await scoring({ sizeMicro: 49_990_000 })).toBe(false);
    expect(await scoring({ status: 'MATCHED' })).toBe(false);
    expect(await scoring({ wallet: wallet(2), apiKey: apiKey(2) })).toBe(false);
  });

  it('refuses malformed order ids', async () => {
    const { app } = unchanged;
    expect((await get(app, '/order-scoring?order_id=1')).status).toBe(400);
    expect((await post(app, '/orders-scoring', ['x'])).status).toBe(400);
    expect((await post(app, '/orders-scoring', [])).body).toEqual({});
  });
});

describe('GET /data/pre-migration-orders', () => {
  it('is an empty last page', async () => {
    expect((await get(unchanged.app, '/data/pre-migration-orders')).body).toEqual({
      data: [],
      next_cursor: 'LTE=',
      limit: 100,
      count: 0,
      as_of: [],
    });
  });
});

test.each([
  ['GET', '/data/orders'],
  ['POST', '/data/orders'],
  ['GET', '/data/pre-migration-orders'],
  ['GET', `/order-scoring?order_id=${orderId(1)}`],
  ['POST', '/orders-scoring'],
  ['GET', '/data/trades'],
  ['GET', '/balance-allowance?asset_type=COLLATERAL'],
  ['GET', '/balance-allowance/update?asset_type=COLLATERAL'],
  ['GET', '/balances'],
])('%s %s requires a proven key', async (method, url) => {
  const app = appOf(stranger);
  const answer = method === 'GET' ? await get(app, url) : await post(app, url, []);
  expect(answer).toMatchObject({
    status: 401,
    body: { error: 'Unauthorized/Invalid api key', code: 'invalid_l2' },
  });
});
