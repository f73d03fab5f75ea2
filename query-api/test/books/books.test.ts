import { noQuote } from '@pm/domain/books/quote';
import {
  BookSnapshot,
  DecimalsByToken,
  ErrorResponse,
  FeeRate,
  LastTradePrice,
  LastTradesPrices,
  MidpointResponse,
  NegRiskResponse,
  PriceResponse,
  PricesResponse,
  SpreadResponse,
  TickSizeResponse,
} from '@pm/schemas/http/reading';
import type { Type } from 'typebox';
import { Value } from 'typebox/value';
import { get, marketEntry, openListener, post, type Seen, token, World } from '../in-memory.ts';

const stored = Buffer.from('{ "stored" : "as it is", "bids":[1],"asks":[2] }');
const [yes, no, unknown] = [token(1, 0), token(1, 1), '424242'];
const oneSided = token(3, 0);

const setUp = () => {
  const world = new World();
  world.books.set(yes, stored);
  world.quotes.set(yes, { ...noQuote, bid: 5000, ask: 5400, last: 5200, lastSide: 'BUY' });
  world.quotes.set(no, { ...noQuote, bid: 4600 });
  const traded = { last: 3000, lastSide: 'SELL', marketLast: 3000 } as const;
  world.quotes.set(oneSided, { ...noQuote, ...traded, ask: 3500 });
  return { world, app: openListener(world) };
};

/** For tests that change nothing in it. */
const unchanged = setUp();

function expectShape(answer: Seen, schema: Type.TSchema): void {
  expect(answer.status).toBe(200);
  expect([...Value.Errors(schema, answer.body)]).toEqual([]);
}

describe('GET /book', () => {
  it('answers the stored bytes as they are, from memory and from the store', async () => {
    const { world, app } = setUp();
    const first = await get(app, `/book?token_id=${yes}`);
    expect(first.text).toBe(stored.toString());
    expect(first.headers['content-type']).toBe('application/json; charset=utf-8');
    world.kept.set(yes, Buffer.from('{"kept":1}'));
    expect((await get(app, `/book?token_id=${yes}`)).body).toEqual({ kept: 1 });
    expect((await get(app, `/clob/book?token_id=${yes}&x=1`)).body).toEqual({ kept: 1 });
  });

  it('answers an empty book for a listed token on which nothing happened', async () => {
    const { app } = unchanged;
    const answer = await get(app, `/book?token_id=${no}`);
    expectShape(answer, BookSnapshot);
    expect(answer.body).toMatchObject({
      asset_id: no,
      bids: [],
      asks: [],
      tick_size: '0.01',
      min_order_size: '5',
      last_trade_price: '',
      neg_risk: false,
    });
  });

  it.each([
    ['', 400, 'Invalid token id'],
    ['?token_id=', 400, 'Invalid token id'],
    ['?token_id=0x1', 400, 'Invalid token id'],
    ['?token_id=1&token_id=2', 400, 'Invalid token id'],
    [`?token_id=${unknown}`, 404, 'No orderbook exists for the requested token id'],
  ])('refuses %p', async (query, status, error) => {
    const { app } = unchanged;
    const answer = await get(app, `/book${query}`);
    expect(answer).toMatchObject({ status, body: { error } });
    expect(Value.Check(ErrorResponse, answer.body)).toBe(true);
  });

  it('answers 503 when Redis is away, never an empty book', async () => {
    const { world, app } = setUp();
    world.away = 'redis';
    for (const id of [yes, no]) {
      const answer = await get(app, `/book?token_id=${id}`);
      expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
      expect(Object.keys(answer.body as object)).toEqual(['error']);
    }
  });

  it('is served while ClickHouse is away', async () => {
    const { world, app } = setUp();
    world.away = 'clickhouse';
    expect((await get(app, `/book?token_id=${yes}`)).status).toBe(200);
  });
});

describe('POST /books', () => {
  it('joins stored books in the order requested and leaves unknown tokens out', async () => {
    const { app } = unchanged;
    const answer = await post(app, '/books', [
      { token_id: no },
      { token_id: unknown },
      { token_id: yes },
    ]);
    expect(answer.status).toBe(200);
    expect(answer.text.endsWith(`,${stored.toString()}]`)).toBe(true);
    expect(answer.body).toHaveLength(2);
  });

  it('fills one side only when requested to', async () => {
    const { app } = unchanged;
    const answer = await post(app, '/clob/books', [
      { token_id: yes, side: 'BUY' },
      { token_id: yes, side: 'SELL' },
    ]);
    expect(answer.body).toEqual([
      { stored: 'as it is', bids: [1], asks: [] },
      { stored: 'as it is', bids: [], asks: [2] },
    ]);
  });

  it('answers nothing for nothing', async () => {
    expect((await post(unchanged.app, '/books', [])).body).toEqual([]);
  });
});

describe.each(['/books', '/prices', '/midpoints', '/spreads', '/last-trades-prices'])(
  'the body of POST %s',
  (path) => {
    it.each<[string, unknown, string]>([
      ['no array', { token_id: yes }, 'Invalid payload'],
      ['null', null, 'Invalid payload'],
      ['an item that is no object', ['1'], 'Invalid payload'],
      ['a number as token', [{ token_id: 1 }], 'Invalid payload'],
      ['a token that is none', [{ token_id: "1' OR 1=1" }], 'Invalid payload'],
      ['no JSON', '{', 'Invalid payload'],
      ['an empty body', '', 'Invalid payload'],
      [
        '501 tokens',
        Array.from({ length: 501 }, () => ({ token_id: '1' })),
        'Payload exceeds the limit',
      ],
      ['too many bytes', `["${'x'.repeat(200_000)}"]`, 'Payload exceeds the limit'],
      ['a side that is none', [{ token_id: yes, side: 'both' }], 'Invalid side'],
    ])('may not be %s', async (_title, body, error) => {
      expect(await post(unchanged.app, path, body)).toMatchObject({ status: 400, body: { error } });
    });

    it('may name 500 tokens', async () => {
      const body = Array.from({ length: 500 }, (_, index) => ({ token_id: String(index + 900) }));
      expect((await post(unchanged.app, path, body)).status).toBe(200);
    });
  },
);

describe('prices of one token', () => {
  const cases: [string, number, unknown, Type.TSchema | null][] = [
    [`/price?token_id=${yes}&side=BUY`, 200, { price: '0.54' }, PriceResponse],
    [`/price?token_id=${yes}&side=SELL`, 200, { price: '0.5' }, PriceResponse],
    [`/price?token_id=${yes}`, 400, { error: 'Invalid side' }, null],
    [`/price?token_id=${yes}&side=both`, 400, { error: 'Invalid side' }, null],
    [`/price?token_id=${yes}&side=buy`, 200, { price: '0.54' }, PriceResponse],
    [`/clob/price?token_id=${yes}&side=BUY`, 200, { price: '0.5' }, PriceResponse],
    [`/clob/price?token_id=${yes}&side=sell`, 200, { price: '0.54' }, PriceResponse],
    [`/price?token_id=x&side=BUY`, 400, { error: 'Invalid token id' }, null],
    [
      `/price?token_id=${no}&side=BUY`,
      404,
      { error: 'No orderbook exists for the requested token id' },
      null,
    ],
    [`/midpoint?token_id=${yes}`, 200, { mid: '0.52' }, MidpointResponse],
    [
      `/midpoint?token_id=${no}`,
      404,
      { error: 'No orderbook exists for the requested token id' },
      null,
    ],
    // Under /clob an empty side counts as 0 or 1, unless there is a trade to show.
    [`/clob/midpoint?token_id=${yes}`, 200, { mid: '0.52' }, MidpointResponse],
    [`/clob/midpoint?token_id=${no}`, 200, { mid: '0.73' }, MidpointResponse],
    [`/clob/midpoint?token_id=${token(2, 0)}`, 200, { mid: '0.5' }, MidpointResponse],
    [`/clob/midpoint?token_id=${oneSided}`, 200, { mid: '0.3' }, MidpointResponse],
    [
      `/clob/midpoint?token_id=${unknown}`,
      404,
      { error: 'No orderbook exists for the requested token id' },
      null,
    ],
    [`/spread?token_id=${yes}`, 200, { spread: '0.04' }, SpreadResponse],
    [
      `/spread?token_id=${no}`,
      404,
      { error: 'No orderbook exists for the requested token id' },
      null,
    ],
    [
      `/spread?token_id=${unknown}`,
      404,
      { error: 'No orderbook exists for the requested token id' },
      null,
    ],
    [`/last-trade-price?token_id=${yes}`, 200, { price: '0.52', side: 'BUY' }, LastTradePrice],
    [
      `/last-trade-price?token_id=${no}`,
      404,
      { error: 'No orderbook exists for the requested token id' },
      null,
    ],
    [`/clob/last-trade-price?token_id=${no}`, 200, { price: '0', side: '' }, LastTradePrice],
    [
      `/clob/last-trade-price?token_id=${unknown}`,
      404,
      { error: 'No orderbook exists for the requested token id' },
      null,
    ],
    [`/tick-size?token_id=${yes}`, 200, { minimum_tick_size: 0.01 }, TickSizeResponse],
    [`/tick-size/${yes}`, 200, { minimum_tick_size: 0.01 }, TickSizeResponse],
    ['/tick-size', 400, { error: 'Invalid token id' }, null],
    ['/tick-size/abc', 400, { error: 'Invalid token id' }, null],
    [`/tick-size/${unknown}`, 404, { error: 'market not found' }, null],
    [`/neg-risk?token_id=${yes}`, 200, { neg_risk: false }, NegRiskResponse],
    [`/neg-risk/${unknown}`, 404, { error: 'market not found' }, null],
  ];

  it.each(cases)('GET %s', async (url, status, body, schema) => {
    const answer = await get(unchanged.app, url);
    expect(answer).toMatchObject({ status, body });
    if (schema !== null) expectShape(answer, schema);
  });

  it('the fee rate of a token is that of the specification', async () => {
    const { world, app } = setUp();
    const body = {
      base_fee: 441,
      fd: { r: 0.0441, e: 1, to: true },
      fee_schedule: {
        rate: 0.0441,
        exponent: 1,
        takerOnly: true,
        rebateRate: 0.2,
        category: 'crypto',
        version: 1,
        source: 'local',
      },
    };
    for (const url of [
      `/fee-rate/${yes}`,
      `/fee-rate?token_id=${yes}`,
      `/clob/fee-rate?token_id=${yes}`,
    ]) {
      const answer = await get(app, url);
      expect(answer.body).toEqual(body);
      expectShape(answer, FeeRate);
    }
    world.catalog.apply(marketEntry(1, { feeRateBps: 200, feeVersion: 2 }));
    expect((await get(app, `/fee-rate/${yes}`)).body).toMatchObject({
      fee_schedule: { rate: 0.02, version: 2 },
    });
    const notice = { nextFeeRateBps: 500, feeChangesAtMs: Date.UTC(2026, 10, 30) };
    world.catalog.apply(marketEntry(1, { feeRateBps: 200, ...notice }));
    const noticed = await get(app, `/fee-rate/${yes}`);
    expect(noticed.body).toMatchObject({
      fee_schedule: { rate: 0.02, nextRate: 0.05, nextRateAt: '2026-11-30T00:00:00.000Z' },
    });
    expectShape(noticed, FeeRate);
    expectShape(await get(app, '/fee-rate'), FeeRate);
    expect((await get(app, `/fee-rate/${unknown}`)).body).toEqual({ error: 'market not found' });
  });
});

describe('prices of many tokens', () => {
  it('have a key for each side that is there', async () => {
    const { app } = unchanged;
    const answer = await post(app, '/prices', [
      { token_id: yes },
      { token_id: no },
      { token_id: unknown },
    ]);
    expectShape(answer, PricesResponse);
    expect(answer.body).toEqual({ [yes]: { BUY: '0.54', SELL: '0.5' }, [no]: { SELL: '0.46' } });
    const oneSide = await post(app, '/prices', [{ token_id: yes, side: 'SELL' }]);
    expect(oneSide.body).toEqual({ [yes]: { SELL: '0.5' } });
  });

  it('have midpoints and spreads where there are both sides', async () => {
    const { app } = unchanged;
    const body = [{ token_id: no }, { token_id: unknown }, { token_id: yes }, { token_id: yes }];
    for (const [path, shown] of [
      ['/midpoints', '0.52'],
      ['/spreads', '0.04'],
    ] as const) {
      const answer = await post(app, path, body);
      expectShape(answer, DecimalsByToken);
      expect(answer.body).toEqual({ [yes]: shown });
    }
    expect((await post(app, '/clob/midpoints', body)).body).toEqual({
      [yes]: '0.52',
      [no]: '0.73',
    });
  });

  it('are the same by query', async () => {
    const { app } = unchanged;
    for (const path of ['/prices', '/midpoints', '/spreads', '/last-trades-prices']) {
      const byBody = await post(app, path, [{ token_id: yes }, { token_id: unknown }]);
      for (const query of [
        `token_ids=${yes},${unknown}`,
        `token_ids=${yes}&token_ids=${unknown}`,
        `token_ids=${yes}%2C${unknown}`,
      ])
        expect((await get(app, `${path}?${query}`)).body).toEqual(byBody.body);
    }
    const sides = await get(app, `/prices?token_ids=${yes},${yes},${no}&sides=BUY,SELL,BUY`);
    expect(sides.body).toEqual({ [yes]: { BUY: '0.54', SELL: '0.5' }, [no]: {} });
  });

  it.each([
    ['', 'Invalid payload'],
    ['?token_ids=', 'Invalid payload'],
    ['?token_ids=x', 'Invalid payload'],
    [`?token_ids=${yes},`, 'Invalid payload'],
    [`?token_ids=${yes}&sides=BUY,SELL`, 'Invalid payload'],
    [`?token_ids=${yes}&sides=both`, 'Invalid side'],
    [`?token_ids=${Array.from({ length: 501 }, () => '1').join(',')}`, 'Payload exceeds the limit'],
  ])('may not be requested for by %p', async (query, error) => {
    for (const path of ['/prices', '/midpoints', '/spreads', '/last-trades-prices'])
      expect(await get(unchanged.app, path + query)).toMatchObject({
        status: 400,
        body: { error },
      });
  });

  it('have last trades where there were any, as often as they were requested for', async () => {
    const { app } = unchanged;
    const answer = await post(app, '/last-trades-prices', [
      { token_id: yes },
      { token_id: no },
      { token_id: yes },
    ]);
    expectShape(answer, LastTradesPrices);
    const shown = { token_id: yes, price: '0.52', side: 'BUY' };
    expect(answer.body).toEqual([shown, shown]);
  });
});
