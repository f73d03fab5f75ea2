import { noQuote } from '@pm/domain/books/quote';
import { noFigures } from '@pm/domain/markets/figures';
import {
  EventListItem,
  EventResponse,
  FamilyEventListItem,
  FamilyMarketResponse,
  MarketResponse,
  SamplingPage,
} from '@pm/schemas/http/catalog';
import { TypedErrorResponse } from '@pm/schemas/http/reading';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import {
  condition,
  eventEntry,
  get,
  marketEntry,
  openListener,
  tagEntry,
  token,
  World,
  wallet,
} from '../in-memory.ts';

const setUp = () => {
  const world = new World();
  world.catalog.apply(eventEntry('2', { tagIds: [], seriesIds: [], closed: true, title: 'alpha' }));
  world.catalog.apply(marketEntry(4, { eventId: '2', rewardsDailyMicro: 0 }));
  world.catalog.apply(marketEntry(1, { metadata: '{"series":7}' }));
  world.quotes.set(token(1, 0), { ...noQuote, bid: 5000, ask: 5400 });
  return { world, app: openListener(world) };
};

/** For tests that change nothing in it. */
const unchanged = setUp();
const exact = (schema: Type.TObject) =>
  Type.Object(schema.properties, { additionalProperties: false });
const idsOf = (body: unknown) => (body as { id: string }[]).map((event) => event.id).join(' ');

describe('GET /events', () => {
  it('has exactly the fields of the list form, with reduced markets', async () => {
    const answer = await get(unchanged.app, '/events');
    const [first] = answer.body as object[];
    expect(idsOf(answer.body)).toBe('2 1');
    expect([...Value.Errors(Type.Array(exact(EventListItem)), answer.body)]).toEqual([]);
    expect(first).toMatchObject({
      markets: [
        {
          id: '4',
          question: 'Question 4?',
          conditionId: condition(4),
          clobTokenIds: `["${token(4, 0)}","${token(4, 1)}"]`,
          mirrorConditionId: '',
          mirrorClobTokenIds: '[]',
        },
      ],
    });
    expect(Object.keys((first as { markets: object[] }).markets[0] ?? {})).toHaveLength(6);
  });

  it('has full markets under /gamma', async () => {
    const answer = await get(unchanged.app, '/gamma/events?slug=event-1');
    expect([...Value.Errors(Type.Array(FamilyEventListItem), answer.body)]).toEqual([]);
    expect(answer.body).toMatchObject([
      {
        markets: [
          {
            slug: 'market-1',
            outcomes: '["Yes","No"]',
            outcomePrices: '["0.52","0.48"]',
            orderPriceMinTickSize: 0.01,
            orderMinSize: 5,
            negRisk: false,
            marketMakerAddress: '',
          },
          {},
          {},
        ],
      },
    ]);
  });

  const traded = setUp();
  const figures = { ...noFigures, volumeMicro: 5, liquidityMicro: 7 };
  traded.world.catalog.takeFigures(new Map([[1, figures]]));

  it.each([
    ['limit=1', '2'],
    ['limit=1&offset=1', '1'],
    ['offset=9', ''],
    ['offset=9007199254740991', ''],
    ['order=title&closed=false&offset=1000001', ''],
    ['closed=false', '1'],
    ['closed=TRUE', '2'],
    ['active=true&archived=false', '2 1'],
    ['archived=true', ''],
    ['tag=crypto', '1'],
    ['tag_slug=crypto', '1'],
    ['tag_id=7', '1'],
    ['tag_id=8', ''],
    ['tag_slug=none', ''],
    ['tag=crypto&tag_slug=crypto', '1'],
    ['tag=crypto&tag_slug=none', ''],
    ['tag=none&tag_slug=crypto', ''],
    ['tag=crypto&tag_id=8', ''],
    ['series_slug=daily', '1'],
    ['series_slug=none', ''],
    ['slug=event-2', '2'],
    ['slug=event-2&slug=event-1', '2 1'],
    ['id=1', '1'],
    ['order=title&ascending=true', '2 1'],
    ['order=title', '1 2'],
    ['order=createdAt&ascending=true', '1 2'],
    ['order=closed', null],
    ['ascending=true', '1 2'],
    [`creator=${wallet(0xcc)}`, '2 1'],
    [`creator=${wallet(0xcd)}`, ''],
    ['creator=example.test', ''],
    ['unknown=1', '2 1'],
    ['order=volume', '1 2'],
    ['order=volume24hr,title', '1 2'],
  ])('with %s', async (query, ids) => {
    const answer = await get(traded.app, `/events?${query}`);
    if (ids === null)
      expect(answer).toMatchObject({
        status: 400,
        body: { type: 'bad request', error: 'invalid order' },
      });
    else expect([answer.status, idsOf(answer.body)]).toEqual([200, ids]);
  });

  const old = setUp();
  const longAgo = { startDateMs: Date.UTC(1960, 0, 1), endDateMs: Date.UTC(1960, 10, 8) };
  old.world.catalog.apply(eventEntry('2', longAgo));

  it.each([
    ['end_date_max=1961-01-01', '2'],
    ['end_date_max=1959-12-31', ''],
    ['end_date_min=1959-12-31', '2 1'],
    ['end_date_min=1961-01-01', '1'],
    ['start_date_max=1961-01-01&end_date_max=1961-01-01', '2'],
  ])('of long ago are found with %s', async (query, ids) => {
    expect(idsOf((await get(old.app, `/events?${query}`)).body)).toBe(ids);
  });

  it.each([
    'limit=0',
    'limit=101',
    'limit=x',
    'offset=-1',
    'offset=1.5',
    'offset=1e3',
    'offset=9007199254740992',
    'closed=maybe',
    'tag_id=x',
    'order=closed',
    'limit=1&limit=2',
    'id=x',
    'order=constructor',
    'ascending=2',
  ])('refuses %s', async (query) => {
    const name = query.split('=', 1)[0];
    const answer = await get(unchanged.app, `/events?${query}`);
    expect(answer).toMatchObject({
      status: 400,
      body: { type: 'bad request', error: `invalid ${name}` },
    });
  });
});

describe('GET /events/:id', () => {
  it('has exactly the fields of the single form', async () => {
    const answer = await get(unchanged.app, '/events/1');
    expect([...Value.Errors(exact(EventResponse), answer.body)]).toEqual([]);
    expect(answer.body).toMatchObject({
      creationDate: '2025-12-30T00:00:00.000Z',
      eventMetadata: { context: 'x' },
      series: [{ slug: 'daily', recurrence: 'daily' }],
      tags: [{ slug: 'crypto', requiresTranslation: false }],
    });
  });

  it.each([
    ['/events/x', 400, { type: 'bad request', error: 'id must be an integer' }],
    ['/events/-1', 400, { type: 'bad request', error: 'id must be an integer' }],
    ['/events/99', 404, { type: 'not found error', error: 'id not found' }],
    ['/gamma/events/99', 404, { type: 'not found error', error: 'id not found' }],
    [`/events/1?creator=${wallet(5)}`, 404, { type: 'not found error', error: 'id not found' }],
    ['/markets/slug/none', 404, { type: 'not found error', error: 'slug not found' }],
    [
      `/markets/slug/market-1?creator=${wallet(5)}`,
      404,
      { type: 'not found error', error: 'slug not found' },
    ],
  ])('GET %s is refused', async (url, status, body) => {
    const answer = await get(unchanged.app, url);
    expect(answer).toMatchObject({ status, body });
    expect(Value.Check(TypedErrorResponse, answer.body)).toBe(true);
  });

  it('shows metadata that is no object as an empty one', async () => {
    const { world, app } = setUp();
    for (const metadata of ['', '[1]', 'null', '5']) {
      world.catalog.apply(eventEntry('1', { metadata }));
      expect((await get(app, '/events/1')).body).toMatchObject({ eventMetadata: {} });
    }
  });
});

describe('an id', () => {
  const tooLarge = '9'.repeat(20);
  const paths = [
    ...['/events/ID', '/events/ID/tags', '/events/ID/comments/count', '/series/ID'],
    ...['/series/ID/comments/count', '/tags/ID', '/tags/ID/related-tags', '/markets/ID'],
    ...['/markets/ID/tags', '/comments/ID'],
  ];
  const own = (path: string) => {
    if (path.startsWith('/tags')) return '7';
    return path.startsWith('/series') ? '3' : '1';
  };

  it.each(paths)('of %s that no entry has is not found, however it is written', async (path) => {
    const { app } = unchanged;
    const error = path.startsWith('/comments') ? 'comment not found' : 'id not found';
    for (const id of [`0${own(path)}`, `00${own(path)}`, '0', tooLarge]) {
      const answer = await get(app, path.replace('ID', id));
      expect([id, answer.status, answer.body]).toEqual([
        id,
        404,
        { type: 'not found error', error },
      ]);
    }
    if (path.startsWith('/comments')) return;
    expect((await get(app, path.replace('ID', own(path)))).status).toBe(200);
  });

  it.each([
    ['/events', 'id'],
    ['/events', 'tag_id'],
    ['/events', 'series_id'],
    ['/markets', 'id'],
    ['/markets', 'event_id'],
    ['/markets', 'tag_id'],
  ])('of %s?%s that no entry has finds nothing', async (path, name) => {
    const { app } = unchanged;
    const id = own(`/${name.replace('_id', '')}`.replace('/tag', '/tags'));
    for (const unknown of [`0${id}`, tooLarge]) {
      expect(await get(app, `${path}?${name}=${unknown}`)).toMatchObject({ status: 200, body: [] });
    }
    expect((await get(app, `${path}?${name}=${id}`)).body).not.toEqual([]);
    for (const bad of ['x', '-1', '1.5']) {
      const answer = await get(app, `${path}?${name}=${bad}`);
      expect([answer.status, answer.body]).toMatchObject([400, { error: `invalid ${name}` }]);
    }
  });

  it('of a tag goes before a slug that looks like one', async () => {
    const { world, app } = setUp();
    for (const [id, slug] of [
      ['18', 'eighteen'],
      ['19', '18'],
      ['20', '2026'],
    ]) {
      world.catalog.apply({ ...tagEntry, id, slug } as never);
    }
    expect((await get(app, '/tags/18')).body).toMatchObject({ id: '18' });
    expect((await get(app, '/tags/2026')).body).toMatchObject({ id: '20' });
    expect((await get(app, '/tags/slug/18')).body).toMatchObject({ id: '19' });
  });
});

describe('GET /markets/slug/:slug', () => {
  it('has exactly the fields of the specification at the root and more under /gamma', async () => {
    const { app } = unchanged;
    const answer = await get(app, `/markets/slug/market-1?creator=${wallet(0xcc)}`);
    expect([...Value.Errors(exact(MarketResponse), answer.body)]).toEqual([]);
    expect(answer.body).toMatchObject({
      id: '1',
      events: [{ id: '1', creationDate: '2025-12-30T00:00:00.000Z' }],
    });
    const family = await get(app, '/gamma/markets/slug/market-1');
    expect([...Value.Errors(FamilyMarketResponse, family.body)]).toEqual([]);
  });
});

describe('GET /sampling-markets', () => {
  it('has the union of both variants', async () => {
    const answer = await get(unchanged.app, '/sampling-markets?next_cursor=MA==');
    expect([...Value.Errors(SamplingPage, answer.body)]).toEqual([]);
    expect(answer.body).toMatchObject({
      count: 3,
      limit: 500,
      next_cursor: 'LTE=',
      data: [
        {
          market_id: 1,
          status: 'active',
          minimum_tick_size: 0.01,
          taker_base_fee: 441,
          creator: wallet(0xcc),
          tags: ['Crypto'],
          rewards: { rates: [{ rewards_daily_rate: 12.5 }], min_size: 50, max_spread: 3.5 },
          tokens: [
            { token_id: token(1, 0), outcome: 'Yes', price: 0.52, winner: false },
            { price: 0.48 },
          ],
          event: { id: '1', slug: 'event-1' },
          raw_metadata: { series: 7 },
          is_50_50_outcome: false,
        },
        {},
        {},
      ],
    });
  });

  it('pages by an offset that stays where it is', async () => {
    const { world, app } = setUp();
    for (let market = 10; market < 610; market += 1)
      world.catalog.apply(marketEntry(market, { endDateMs: 0 }));
    const first = (await get(app, '/clob/sampling-markets')).body as {
      next_cursor: string;
      count: number;
    };
    expect(first).toMatchObject({ count: 500, next_cursor: 'NTAw' });
    const second = await get(app, `/clob/sampling-markets?next_cursor=${first.next_cursor}`);
    expect(second.body).toMatchObject({ count: 103, next_cursor: 'LTE=' });
    expect((await get(app, '/sampling-markets?next_cursor=LTE=')).body).toMatchObject({
      data: [],
      next_cursor: 'LTE=',
    });
  });

  it.each(['x', 'LTI=', 'MDE='])('refuses the cursor %s', async (cursor) => {
    const answer = await get(unchanged.app, `/sampling-markets?next_cursor=${cursor}`);
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid next_cursor' } });
  });

  it('leaves out markets that are closed, paused or without rewards', async () => {
    const { world, app } = setUp();
    world.catalog.apply(marketEntry(1, { closed: true }));
    world.catalog.apply(marketEntry(2, { mode: 'HALTED' }));
    world.catalog.apply(marketEntry(3, { rewardsDailyMicro: 0 }));
    expect((await get(app, '/sampling-markets')).body).toMatchObject({ data: [], count: 0 });
  });
});

describe('GET /markets of the order book family', () => {
  it.each([
    [5_000, true],
    [10_000, false],
    [-1, false],
  ])('says of a payout of %s whether both outcomes get half: %s', async (payout0, isHalf) => {
    const { world, app } = setUp();
    world.catalog.apply(marketEntry(2, { payout0, closed: payout0 >= 0 }));
    const { body } = await get(app, `/clob/markets/${condition(2)}`);
    expect(body).toMatchObject({ is_50_50_outcome: isHalf, raw_metadata: {} });
  });
});

describe('catalog reads', () => {
  it('need no store at the root and answer 503 with a type where prices are shown', async () => {
    const { world, app } = setUp();
    world.away = 'redis';
    for (const url of ['/events', '/events/1', '/markets/slug/market-1']) {
      expect((await get(app, url)).status).toBe(200);
      const answer = await get(app, `/gamma${url}`);
      expect(answer).toMatchObject({
        status: 503,
        headers: { 'retry-after': '1' },
        body: { type: 'service unavailable' },
      });
    }
  });
});
