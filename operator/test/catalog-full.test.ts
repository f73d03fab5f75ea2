import { event, market, openOperator } from './operator-fixture.ts';

const slugs = (...names: readonly string[]) => names.map((name) => market(name));

/** An exchange of three markets that may have three. */
async function full() {
  const operator = await openOperator(undefined, { marketsMax: 3 });
  const events = [event('a', slugs('a-1', 'a-2', 'a-3'))];
  const listed = await operator.post('/operator/catalog', { events });
  expect(listed).toMatchObject({ status: 200, body: { created: 3 } });
  operator.written.length = 0;
  operator.sent.length = 0;
  return { operator, events };
}

const refused = (slug: string, more: number) => ({
  status: 409,
  body: {
    error: `slug ${slug}: the catalog has 3 markets, and ${more} more would pass the 3 of PM_MARKETS_MAX`,
    path: `slug ${slug}`,
    code: 'catalog_full',
  },
});

it('lists as many markets as there is room for, and not one more', async () => {
  const { operator } = await full();
  const events = [event('b', slugs('b-1'))];
  expect(await operator.post('/operator/catalog', { events })).toEqual(refused('b-1', 1));
  const one = await operator.post('/operator/events/1/markets', market('a-4'));
  expect(one).toEqual(refused('a-4', 1));
  expect([operator.written, operator.sent, operator.catalog.marketCount]).toEqual([[], [], 3]);
});

it('refuses an import as a whole where a part of it has room', async () => {
  const operator = await openOperator(undefined, { marketsMax: 3 });
  const events = [event('a', slugs('a-1', 'a-2')), event('b', slugs('b-1', 'b-2'))];
  const answer = await operator.post('/operator/catalog', { events });
  expect([answer.status, answer.body.path, answer.body.code]).toEqual([
    409,
    'slug b-2',
    'catalog_full',
  ]);
  expect([operator.written, operator.catalog.marketCount]).toEqual([[], 0]);
});

it('takes an import again that lists nothing new, and changes of what is listed', async () => {
  const { operator, events } = await full();
  const again = await operator.post('/operator/catalog', { events });
  expect(again).toMatchObject({ status: 200, body: { created: 0, unchanged: 3 } });
  const onlyNew = await operator.post('/operator/catalog', { events, onlyNew: true });
  expect(onlyNew).toMatchObject({ status: 200, body: { created: 0, unchanged: 3 } });
  const reworded = { ...market('a-1'), description: 'As the station says.' };
  const changed = await operator.post('/operator/events/1/markets', reworded);
  expect(changed).toMatchObject({ status: 200, body: { updated: 1 } });
  const made = await operator.post('/operator/events', { slug: 'b', title: 'B' });
  expect(made.status).toBe(200);
});

it('counts a market that is closed: it stays in the memory of the services', async () => {
  const { operator } = await full();
  await operator.patch('/operator/markets/1', { closed: true });
  const events = [event('b', slugs('b-1'))];
  expect(await operator.post('/operator/catalog', { events })).toEqual(refused('b-1', 1));
});
