import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { microText } from '@pm/schemas/decimal';
import { headers as headerNames } from '@pm/schemas/signing';
import { placedResult } from '../../client/test/fake-exchange.ts';
import { fakeMarket } from './fake-reads.ts';
import { errorOf, resultOf, TradingSession } from './trading-session.ts';

const order = { token_id: fakeMarket.token, side: 'BUY', price: '0.52', size: '20' } as const;

const sessions: TradingSession[] = [];

async function open(...given: Parameters<typeof TradingSession.open>): Promise<TradingSession> {
  const session = await TradingSession.open(...given);
  sessions.push(session);
  return session;
}

afterEach(async () => {
  for (const session of sessions.splice(0)) await session.end();
});

const placed = ({ fake }: TradingSession) => fake.booked.size;

describe('preview_order', () => {
  test('walks the book and states cost, fee and every check', async () => {
    const { client } = await open();
    const preview = await resultOf(client, 'preview_order', order);
    expect(preview).toMatchObject({
      placeable: true,
      expected: 'fills',
      fills: [
        // 10 × 0.0441 × 0.51 × 0.49 and 10 × 0.0441 × 0.52 × 0.48, half up to 0.00001.
        { price: '0.51', size: '10', usdc: '5.1', fee: '0.11021' },
        { price: '0.52', size: '10', usdc: '5.2', fee: '0.11007' },
      ],
      filled_size: '20',
      average_price: '0.515',
      usdc: '10.3',
      fee: '0.22028',
      total_usdc: '10.52028',
      rest: '0',
      // 20 × 0.52, and the fee at its highest (p = 1/2) with one step for rounding.
      can_lose_usdc: microText(10_400_000 + 220_500 + 10),
    });
    const { checks } = preview as { checks: { check: string; ok: boolean }[] };
    expect(checks.map(({ check, ok }) => [check, ok])).toEqual([
      ['market_accepts_orders', true],
      ['price_on_tick', true],
      ['size_large_enough', true],
      ['book_allows_it', true],
      ['owner_allows_order', true],
      ['owner_allows_day', true],
      ['exchange_validates', true],
    ]);
  });

  test('places nothing and signs nothing: the exchange gets an order that nobody can place', async () => {
    const session = await open();
    const preview_id = await session.preview(order);
    expect(placed(session)).toBe(0);
    expect(session.fake.receivedAt('/order')).toEqual([]);
    const [validated] = session.fake.receivedAt('/orders/validate');
    expect(validated?.body).toEqual([
      expect.objectContaining({
        order: expect.not.objectContaining({ signature: expect.anything() }),
      }),
    ]);
    // The wallet has proven itself for its API key, and nothing else.
    expect(session.signed).toHaveLength(1);
    const { order_id } = await resultOf<{ order_id: string }>(session.client, 'place_order', {
      ...order,
      preview_id,
    });
    expect(session.signed.slice(1)).toEqual([order_id]);
  });

  test.each([
    ['an order', { perOrderMicro: 10_620_509 }, 'order_too_large'],
    ['a day', { perDayMicro: 10_620_509 }, 'day_limit_reached'],
    ['the markets', { markets: new Set([`0x${'1'.repeat(64)}`]) }, 'market_not_allowed'],
  ])(
    'beyond the limit of %s is in no request, has no signature and no id',
    async (_of, limits, code) => {
      const session = await open(limits);
      const preview = await resultOf<{ checks: { check: string; ok: boolean; code: string }[] }>(
        ...([session.client, 'preview_order', order] as const),
      );
      expect(preview).toMatchObject({ placeable: false, preview_id: null, expires_at: null });
      expect(preview.checks.filter(({ ok }) => ok === false)).toMatchObject([{ code }]);
      expect(preview.checks.at(-1)).toMatchObject({ check: 'exchange_validates', ok: null });
      // All data that the preview read is public: the market and its book.
      const ofCallers = Object.values(headerNames).map((name) => name.toLowerCase());
      for (const { method, headers } of session.fake.received)
        expect([method, ofCallers.filter((name) => name in headers)]).toEqual(['GET', []]);
      expect(session.signed).toEqual([]);
    },
  );

  test('is of an order that the owner just allows', async () => {
    const session = await open({ perOrderMicro: 10_620_510, perDayMicro: 10_620_510 });
    const preview_id = await session.preview(order);
    await resultOf(session.client, 'place_order', { ...order, preview_id });
    expect(placed(session)).toBe(1);
  });

  test.each([
    [{ ...order, price: '0.525' }, 'price_on_tick'],
    [{ ...order, size: '4' }, 'size_large_enough'],
    [{ ...order, size: '5000', time_in_force: 'FOK' }, 'book_allows_it'],
    [{ ...order, post_only: true }, 'book_allows_it'],
    [{ ...order, size: '100' }, 'owner_allows_order'],
  ])('%j fails the check %s', async (given, failed) => {
    const { client } = await open();
    const preview = await resultOf<{
      placeable: boolean;
      checks: { check: string; ok: boolean }[];
    }>(client, 'preview_order', given);
    expect(preview.placeable).toBe(false);
    expect(preview.checks.filter(({ ok }) => ok === false).map(({ check }) => check)).toContain(
      failed,
    );
  });

  test.each([
    { ...order, budget: '5' },
    { ...order, size: undefined },
    { ...order, size: '0.001' },
    { ...order, price: '1' },
    { ...order, time_in_force: 'GTD' },
    { ...order, expiration: 4_000_000_000 },
    { ...order, size: undefined, budget: '5' },
    { ...order, time_in_force: 'FAK', post_only: true },
  ])('refuses %j', async (given) => {
    const { client } = await open();
    expect((await errorOf(client, 'preview_order', given)).code).toBe('invalid_input');
  });
});

describe('place_order', () => {
  test('places the order of its preview once, however often it is called', async () => {
    const session = await open();
    const preview_id = await session.preview(order);
    const first = await resultOf<{ order_id: string; day_used_usdc: string }>(
      session.client,
      'place_order',
      { ...order, preview_id },
    );
    const second = await resultOf(session.client, 'place_order', { ...order, preview_id });
    expect(second).toEqual(first);
    expect([...session.fake.booked.keys()]).toEqual([first.order_id]);
    expect(first.day_used_usdc).toBe('10.62051');
  });

  test('takes the same meaning in other words', async () => {
    const session = await open();
    const preview_id = await session.preview(order);
    const same = {
      ...order,
      price: '0.5200',
      size: '20.0',
      time_in_force: 'GTC',
      post_only: false,
    };
    await resultOf(session.client, 'place_order', { ...same, preview_id });
    expect(placed(session)).toBe(1);
  });

  test.each([
    { price: '0.53' },
    { size: '20.01' },
    { side: 'SELL' },
    { token_id: fakeMarket.otherToken },
    { time_in_force: 'FAK' },
    { post_only: true },
  ])('refuses %j after a preview of another order', async (change) => {
    const session = await open();
    const preview_id = await session.preview(order);
    const error = await errorOf(session.client, 'place_order', { ...order, ...change, preview_id });
    expect(error.code).toBe('preview_differs');
    expect(placed(session)).toBe(0);
  });

  test('refuses an unknown preview, and one of 60 seconds', async () => {
    const session = await open();
    const unknown = await errorOf(session.client, 'place_order', { ...order, preview_id: 'x' });
    expect(unknown.code).toBe('preview_unknown');
    const preview_id = await session.preview(order);
    session.pass(59_999);
    await resultOf(session.client, 'place_order', { ...order, preview_id });
    session.pass(1);
    const old = await errorOf(session.client, 'place_order', { ...order, preview_id });
    expect(old.code).toBe('preview_expired');
    expect(placed(session)).toBe(1);
  });

  test('compares the order with the limits of the owner again', async () => {
    const session = await open();
    const preview_id = await session.preview(order);
    session.limits.perOrderMicro = 10_620_509;
    const error = await errorOf(session.client, 'place_order', { ...order, preview_id });
    expect(error.code).toBe('order_too_large');
    expect(placed(session)).toBe(0);
  });

  test('counts the day across restarts and refuses what is beyond its limit', async () => {
    const limits = { perDayMicro: 25_000_000 };
    const first = await open(limits);
    const previews = [];
    for (let count = 0; count < 3; count += 1) previews.push(await first.preview(order));
    const [one, two, three] = previews;
    for (const preview_id of [one, two])
      await resultOf(first.client, 'place_order', { ...order, preview_id });
    const third = { ...order, preview_id: three };
    const error = await errorOf(first.client, 'place_order', third);
    expect(error).toMatchObject({ code: 'day_limit_reached' });
    const second = await open(limits, first.folder);
    const { checks } = await resultOf<{ checks: { ok: boolean; message: string }[] }>(
      ...([second.client, 'preview_order', order] as const),
    );
    const [failed] = checks.filter(({ ok }) => ok === false);
    expect(failed?.message).toContain('21.24102 of the 25 that');
    expect([placed(first), placed(second)]).toEqual([2, 0]);
  });

  test('a SELL counts what its tokens may pay beyond its price', async () => {
    const session = await open();
    const sell = { ...order, side: 'SELL', price: '0.01', size: '20' };
    const preview = await resultOf(session.client, 'preview_order', sell);
    // 20 × 0.99, and the fee at its highest.
    expect(preview).toMatchObject({ can_lose_usdc: microText(19_800_000 + 220_500 + 10) });
    expect(preview).toMatchObject({ placeable: false });
  });

  test('an order that the exchange refuses counts for no limit', async () => {
    const session = await open({ perDayMicro: 12_000_000 });
    session.fake.refuses = () => true;
    const preview_id = await session.preview(order);
    const error = await errorOf(session.client, 'place_order', { ...order, preview_id });
    expect(error.code).toBe('fok_not_filled');
    session.fake.refuses = () => false;
    const again = await session.preview(order);
    await resultOf(session.client, 'place_order', { ...order, preview_id: again });
    expect(placed(session)).toBe(1);
  });

  test('places nothing when the day cannot be read or written', async () => {
    const session = await open();
    const previews = [await session.preview(order), await session.preview(order)];
    const [first, again] = previews;
    await resultOf(session.client, 'place_order', { ...order, preview_id: first });
    const [file = ''] = readdirSync(session.folder);
    writeFileSync(join(session.folder, file), '{"order":"0x1","micro":-5}\n');
    const unreadable = { ...order, preview_id: again };
    expect(await errorOf(session.client, 'place_order', unreadable)).toMatchObject({
      code: 'spending_unrecorded',
    });
    const unwritable = await open();
    const preview_id = await unwritable.preview(order);
    rmSync(unwritable.folder, { recursive: true });
    writeFileSync(unwritable.folder, '');
    const error = await errorOf(unwritable.client, 'place_order', { ...order, preview_id });
    expect(error.code).toBe('spending_unrecorded');
    expect([placed(session), placed(unwritable)]).toEqual([1, 0]);
  });

  test('an order whose response is lost is one order with one result', async () => {
    const session = await open();
    const preview_id = await session.preview(order);
    session.fake.fatedMethod = 'POST';
    session.fake.fates = ['lose the response', 'lose the request'];
    await resultOf(session.client, 'place_order', { ...order, preview_id });
    expect(placed(session)).toBe(1);
  });
});

test('place_order says of an order that was sent before what it is by now', async () => {
  const session = await open();
  const preview_id = await session.preview(order);
  const first = await resultOf<{ order_id: string }>(session.client, 'place_order', {
    ...order,
    preview_id,
  });
  expect(first).toMatchObject({ status: 'live', repeated: false, alive: null, order: null });
  const { order_id } = first;
  session.fake.fatedMethod = 'POST';
  const repeated = { ...placedResult(order_id), repeated: true, alive: false };
  session.fake.fates = [{ status: 200, body: repeated }];
  session.fake.stored = { status: 'CANCELED', reason: 'user', size_matched: '4' };
  const again = await resultOf(session.client, 'place_order', { ...order, preview_id });
  expect(again).toMatchObject({
    order_id,
    status: 'canceled',
    repeated: true,
    alive: false,
    order: { order_id, status: 'CANCELED', reason: 'user', size_matched: '4' },
  });
});

test('get_order has the code of the refusal that ended an order', async () => {
  const { client, fake } = await open();
  const id = `0x${'1'.repeat(64)}`;
  fake.answer = () => ({ status: 404, body: {} });
  fake.booked.set(id, {} as never);
  fake.stored = { status: 'CANCELED', reason: 'fenced', code: 'fenced' };
  expect(await resultOf(client, 'get_order', { order_id: id })).toMatchObject({
    reason: 'fenced',
    code: 'fenced',
  });
});

describe('cancel_orders', () => {
  test('cancels by ids, by market, or all', async () => {
    const { client, fake } = await open();
    await resultOf(client, 'cancel_orders', { order_ids: [`0x${'1'.repeat(64)}`] });
    await resultOf(client, 'cancel_orders', { market: fakeMarket.condition });
    await resultOf(client, 'cancel_orders', { all: true });
    const paths = fake.received.filter(({ method }) => method === 'DELETE').map(({ path }) => path);
    expect(paths).toEqual(['/orders', '/cancel-market-orders', '/cancel-all']);
  });

  test('gives the code of each order that was not canceled beside its reason', async () => {
    const { client, fake } = await open();
    const [left, other] = [`0x${'1'.repeat(64)}`, `0x${'2'.repeat(64)}`];
    const not_canceled = { [left]: 'the order is matched', [other]: 'a text alone' };
    const not_canceled_codes = { [left]: 'already_matched' };
    fake.answer = () => ({
      status: 200,
      body: { canceled: [], not_canceled, not_canceled_codes },
    });
    expect(await resultOf(client, 'cancel_orders', { order_ids: [left, other] })).toMatchObject({
      not_canceled: [
        { order_id: left, code: 'already_matched', reason: 'the order is matched' },
        { order_id: other, reason: 'a text alone' },
      ],
    });
  });

  test('says with `all` whether `canceled` names all of them', async () => {
    const { client, fake } = await open();
    expect(await resultOf(client, 'cancel_orders', { all: true })).toMatchObject({
      complete: true,
      in_transit: [],
    });
    fake.fatedMethod = 'DELETE';
    fake.fates = ['lose the response'];
    const market = { market: fakeMarket.condition };
    expect(await resultOf(client, 'cancel_orders', market)).toMatchObject({
      complete: false,
      in_transit: [],
    });
    const byId = await resultOf(client, 'cancel_orders', { order_ids: [`0x${'1'.repeat(64)}`] });
    expect(byId).toEqual({ canceled: ['0x1'], not_canceled: [] });
  });

  test('says with `all` which orders were on their way', async () => {
    const session = await open();
    const { client, fake } = session;
    const preview_id = await session.preview(order);
    let release = () => {};
    const arrived = new Promise<void>((resolve) => {
      fake.before = async ({ path }) => {
        if (path !== '/order') return;
        resolve();
        await new Promise<void>((served) => {
          release = served;
        });
      };
    });
    const placing = resultOf<{ order_id: string }>(client, 'place_order', { ...order, preview_id });
    await arrived;
    const canceled = await resultOf(client, 'cancel_orders', { all: true });
    release();
    const { order_id } = await placing;
    expect([...fake.booked.keys()]).toEqual([order_id]);
    expect(canceled).toMatchObject({ in_transit: [order_id] });
    expect(await resultOf(client, 'cancel_orders', { all: true })).toMatchObject({
      in_transit: [],
    });
  });

  test.each([{}, { all: true, market: fakeMarket.condition }])('refuses %j', async (input) => {
    const { client } = await open();
    expect((await errorOf(client, 'cancel_orders', input)).code).toBe('invalid_input');
  });
});

test('neither the wallet key nor the secret of the API key leaves in any request', async () => {
  const session = await open();
  const preview_id = await session.preview(order);
  await resultOf(session.client, 'place_order', { ...order, preview_id });
  const sent = JSON.stringify(session.fake.received);
  expect(session.fake.received.length).toBe(5);
  expect(sent).not.toContain('ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80');
  expect(sent).not.toContain('A'.repeat(43));
});
