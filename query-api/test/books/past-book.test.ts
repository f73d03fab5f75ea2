import { createHash } from 'node:crypto';
import { orderName } from '@pm/domain/books/order-name';
import { bookJson } from '@pm/schemas/http/book-hash';
import { BookSnapshot } from '@pm/schemas/http/reading';
import { Value } from 'typebox/value';
import { condition, get, nowMs, openListener, token, World } from '../in-memory.ts';

const [yes, no] = [token(1, 0), token(1, 1)];
const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

const orderId = (byte: number) => `0x${byte.toString(16).padStart(64, '0')}`;
const nameOf = (byte: number) =>
  orderName(Buffer.alloc(32, 1), condition(1), Buffer.from(orderId(byte).slice(2), 'hex'));

const setUp = () => {
  const world = new World();
  world.kept.set(yes, Buffer.from('{"now":true}'));
  world.pastBook = {
    timeMs: 1_700_000_000_000,
    tick: 100,
    minSizeMicro: 5_000_000,
    lasts: [5_200, 4_800],
    levels: {
      bids: [{ price: 4_000, sizeMicro: 3_000_000 }],
      asks: [
        { price: 6_000, sizeMicro: 1_000_000 },
        { price: 6_100, sizeMicro: 2_000_000 },
      ],
    },
    orders: {
      bids: [
        { orderId: orderId(2), price: 4_000, sizeMicro: 1_000_000 },
        { orderId: orderId(1), price: 4_000, sizeMicro: 2_000_000 },
      ],
      asks: [
        { orderId: orderId(3), price: 6_000, sizeMicro: 1_000_000 },
        { orderId: orderId(4), price: 6_100, sizeMicro: 2_000_000 },
      ],
    },
  };
  return { world, app: openListener(world) };
};

/** For tests that change nothing in it. */
const unchanged = setUp();

describe('GET /book of a past moment', () => {
  it('has the bytes of the answer it had then', async () => {
    const answer = await get(unchanged.app, `/book?token_id=${no}&at=1700000000123`);
    expect([...Value.Errors(BookSnapshot, answer.body)]).toEqual([]);
    expect(answer.text).toBe(
      bookJson(
        {
          market: condition(1),
          assetId: no,
          timestamp: '1700000000000',
          bids: [
            { price: '0.39', size: '2' },
            { price: '0.4', size: '1' },
          ],
          asks: [{ price: '0.6', size: '3' }],
          minOrderSize: '5',
          tickSize: '0.01',
          negRisk: false,
          lastTradePrice: '0.48',
        },
        sha1,
      ),
    );
  });

  it('has every order at level 3, of one price the first to trade last, under the hash of the levels', async () => {
    const { app } = unchanged;
    const levels = await get(app, `/book?token_id=${yes}&at_offset=7&level=2`);
    const orders = await get(app, `/clob/book?token_id=${yes}&at_offset=7&level=3`);
    expect(orders.body).toEqual({
      ...(levels.body as object),
      bids: [
        { price: '0.4', size: '1', order: nameOf(2) },
        { price: '0.4', size: '2', order: nameOf(1) },
      ],
      asks: [
        { price: '0.61', size: '2', order: nameOf(4) },
        { price: '0.6', size: '1', order: nameOf(3) },
      ],
    });
  });

  it('shows no id of an order', async () => {
    const answer = await get(unchanged.app, `/book?token_id=${yes}&at_offset=7&level=3`);
    expect(answer.text).not.toContain('order_id');
    for (const byte of [1, 2, 3, 4]) expect(answer.text).not.toContain(orderId(byte).slice(-8));
  });

  it('names an order by installation and market', () => {
    const [secret, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const id = Buffer.alloc(32, 9);
    const names = [
      orderName(secret, condition(1), id),
      orderName(secret, condition(2), id),
      orderName(other, condition(1), id),
      orderName(secret, condition(1), Buffer.alloc(32, 8)),
    ];
    expect(new Set(names).size).toBe(4);
    expect(orderName(secret, condition(1), id)).toBe(names[0]);
    for (const name of names) expect(name).toMatch(/^[0-9a-f]{16}$/);
  });

  it('takes milliseconds, ISO times and offsets', async () => {
    const { world, app } = setUp();
    for (const moment of ['at=1700000000000', 'at=2023-11-14T22:13:20.000Z', 'at_offset=0'])
      expect((await get(app, `/book?token_id=${yes}&${moment}`)).status).toBe(200);
    const atMs = 1_700_000_000_000;
    expect(world.moments).toEqual([{ atMs }, { atMs }, { inOffset: 0 }]);
  });

  it.each([
    ['at=', 'Invalid at or at_offset'],
    ['at=yesterday', 'Invalid at or at_offset'],
    ['at=-1', 'Invalid at or at_offset'],
    ['at=1900-01-01', 'Invalid at or at_offset'],
    ['at=0123', 'Invalid at or at_offset'],
    ['at=01700000000000', 'Invalid at or at_offset'],
    [`at=${nowMs + 1}`, 'Invalid at or at_offset'],
    ['at=1&at=2', 'Invalid at or at_offset'],
    ['at=1&at_offset=2', 'Invalid at or at_offset'],
    ['at_offset=1.5', 'Invalid at or at_offset'],
    ['level=3', 'Invalid at or at_offset'],
    ['level=1&at=1', 'Invalid level'],
  ])('refuses %p', async (query, error) => {
    const answer = await get(unchanged.app, `/book?token_id=${yes}&${query}`);
    expect(answer).toMatchObject({ status: 400, body: { error } });
  });

  it('is refused by an offset that has not come, and waited for while it is not stored', async () => {
    const { world, app } = setUp();
    world.inputEnd = 8;
    expect((await get(app, `/book?token_id=${yes}&at_offset=7`)).status).toBe(200);
    for (const offset of ['8', '4294967296', '99999999999'])
      expect(await get(app, `/book?token_id=${yes}&at_offset=${offset}`)).toMatchObject({
        status: 400,
        body: { error: 'Invalid at or at_offset' },
      });
    world.away = 'clickhouse';
    expect((await get(app, `/book?token_id=${yes}&at_offset=7`)).status).toBe(503);
  });

  it('says through when the tables were complete; the book of now and a refusal do not', async () => {
    const { world, app } = setUp();
    const through = async (path: string) => (await get(app, path)).headers['x-complete-through'];
    world.completeThroughMs = nowMs - 500;
    for (const mount of ['', '/clob'])
      for (const moment of ['at=1700000000000', 'at_offset=7', 'at_offset=7&level=3'])
        expect(await through(`${mount}/book?token_id=${yes}&${moment}`)).toBe(
          new Date(nowMs - 500).toISOString(),
        );
    for (const path of ['', '&at=yesterday', '&level=3'])
      expect(await through(`/book?token_id=${yes}${path}`)).toBeUndefined();
    world.away = 'clickhouse';
    expect(await through(`/book?token_id=${yes}&at_offset=7`)).toBeUndefined();
  });

  it('is a 404 before the market was listed, and a 503 without ClickHouse', async () => {
    const { world, app } = setUp();
    world.away = 'clickhouse';
    expect(await get(app, `/book?token_id=${yes}&at=1`)).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
    });
    world.away = null;
    world.pastBook = null;
    expect((await get(app, `/book?token_id=${yes}&at=1`)).status).toBe(404);
  });
});
