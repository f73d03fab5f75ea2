import { eventColumns } from '@pm/domain/markets/catalog-tables';
import { EventListItem, EventResponse } from '@pm/schemas/http/catalog';
import { SearchResponse, SeriesWithEvents } from '@pm/schemas/http/catalog-lists';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import {
  eventEntry,
  get,
  marketEntry,
  openListener,
  seriesEntry,
  tagEntry,
  World,
  wallet,
} from '../in-memory.ts';

const exact = (schema: Type.TObject) =>
  Type.Object(schema.properties, { additionalProperties: false });
const errorsOf = (schema: Type.TSchema, body: unknown) => [...Value.Errors(schema, body)];
const ids = (body: unknown) => (body as { id: string }[]).map(({ id }) => id);

/** Events 1 to 5; all but the fifth carry crypto (7), the first two news (8) as well. */
const setUp = async () => {
  const world = new World();
  world.catalog.apply({ ...tagEntry, id: '8', label: 'Big News', slug: 'big-news' } as never);
  world.catalog.apply({ ...seriesEntry, id: '4', slug: 'weekly', title: 'Weekly' } as never);
  for (const id of ['1', '2', '3', '4', '5']) {
    const tagIds = id === '5' ? [] : Number(id) <= 2 ? ['7', '8'] : ['7'];
    world.catalog.apply(eventEntry(id, { tagIds, seriesIds: id === '5' ? ['4'] : ['3'] }));
  }
  world.catalog.apply(marketEntry(9, { eventId: '5', creator: wallet(0xdd) }));
  await world.search.catchUp();
  return { world, app: openListener(world) };
};

/** For tests that change nothing in it. */
let unchanged: Awaited<ReturnType<typeof setUp>>;
beforeAll(async () => {
  unchanged = await setUp();
});

describe('events', () => {
  it('are found by slug as by id, with exactly the fields of the single form', async () => {
    const { app } = unchanged;
    const [byId, bySlug] = [await get(app, '/events/1'), await get(app, '/events/slug/event-1')];
    expect(bySlug.text).toBe(byId.text);
    expect(errorsOf(exact(EventResponse), bySlug.body)).toEqual([]);
    expect((await get(app, '/events/slug/none')).body).toEqual({
      type: 'not found error',
      error: 'slug not found',
    });
    expect((await get(app, '/gamma/events/1')).body).toMatchObject({ volume: 0, liquidity: 0 });
  });

  it('show only events of a creator, when one is requested', async () => {
    const { world, app } = await setUp();
    world.catalog.apply(marketEntry(10, { creator: wallet(0xdd) }));
    const { body } = await get(app, `/events/1?creator=${wallet(0xdd)}`);
    expect(ids((body as { markets: object[] }).markets)).toEqual(['10']);
    expect(ids((await get(app, `/events?creator=${wallet(0xdd)}`)).body)).toEqual(['5', '1']);
    expect((await get(app, `/events/slug/event-2?creator=${wallet(0xdd)}`)).status).toBe(404);
  });

  it('have tags of their own', async () => {
    const { app } = unchanged;
    expect(ids((await get(app, '/events/1/tags')).body)).toEqual(['7', '8']);
    expect((await get(app, '/events/x/tags')).status).toBe(400);
    expect((await get(app, '/events/9/tags')).status).toBe(404);
  });

  it('come in pages with the number of all of them', async () => {
    const { app } = unchanged;
    const first = await get(app, '/events/pagination?tag=crypto&limit=3');
    const { data, pagination } = first.body as { data: object[]; pagination: object };
    expect(errorsOf(Type.Array(exact(EventListItem)), data)).toEqual([]);
    expect([ids(data), pagination]).toEqual([['4', '3', '2'], { hasMore: true, totalResults: 4 }]);
    const last = await get(app, '/events/pagination?tag=crypto&limit=3&offset=3');
    expect(last.body).toMatchObject({ pagination: { hasMore: false, totalResults: 4 } });
  });

  it('come in pages by cursor', async () => {
    const { app } = unchanged;
    const first = await get(app, '/gamma/events/keyset?limit=3&order=slug&ascending=true');
    const { events, next_cursor: cursor } = first.body as { events: object[]; next_cursor: string };
    expect(ids(events)).toEqual(['1', '2', '3']);
    const second = await get(
      app,
      `/gamma/events/keyset?limit=3&order=slug&ascending=true&after_cursor=${cursor}`,
    );
    expect(ids((second.body as { events: object[] }).events)).toEqual(['4', '5']);
    expect(second.body).not.toHaveProperty('next_cursor');
    expect((await get(app, '/events/keyset?order=id,slug')).status).toBe(400);
    const all = await get(app, '/events/keyset?limit=5');
    expect(ids((all.body as { events: object[] }).events)).toEqual(['5', '4', '3', '2', '1']);
    expect(all.body).not.toHaveProperty('next_cursor');
  });

  it('come in pages by cursor in every order', async () => {
    const { app } = unchanged;
    for (const order of eventColumns) {
      const url = `/events/keyset?limit=2&order=${order}`;
      const first = (await get(app, url)).body as { next_cursor: string };
      const second = await get(app, `${url}&after_cursor=${first.next_cursor}`);
      expect([order, second.status]).toEqual([order, 200]);
    }
  });

  it('have creators', async () => {
    const { world, app } = await setUp();
    world.sites.set('example.test', [wallet(0xdd)]);
    const { body } = await get(app, '/events/creators');
    expect(ids(body)).toEqual([wallet(0xdd), wallet(0xcc)]);
    expect(body).toMatchObject([
      { creatorName: 'example.test', creatorUrl: 'https://example.test' },
      { creatorName: wallet(0xcc), createdAt: '2026-01-01T00:00:00.000Z' },
    ]);
    expect((await get(app, '/events/creators/example.test')).body).toMatchObject({
      id: wallet(0xdd),
    });
    expect((await get(app, '/events/creators/none')).status).toBe(404);
  });
});

describe('tags', () => {
  it('are listed, and found by id and by slug in every way clients request them', async () => {
    const { app } = unchanged;
    expect(ids((await get(app, '/tags')).body)).toEqual(['8', '7']);
    expect(ids((await get(app, '/tags?limit=1&offset=1')).body)).toEqual(['7']);
    expect(ids((await get(app, `/tags?creator=${wallet(0xdd)}`)).body)).toEqual([]);
    expect(ids((await get(app, `/tags?creator=${wallet(0xcc)}`)).body)).toEqual(['8', '7']);
    for (const url of ['/tags/8', '/tags/slug/big-news', '/tags/big-news']) {
      expect((await get(app, url)).body).toEqual({
        id: '8',
        label: 'Big News',
        slug: 'big-news',
        createdAt: '2026-01-01T00:00:00.000Z',
        updatedAt: '2026-01-01T00:00:00.000Z',
        requiresTranslation: false,
      });
    }
    for (const [url, error] of [
      ['/tags/9', 'id not found'],
      ['/tags/none', 'slug not found'],
      ['/tags/slug/none', 'slug not found'],
      ['/tags/9/related-tags', 'id not found'],
      ['/tags/slug/none/related-tags/tags', 'slug not found'],
    ] as const) {
      expect((await get(app, url)).body).toEqual({ type: 'not found error', error });
    }
    expect((await get(app, '/tags/x/related-tags')).status).toBe(400);
  });

  it('are related by the events they share', async () => {
    const { world, app } = await setUp();
    const link = { id: '128', tagID: 7, relatedTagID: 8, rank: 1 };
    expect((await get(app, '/tags/7/related-tags')).body).toEqual([link]);
    expect((await get(app, '/tags/slug/crypto/related-tags')).body).toEqual([link]);
    for (const url of ['/tags/7/related-tags/tags', '/tags/slug/crypto/related-tags/tags']) {
      expect(ids((await get(app, url)).body)).toEqual(['8']);
    }
    for (const id of ['1', '2']) world.catalog.apply(eventEntry(id, { tagIds: ['7'] }));
    expect((await get(app, '/tags/7/related-tags')).body).toEqual([]);
  });
});

describe('series', () => {
  it('are listed and found with their newest events', async () => {
    const { app } = unchanged;
    const { body } = await get(app, '/series');
    expect(errorsOf(Type.Array(exact(SeriesWithEvents)), body)).toEqual([]);
    expect(ids(body)).toEqual(['4', '3']);
    expect(ids((body as { events: object[] }[])[1]?.events)).toEqual(['4', '3', '2', '1']);
    const [byId, bySlug] = [await get(app, '/series/4'), await get(app, '/series/slug/weekly')];
    expect(byId.text).toBe(bySlug.text);
    expect(ids((await get(app, '/series?slug=daily')).body)).toEqual(['3']);
    expect(ids((await get(app, '/series?recurrence=daily&closed=false')).body)).toEqual(['4', '3']);
    expect(ids((await get(app, `/series?creator=${wallet(0xdd)}`)).body)).toEqual(['4']);
    expect((await get(app, '/series/x')).status).toBe(400);
    expect((await get(app, '/series/9')).status).toBe(404);
    expect((await get(app, '/series/slug/none')).status).toBe(404);
  });
});

describe('GET /public-search', () => {
  it('has exactly the documented fields at the root, and full events under /gamma', async () => {
    const { app } = unchanged;
    const answer = await get(app, '/public-search?q=crypto&search_profiles=true');
    expect(errorsOf(exact(SearchResponse), answer.body)).toEqual([]);
    expect(answer.body).toMatchObject({
      events: [],
      tags: [{ id: '7', label: 'Crypto', slug: 'crypto', event_count: 4 }],
      pagination: { hasMore: false, totalResults: 0 },
    });
    const found = await get(app, '/gamma/public-search?q=event&optimized=true&cache=true');
    expect(found.body).toMatchObject({
      events: [{ id: '5', markets: [{ id: '9', negRisk: false }] }, {}, {}, {}, {}],
      pagination: { hasMore: false, totalResults: 5 },
    });
  });

  it('takes the longest title there may be', async () => {
    const { world, app } = await setUp();
    const title = `${'🚀'.repeat(492)} to moon`;
    world.catalog.apply(eventEntry('2', { title }));
    await world.search.catchUp();
    const answer = await get(app, `/public-search?q=${encodeURIComponent(title)}`);
    expect(answer).toMatchObject({ status: 200, body: { events: [{ id: '2', title }] } });
  });

  it('counts its results, page by page', async () => {
    const { app } = unchanged;
    const second = await get(app, '/public-search?q=Event&limit_per_type=2&page=2');
    expect(second.body).toMatchObject({
      events: [{ id: '3' }, { id: '2' }],
      pagination: { hasMore: true, totalResults: 5 },
    });
    const last = await get(app, '/public-search?q=Event&limit_per_type=2&page=3');
    expect(last.body).toMatchObject({ events: [{ id: '1' }], pagination: { hasMore: false } });
    const beyond = await get(app, '/public-search?q=Event&page=9007199254740991');
    expect(beyond).toMatchObject({
      status: 200,
      body: { events: [], tags: [], pagination: { hasMore: false, totalResults: 5 } },
    });
  });

  it.each([
    ['', 'q is required'],
    ['q=', 'q is required'],
    ['q=%20%20', 'q is required'],
    [`q=${'a'.repeat(501)}`, 'invalid q'],
    ['q=x&limit_per_type=0', 'invalid limit_per_type'],
    ['q=x&limit_per_type=501', 'invalid limit_per_type'],
    ['q=x&page=0', 'invalid page'],
    ['q=x&search_tags=perhaps', 'invalid search_tags'],
  ])('refuses %s', async (query, error) => {
    const answer = await get(unchanged.app, `/public-search?${query}`);
    expect([answer.status, answer.body]).toEqual([400, { type: 'bad request', error }]);
  });
});

describe('lists that are empty here', () => {
  it.each([
    ['/teams', []],
    ['/sports', []],
    ['/sports/market-types', { marketTypes: [] }],
    ['/market-clarifications', []],
  ])('%s is empty', async (url, body) => {
    expect((await get(unchanged.app, url)).body).toEqual(body);
  });

  it('answers a plain OK at /status under every mount', async () => {
    const { app } = unchanged;
    for (const mount of ['/clob', '/gamma', '/data-api']) {
      expect((await get(app, `${mount}/status`)).text).toBe('OK');
    }
  });
});
