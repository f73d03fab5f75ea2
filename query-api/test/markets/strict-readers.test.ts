import {
  condition,
  eventEntry,
  get,
  marketEntry,
  openListener,
  tagEntry,
  World,
  wallet,
} from '../in-memory.ts';

/** Exchange whose responses must have only the forms that published readers of the API family accept. */
const world = new World();
world.catalog.apply(eventEntry('1', { endDateMs: 0, tagIds: ['7', '8'] }));
world.catalog.apply(marketEntry(1, { endDateMs: 0 }));
world.catalog.apply(marketEntry(2, { endDateMs: Date.UTC(2500, 11, 31) }));
world.catalog.apply({ ...tagEntry, id: '8', slug: 'eight' } as never);
const app = openListener(world);

/** The latest moment of a signed 64-bit count of nanoseconds, its day before. */
const latestDay = '2262-04-10';
const dates = /"\d{4}-\d{2}-\d{2}[T"]/g;

test.each([
  ...['/events', '/events/1', '/events/keyset', '/gamma/events', '/markets', '/markets/keyset'],
  ...['/markets/1', '/markets?next_cursor=MA==', '/clob/markets', '/sampling-markets'],
  ...['/api/v1/markets', `/markets/${condition(1)}`],
  ...['/rewards/markets/current', '/rewards/markets/multi'],
])('no date of %s is beyond what a clock in nanoseconds holds', async (url) => {
  const { status, text } = await get(app, url);
  expect(status).toBe(200);
  const found = text.match(dates) ?? [];
  expect(found.filter((date) => date.slice(1, 11) > latestDay)).toEqual([]);
});

test('what has no end has a date that clocks in nanoseconds hold, and sorts last', async () => {
  const { body } = await get(app, '/gamma/markets?order=endDate&ascending=true');
  const ends = (body as { id: string; endDate: string }[]).map(({ endDate }) => endDate);
  const openEnd = '2261-12-31T00:00:00.000Z';
  expect(ends).toEqual([...ends.filter((end) => end !== openEnd), openEnd, openEnd]);
  expect((await get(app, '/events/1')).body).toMatchObject({ endDate: openEnd });
  const [first] = ((await get(app, '/clob/markets')).body as { data: object[] }).data;
  expect(first).toMatchObject({ end_date_iso: openEnd });
});

test('dates of filters are Unix seconds too', async () => {
  const idsOf = async (after: string) =>
    ((await get(app, `/gamma/markets?end_date_min=${after}`)).body as { id: string }[]).length;
  const seconds = String(Date.UTC(2027, 0, 1) / 1000);
  expect(await idsOf(seconds)).toBe(await idsOf('2027-01-01'));
  expect((await get(app, '/gamma/markets?end_date_min=12345')).status).toBe(400);
});

test('a limit beyond the largest is the largest under the mount, and refused at the root', async () => {
  for (const path of ['/events', '/markets', '/tags', '/comments?parent_entity_id=1']) {
    const limit = path.includes('?') ? '&limit=100000' : '?limit=100000';
    expect([path, (await get(app, `/gamma${path}${limit}`)).status]).toEqual([path, 200]);
    expect([path, (await get(app, `${path}${limit}`)).status]).toEqual([path, 400]);
  }
  const none = '/gamma/comments?parent_entity_id=1&limit=0';
  expect((await get(app, none)).status).toBe(400);
});

test('ids of related tags are whole numbers, another one for each pair', async () => {
  const ids: string[] = [];
  for (const tag of ['7', '8']) {
    const { body } = await get(app, `/gamma/tags/${tag}/related-tags`);
    ids.push(...(body as { id: string }[]).map(({ id }) => id));
  }
  expect(ids.length).toBeGreaterThan(1);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[1-9]\d*$/);
});

test('a profile leaves out what nobody stated; a leaderboard of the family has an empty text', async () => {
  const { body } = await get(app, `/public-profile?address=${wallet(4)}`);
  expect(Object.keys(body as object)).not.toEqual(expect.arrayContaining(['createdAt']));
  expect(Object.values(body as object)).not.toContain(null);
  world.leaderboard.push({ rank: 1, wallet: wallet(4), volMicro: 1, pnlMicro: 1 });
  const [family] = (await get(app, '/data-api/v1/leaderboard')).body as { xUsername: unknown }[];
  const [root] = (await get(app, '/v1/leaderboard')).body as { xUsername: unknown }[];
  expect([family?.xUsername, root?.xUsername]).toEqual(['', null]);
});
