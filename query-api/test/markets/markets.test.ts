import { noFigures, noMoves } from '@pm/domain/markets/figures';
import {
  FamilyMarketResponse,
  MarketResponse,
  SamplingMarket,
  SamplingPage,
} from '@pm/schemas/http/catalog';
import { CompactMarket, SimplifiedMarket } from '@pm/schemas/http/catalog-lists';
import { ErrorResponse } from '@pm/schemas/http/reading';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import {
  condition,
  eventEntry,
  get,
  marketEntry,
  openListener,
  token,
  World,
  wallet,
} from '../in-memory.ts';

const exact = (schema: Type.TObject) =>
  Type.Object(schema.properties, { additionalProperties: false });
const errorsOf = (schema: Type.TSchema, body: unknown) => [...Value.Errors(schema, body)];
const idsOf = (body: unknown) => (body as { id: string }[]).map((market) => market.id).join(' ');

const setUp = () => {
  const world = new World();
  world.catalog.apply(eventEntry('2', { tagIds: [], seriesIds: [], slug: 'other' }));
  world.catalog.apply(
    marketEntry(4, {
      eventId: '2',
      closed: true,
      question: 'alpha?',
      rewardsDailyMicro: 0,
      creator: wallet(0xdd),
      takerDelayMs: 250,
    }),
  );
  world.quotes.set(token(1, 0), {
    bid: 5000,
    ask: 5400,
    last: 5100,
    lastSide: 'BUY',
    marketLast: 5100,
  });
  return { world, app: openListener(world) };
};

/** For tests that change nothing in it. */
const unchanged = setUp();
/** For tests that each list market 1 again. */
const changing = setUp();

describe('GET /markets as the catalog has it', () => {
  it('has exactly the fields of a market with its event, newest first', async () => {
    const answer = await get(unchanged.app, '/markets');
    expect(idsOf(answer.body)).toBe('4 3 2 1');
    expect(errorsOf(Type.Array(exact(MarketResponse)), answer.body)).toEqual([]);
    expect(answer.body).toMatchObject([
      { id: '4', events: [{ id: '2', slug: 'other' }] },
      {},
      {},
      {},
    ]);
  });

  it('carries under /gamma the fields a trader needs, and figures', async () => {
    const { world, app } = setUp();
    const volumes = {
      volumeMicro: 2_500_000,
      dayVolumeMicro: 500_000,
      weekVolumeMicro: 600_000,
      monthVolumeMicro: 700_000,
      yearVolumeMicro: 800_000,
    };
    const moves = { dayMicro: -20_000, weekMicro: 0, monthMicro: null, competitive: 0 };
    world.catalog.takeFigures(new Map([[1, { ...volumes, liquidityMicro: 7_000_000, moves }]]));
    const { body } = await get(app, '/gamma/markets?id=1');
    expect(errorsOf(Type.Array(FamilyMarketResponse), body)).toEqual([]);
    expect(body).toMatchObject([
      {
        outcomePrices: '["0.52","0.48"]',
        orderPriceMinTickSize: 0.01,
        negRisk: false,
        volume: '2.5',
        volumeNum: 2.5,
        volume24hr: 0.5,
        volume1wk: 0.6,
        volume1mo: 0.7,
        volume1yr: 0.8,
        oneDayPriceChange: -0.02,
        oneWeekPriceChange: 0,
        competitive: 1 / (1 + 0.02 ** 2),
        liquidityNum: 7,
        bestBid: 0.5,
        bestAsk: 0.54,
        lastTradePrice: 0.51,
        feesEnabled: true,
        feeSchedule: { rate: 0.0441, exponent: 1, takerOnly: true, rebateRate: 0.2 },
        startDateIso: '2026-01-01',
        endDateIso: '2026-12-01',
        acceptingOrdersTimestamp: '2026-01-01T00:00:00.000Z',
        umaResolutionStatuses: '[]',
        clobRewards: [
          {
            id: '1',
            conditionId: condition(1),
            assetAddress: '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174',
            rewardsAmount: 0,
            rewardsDailyRate: 12.5,
            startDate: '2026-01-01',
          },
        ],
        rewardsMinSize: 50,
        rewardsMaxSpread: 3.5,
      },
    ]);
    const [market = {}] = body as readonly object[];
    const absent = ['groupItemTitle', 'negRiskMarketID', 'closedTime', 'oneMonthPriceChange'];
    expect(absent.filter((name) => name in market)).toEqual([]);
  });

  it.each([
    ['a fee of nothing', { feeRateBps: 0 }, { feesEnabled: false, feeSchedule: undefined }],
    ['no reward', { rewardsDailyMicro: 0 }, { clobRewards: undefined, rewardsMinSize: 50 }],
    ['no end', { endDateMs: 0 }, { endDateIso: undefined }],
    ['a title in its event', { groupItemTitle: 'June 30' }, { groupItemTitle: 'June 30' }],
    [
      'a group',
      { negRisk: true, negRiskMarketId: Buffer.alloc(32, 7) },
      { negRiskMarketID: `0x${'07'.repeat(32)}` },
    ],
    [
      'a closing',
      { closed: true, closedAtMs: Date.UTC(2026, 4, 1) },
      { closedTime: '2026-05-01T00:00:00.000Z' },
    ],
    [
      'a proposal after a challenge',
      { challenges: 1, proposedPayout0: 0 },
      { umaResolutionStatuses: '["proposed","disputed","proposed"]' },
    ],
    [
      'a resolution',
      { challenges: 0, proposedPayout0: 0, payout0: 0 },
      { umaResolutionStatuses: '["proposed","resolved"]', oneDayPriceChange: undefined },
    ],
  ])('shows under /gamma what a market with %s has', async (_name, changes, shown) => {
    const { world, app } = setUp();
    world.catalog.apply(marketEntry(1, changes));
    const known = { ...noFigures, moves: { ...noMoves, dayMicro: 1 } };
    world.catalog.takeFigures(new Map([[1, known]]));
    const { body } = await get(app, '/gamma/markets?id=1');
    expect(errorsOf(Type.Array(FamilyMarketResponse), body)).toEqual([]);
    const [market = {}] = body as readonly Record<string, unknown>[];
    const found = Object.keys(shown).map((name) => [
      name,
      (market as Record<string, unknown>)[name],
    ]);
    expect(Object.fromEntries(found)).toEqual(shown);
  });

  it('shows no field of the family at the root', async () => {
    const { body } = await get(unchanged.app, '/markets?id=1');
    const [market = {}] = body as readonly object[];
    const ofFamily = ['feeSchedule', 'feesEnabled', 'volume1wk', 'competitive', 'startDateIso'];
    expect(ofFamily.filter((name) => name in market)).toEqual([]);
  });

  const traded = setUp();
  traded.world.sites.set('example.test', [wallet(0xcc)]);
  const moves = { ...noMoves, competitive: 1, weekMicro: -1 };
  const figures = { ...noFigures, volumeMicro: 5, liquidityMicro: 7, moves };
  traded.world.catalog.takeFigures(new Map([[2, figures]]));

  it.each([
    ['limit=2', '4 3'],
    ['limit=2&offset=3', '1'],
    ['closed=true', '4'],
    ['closed=false&active=true&archived=false', '3 2 1'],
    ['tag=crypto', '3 2 1'],
    ['tag_slug=crypto', '3 2 1'],
    ['tag_id=7', '3 2 1'],
    ['tag_id=8', ''],
    ['event_id=2', '4'],
    ['event_slug=other', '4'],
    ['eventSlug=event-1', '3 2 1'],
    ['event_slug=event-1&eventSlug=other', ''],
    ['event_slug=none', ''],
    ['slug=market-2', '2'],
    ['slug=market-2,market-1', '2 1'],
    [`conditionId=${condition(2)}`, '2'],
    [`condition_id=${condition(2).toUpperCase().replace('0X', '0x')}`, '2'],
    [`condition_ids=${condition(2)}&condition_ids=${condition(3)}`, '3 2'],
    [`clob_token_ids=${token(1, 1)}&clob_token_ids=${token(3, 0)}`, '3 1'],
    [`clob_token_ids=${token(1, 1)}&slug=market-3`, ''],
    [`clob_token_ids=${condition(2)}:1,${token(3, 0)},${condition(99)}:0`, '3 2'],
    [`creator=${wallet(0xdd)}`, '4'],
    ['creator=example.test', '3 2 1'],
    ['creator=other.test', ''],
    ['order=title&ascending=true', '4 1 2 3'],
    ['order=endDate', '3 2 1 4'.split(' ').sort().reverse().join(' ')],
    ['order=volume', '2 4 3 1'],
    ['order=liquidity&ascending=true', '1 3 4 2'],
    ['order=competitive', '2 4 3 1'],
    ['order=oneWeekPriceChange', '4 3 1 2'],
    ['rewards_min_size=50', '4 3 2 1'],
    ['rewards_min_size=50.000001', ''],
    ['uma_resolution_status=proposed', ''],
    ['volume_min=0.000005', '2'],
    ['volume_min=0&volume_num_min=0.000005', '2'],
    ['mirror=false&unknown=1', '4 3 2 1'],
  ])('with %s', async (query, ids) => {
    const answer = await get(traded.app, `/markets?${query}`);
    expect([answer.status, idsOf(answer.body)]).toEqual([200, ids]);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['offset=-1', 'offset'],
    ['offset=1&offset=2', 'offset'],
    ['closed=maybe', 'closed'],
    ['tag_id=x', 'tag_id'],
    ['event_id=1.5', 'event_id'],
    ['condition_ids=0x12', 'condition_ids'],
    ['clob_token_ids=abc', 'clob_token_ids'],
    ['order=closed', 'order'],
    ['order=id,slug,volume,question,endDate', 'order'],
    ['start_date_min=soon', 'start_date_min'],
    ['volume_min=-1', 'volume_min'],
    ['rewards_min_size=-1', 'rewards_min_size'],
    ['uma_resolution_status=settled', 'uma_resolution_status'],
  ])('refuses %s', async (query, name) => {
    const answer = await get(unchanged.app, `/markets?${query}`);
    expect([answer.status, answer.body]).toEqual([
      400,
      { type: 'bad request', error: `invalid ${name}` },
    ]);
  });

  it('takes larger pages and other spellings under /gamma', async () => {
    const { app } = unchanged;
    expect((await get(app, '/gamma/markets?limit=500&order=volume_24hr')).status).toBe(200);
    expect((await get(app, '/markets?order=volume_24hr')).status).toBe(400);
  });

  it('says 503 rather than sort by figures that were never read', async () => {
    const { world, app } = setUp();
    world.hasFigures = false;
    for (const query of [
      'order=volume',
      'liquidity_min=1',
      'order=id,volume24hr',
      'order=competitive',
    ]) {
      const answer = await get(app, `/markets?${query}`);
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
    }
    expect((await get(app, '/markets?order=id')).status).toBe(200);
  });
});

describe('GET /markets as the order book family has it', () => {
  it.each(['/markets?next_cursor=MA==', '/markets?next_cursor=', '/clob/markets'])(
    'is a page of full markets, oldest first: %s',
    async (url) => {
      const { body } = await get(unchanged.app, url);
      expect(errorsOf(SamplingPage, body)).toEqual([]);
      expect(body).toMatchObject({
        next_cursor: 'LTE=',
        limit: 500,
        count: 4,
        data: [
          { market_id: 1, status: 'active', accepting_orders: true },
          { market_id: 2 },
          { market_id: 3 },
          {
            market_id: 4,
            status: 'closed',
            accepting_orders: false,
            creator: wallet(0xdd),
            rewards: { rates: [] },
            itode: true,
            taker_order_delay_ms: 250,
          },
        ],
      });
    },
  );

  it('continues at a cursor, and refuses malformed ones', async () => {
    const world = new World();
    for (let market = 5; market <= 505; market += 1) world.catalog.apply(marketEntry(market));
    const app = openListener(world);
    const first = await get(app, '/clob/markets?next_cursor=MA==');
    expect(first.body).toMatchObject({ count: 500, next_cursor: 'NTAw' });
    const second = await get(app, '/clob/markets?next_cursor=NTAw');
    expect(second.body).toMatchObject({ count: 4, next_cursor: 'LTE=' });
    expect((await get(app, '/markets?next_cursor=LTE=')).body).toMatchObject({
      count: 0,
      data: [],
    });
    for (const url of ['/markets?next_cursor=x', '/clob/simplified-markets?next_cursor=x']) {
      const refused = await get(app, url);
      expect([refused.status, refused.body]).toEqual([400, { error: 'invalid next_cursor' }]);
    }
  });

  it('has a reduced form', async () => {
    const { app } = unchanged;
    const all = await get(app, '/clob/simplified-markets');
    const sampling = await get(app, '/clob/sampling-simplified-markets');
    for (const { body } of [all, sampling]) {
      const { data } = body as { data: unknown[] };
      expect(errorsOf(Type.Array(exact(SimplifiedMarket)), data)).toEqual([]);
    }
    expect([all.body, sampling.body]).toMatchObject([{ count: 4 }, { count: 3 }]);
  });

  it('has every text that the specification lists at the root, also of things that do not exist', async () => {
    const { app } = unchanged;
    const [full, simplified] = await Promise.all(
      ['/sampling-markets', '/sampling-simplified-markets'].map(async (url) => {
        const { data } = (await get(app, url)).body as { data: readonly object[] };
        return data[0];
      }),
    );
    const tokens = [{ mirror_token_id: '' }, { mirror_token_id: '' }];
    const texts = { creator: expect.any(String), mirror_condition_id: '', tokens };
    expect(full).toMatchObject({ ...texts, game_start_time: '' });
    expect(simplified).toMatchObject(texts);
    expect(simplified).not.toHaveProperty('game_start_time');
  });
});

describe('one market', () => {
  it('is found by number and by slug, with its event', async () => {
    const { app } = unchanged;
    for (const url of ['/markets/1', '/markets/slug/market-1']) {
      const { body } = await get(app, url);
      expect(errorsOf(exact(MarketResponse), body)).toEqual([]);
      expect(body).toMatchObject({ id: '1', slug: 'market-1', outcomes: '["Yes","No"]' });
    }
    expect((await get(app, '/gamma/markets/1')).body).toMatchObject({ negRisk: false });
  });

  it('takes orders since it was listed, whatever start is announced', async () => {
    const { world, app } = setUp();
    const createdAtMs = Date.UTC(2026, 4, 1);
    world.catalog.apply(marketEntry(5, { createdAtMs, startDateMs: Date.UTC(2099, 0, 1) }));
    expect((await get(app, `/clob/markets/${condition(5)}`)).body).toMatchObject({
      accepting_orders: true,
      accepting_order_timestamp: '2026-05-01T00:00:00.000Z',
      startDate: '2099-01-01T00:00:00.000Z',
    });
  });

  it('by its condition is that of the order book family, with the words of the catalog', async () => {
    const { app } = unchanged;
    for (const url of [`/markets/${condition(1)}`, `/clob/markets/${condition(1)}`]) {
      const { body } = await get(app, url);
      expect(errorsOf(SamplingMarket, body)).toEqual([]);
      expect(body).toMatchObject({
        outcomes: ['Yes', 'No'],
        minimum_tick_size: 0.01,
        conditionId: condition(1),
        clobTokenIds: `["${token(1, 0)}","${token(1, 1)}"]`,
        events: [{ id: '1' }],
      });
    }
  });

  it('by its condition under /gamma is that of the catalog', async () => {
    const { app } = unchanged;
    const byNumber = await get(app, '/gamma/markets/1');
    const byCondition = await get(app, `/gamma/markets/${condition(1)}`);
    expect(errorsOf(FamilyMarketResponse, byCondition.body)).toEqual([]);
    expect(byCondition.body).toMatchObject({ outcomes: '["Yes","No"]' });
    expect(byCondition.text).toBe(byNumber.text);
  });

  it.each([
    [{}, 'active'],
    [{ mode: 'POST_ONLY' }, 'active'],
    [{ mode: 'HALTED' }, 'paused'],
    [{ mode: 'CANCEL_ONLY' }, 'paused'],
    [{ active: false }, 'paused'],
    [{ archived: true }, 'paused'],
    [{ proposedPayout0: 10_000, paysAtMs: 1 }, 'paused'],
    [{ closed: true, active: false }, 'closed'],
    [{ closed: true, payout0: 0 }, 'resolved'],
  ] as const)('with %j is %s', async (changes, status) => {
    changing.world.catalog.apply(marketEntry(1, changes));
    for (const path of ['/markets?next_cursor=', '/simplified-markets']) {
      const { data } = (await get(changing.app, path)).body as { data: object[] };
      expect(data[0]).toMatchObject({ status, accepting_orders: status === 'active' });
    }
  });

  it.each([
    [{}, {}],
    [
      { proposedPayout0: 3_000, paysAtMs: 1_800_000_000_000 },
      {
        umaResolutionStatus: 'proposed',
        umaEndDate: '2027-01-15T08:00:00.000Z',
        proposedOutcomePrices: '["0.3","0.7"]',
      },
    ],
    [
      { paysAtMs: 1_800_000_000_000, challengedAtMs: 1_799_999_999_999 },
      { umaResolutionStatus: 'disputed', umaEndDate: '2027-01-15T08:00:00.000Z' },
    ],
    [
      { payout0: 3_000, proposedPayout0: 3_000, paysAtMs: 1_800_000_000_000, closed: true },
      { umaResolutionStatus: 'resolved', umaEndDate: '2027-01-15T08:00:00.000Z' },
    ],
    [{ payout0: 0, closed: true }, { umaResolutionStatus: 'resolved' }],
  ] as const)('with %j shows how far it is resolved', async (changes, facts) => {
    changing.world.catalog.apply(marketEntry(1, changes));
    for (const path of ['/markets/1', '/gamma/markets/1', `/gamma/markets/${condition(1)}`]) {
      const body = (await get(changing.app, path)).body as Record<string, unknown>;
      const names = ['umaResolutionStatus', 'umaEndDate', 'proposedOutcomePrices'];
      const shown = names.filter((name) => name in body).map((name) => [name, body[name]]);
      expect(Object.fromEntries(shown)).toEqual(facts);
    }
  });

  it.each([
    ['/markets/9', 404, { type: 'not found error', error: 'id not found' }],
    ['/markets/nonsense', 404, { type: 'not found error', error: 'id not found' }],
    [`/markets/1?creator=${wallet(0xdd)}`, 404, { type: 'not found error', error: 'id not found' }],
    ['/markets/slug/none', 404, { type: 'not found error', error: 'slug not found' }],
    [`/markets/${condition(9)}`, 404, { error: 'market not found' }],
    ['/markets/0x12', 400, { error: 'Invalid market' }],
    ['/gamma/markets/0x12', 404, { type: 'not found error', error: 'id not found' }],
    [`/gamma/markets/${condition(9)}`, 404, { type: 'not found error', error: 'id not found' }],
    [
      `/gamma/markets/${condition(1)}?creator=${wallet(0xdd)}`,
      404,
      { type: 'not found error', error: 'id not found' },
    ],
    ['/clob/markets/12', 400, { error: 'Invalid market' }],
    ['/markets/9/description', 404, { type: 'not found error', error: 'id not found' }],
    ['/markets-by-token/x', 400, { error: 'Invalid token id' }],
    ['/markets-by-token/5', 404, { error: 'market not found' }],
    ['/clob-markets/5', 400, { error: 'Invalid market' }],
    [`/clob-markets/${condition(9)}`, 404, { error: 'market not found' }],
  ])('%s is refused', async (url, status, body) => {
    const answer = await get(unchanged.app, url);
    expect([answer.status, answer.body]).toEqual([status, body]);
    if (!('type' in body)) expect(Value.Check(ErrorResponse, body)).toBe(true);
  });

  it('has parts of its own', async () => {
    const { app } = unchanged;
    expect((await get(app, '/markets/1/description')).body).toEqual({
      description: 'Resolves to Yes if it happens.',
    });
    expect((await get(app, `/markets/${condition(1)}/tags`)).body).toMatchObject([{ id: '7' }]);
    expect((await get(app, '/markets/4/tags')).body).toEqual([]);
    expect((await get(app, `/markets-by-token/${token(2, 1)}`)).body).toEqual({
      condition_id: condition(2),
      creator: wallet(0xcc),
      primary_token_id: token(2, 0),
      secondary_token_id: token(2, 1),
    });
  });

  it('has a compact form', async () => {
    const { app } = unchanged;
    const { body } = await get(app, `/clob-markets/${condition(1)}`);
    expect(errorsOf(exact(CompactMarket), body)).toEqual([]);
    expect(body).toMatchObject({
      c: condition(1),
      t: [
        { t: token(1, 0), o: 'Yes' },
        { t: token(1, 1), o: 'No' },
      ],
      mts: 0.01,
      mos: 5,
      nr: false,
      fd: { r: 0.0441, e: 1, to: true },
      tbf: 441,
      r: { rates: [{ rewards_daily_rate: 12.5 }], min_size: 50, max_spread: 3.5 },
    });
    expect((await get(app, `/clob-markets/${condition(4)}`)).body).toMatchObject({ itode: true });
  });
});

describe('GET /markets/keyset', () => {
  it('gives pages whose last one has no cursor', async () => {
    const { world, app } = setUp();
    const seen: string[] = [];
    let cursor: string | undefined = '';
    while (cursor !== undefined) {
      const { body } = await get(app, `/gamma/markets/keyset?limit=2&after_cursor=${cursor}`);
      const page = body as { markets: { id: string }[]; next_cursor?: string };
      seen.push(idsOf(page.markets));
      cursor = page.next_cursor;
      // A market that is listed meanwhile does not move the pages.
      world.catalog.apply(marketEntry(10 + seen.length));
    }
    expect(seen).toEqual(['4 3', '2 1']);
    expect((await get(app, '/markets/keyset?limit=100')).body).not.toHaveProperty('next_cursor');
  });

  it.each([
    ['id', 'x'],
    ['id', 'LTE='],
    ['id', '["slug",1,1]'],
    ['id', '["id","1",1]'],
    ['id', '["id",null,1]'],
    ['id', '["id",1e999,1]'],
    ['id', '["id",1,1.5]'],
    ['id', '["id",1,"1"]'],
    ['endDate', '["endDate","2026",1]'],
    ['slug', '["slug",1,1]'],
    ['title', '["question",1,1]'],
  ])('ordered by %s refuses the cursor %s', async (order, text) => {
    const list = `/markets/keyset?limit=1&order=${order}`;
    const { body } = await get(unchanged.app, list);
    const good = Buffer.from((body as { next_cursor: string }).next_cursor, 'base64url').toString();
    const [digest] = JSON.parse(good) as readonly [string];
    const bad = text.replace(`"${order}"`, JSON.stringify(digest));
    const cursor = bad.startsWith('[') ? Buffer.from(bad).toString('base64url') : bad;
    const answer = await get(unchanged.app, `${list}&after_cursor=${cursor}`);
    expect([answer.status, answer.body]).toEqual([
      400,
      { type: 'bad request', error: 'invalid after_cursor' },
    ]);
  });

  it.each(['🚀', '\u0001', 'İ', '"', 'a'])(
    'takes its own cursor back, of titles of 500 times %j',
    async (letter) => {
      const { world, app } = setUp();
      const title = letter.repeat(500);
      world.catalog.apply(marketEntry(1, { question: title }));
      world.catalog.apply(eventEntry('1', { title }));
      for (const [path, name] of [
        ['/markets/keyset', 'markets'],
        ['/events/keyset', 'events'],
      ] as const) {
        const seen: string[] = [];
        let after: string | undefined = '';
        while (after !== undefined) {
          const { status, body } = await get(
            app,
            `${path}?order=title&limit=1&after_cursor=${after}`,
          );
          const page = body as Record<string, { id: string }[]> & { next_cursor?: string };
          expect(status).toBe(200);
          seen.push(idsOf(page[name]));
          after = page.next_cursor;
        }
        expect(seen.toSorted()).toEqual(name === 'markets' ? ['1', '2', '3', '4'] : ['1', '2']);
      }
    },
  );
});

describe('GET /api/v1/markets', () => {
  it('wraps markets of the catalog, for any client', async () => {
    const { app } = unchanged;
    const url = '/api/v1/markets?tag=crypto&limit=2';
    for (const headers of [{}, { authorization: 'Bearer pro_bad' }]) {
      const { status, body } = await get(app, url, headers as Record<string, string>);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        limit: 2,
        offset: 0,
        count: 2,
        data: [{ id: '3' }, { id: '2' }],
      });
      expect(errorsOf(Type.Array(exact(MarketResponse)), (body as { data: unknown }).data)).toEqual(
        [],
      );
    }
    expect((await get(app, '/api/v1/markets?limit=x')).status).toBe(400);
  });
});
