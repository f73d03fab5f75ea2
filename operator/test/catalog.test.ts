import { carriedOut, event, market, openOperator } from './operator-fixture.ts';

const opened = async () => {
  const operator = await openOperator();
  const events = [
    event('a', [market('a-1'), market('a-2')], { tags: ['Sports'], series: 'Weekly' }),
  ];
  await operator.post('/operator/catalog', { events });
  operator.written.length = 0;
  operator.sent.length = 0;
  return operator;
};

describe('events', () => {
  it('are made without markets, and get markets one by one', async () => {
    const operator = await opened();
    const made = await operator.post('/operator/events', {
      slug: 'b',
      title: 'B',
      tags: ['Sports', 'New'],
      endDate: '2027-01-01T00:00:00Z',
    });
    expect(made).toEqual({ status: 200, body: { id: '2', slug: 'b', changed: true } });
    expect(operator.written.map(({ kind }) => kind)).toEqual(['CatalogTag', 'CatalogEvent']);
    const again = await operator.post('/operator/events', { slug: 'b', title: 'B' });
    expect([again.status, again.body]).toEqual([409, { error: '/slug is taken', path: '/slug' }]);
    const listed = await operator.post('/operator/events/2/markets', market('b-1'));
    expect(listed.body).toMatchObject({ created: 1, markets: [{ slug: 'b-1', id: '3' }] });
    expect(operator.catalog.findMarket(3)).toMatchObject({ eventId: '2' });
    expect(operator.catalog.findEvent('2')).toMatchObject({ title: 'B', tagIds: ['1', '2'] });
    expect((await operator.post('/operator/events/9/markets', market('x'))).status).toBe(404);
  });

  it('are changed in what is named and nothing else', async () => {
    const operator = await opened();
    for (const id of [1, 2]) await operator.patch(`/operator/markets/${id}`, { closed: true });
    operator.written.length = 0;
    const before = operator.catalog.findEvent('1');
    const changed = await operator.patch('/operator/events/1', {
      title: 'Renamed',
      slug: 'renamed',
      archived: true,
      active: false,
      tags: ['Sports', 'More'],
      metadata: { context: 'x' },
    });
    expect(changed.body).toEqual({ id: '1', slug: 'renamed', changed: true });
    expect(operator.catalog.findEvent('1')).toEqual({
      ...before,
      title: 'Renamed',
      slug: 'renamed',
      archived: true,
      active: false,
      tagIds: ['1', '2'],
      metadata: '{"context":"x"}',
    });
    expect(operator.catalog.findEventBySlug('a')).toBeUndefined();
    const again = await operator.patch('/operator/events/1', { title: 'Renamed' });
    expect([again.body.changed, operator.written.length]).toEqual([false, 2]);
  });

  it.each([
    [{ slug: '' }, 400],
    [{ titel: 'x' }, 400],
    [{ endDate: 'soon' }, 400],
    [{ metadata: { text: 'x'.repeat(10_000) } }, 400],
    [{ metadata: [] }, 400],
  ])('are not changed by %j', async (body, status) => {
    const operator = await opened();
    expect((await operator.patch('/operator/events/1', body)).status).toBe(status);
    expect(operator.written).toEqual([]);
  });

  describe.each([[{ closed: true }], [{ archived: true }], [{ active: false }]])('%j', (shut) => {
    const [path] = Object.keys(shut).map((name) => `/${name}`);
    const at = '/operator/events/1';

    it('waits for their last open market, also when that is halted', async () => {
      const operator = await opened();
      await operator.patch('/operator/markets/1', { archived: true });
      await operator.post('/operator/markets/2/mode', { mode: 'HALTED' });
      const early = await operator.patch(at, { ...shut, title: 'B' });
      expect([early.status, early.body.path]).toEqual([409, path]);
      expect(operator.catalog.findEvent('1')).toMatchObject({ title: 'a', closed: false });
      await operator.patch('/operator/markets/2', { active: false });
      expect((await operator.patch(at, shut)).status).toBe(200);
      expect(operator.catalog.findEvent('1')).toMatchObject(shut);
    });

    it('lets no market of theirs open or be listed until it is taken back', async () => {
      const operator = await opened();
      for (const id of [1, 2]) await operator.patch(`/operator/markets/${id}`, { active: false });
      await operator.patch(at, shut);
      const reopened = () => operator.patch('/operator/markets/1', { active: true });
      const listed = () => operator.post(`${at}/markets`, market('a-3'));
      const imported = (slug: string) =>
        operator.post('/operator/catalog', {
          events: [event('a', [market(slug, { description: 'Else.' })])],
        });
      const refusals = [await reopened(), await listed(), await imported('a-4')];
      expect(refusals.map(({ status, body }) => [status, body.path])).toEqual([
        [409, '/active'],
        [409, '/slug'],
        [409, '/events/0/markets/0/slug'],
      ]);
      expect((await imported('a-1')).body).toMatchObject({ updated: 1 });
      await operator.patch(at, { active: true, closed: false, archived: false });
      const taken = [await reopened(), await listed(), await imported('a-4')];
      expect(taken.map(({ status }) => status)).toEqual([200, 200, 200]);
    });
  });

  it('keep a slug to themselves', async () => {
    const operator = await opened();
    await operator.post('/operator/events', { slug: 'b', title: 'B' });
    expect((await operator.patch('/operator/events/2', { slug: 'a' })).status).toBe(409);
    expect((await operator.patch('/operator/events/9', { title: 'x' })).status).toBe(404);
  });
});

describe('markets', () => {
  it('change words and visibility without a word to the matcher', async () => {
    const operator = await opened();
    const before = operator.catalog.findMarket(1);
    const changed = await operator.patch('/operator/markets/1', {
      question: 'Else?',
      groupItemTitle: 'Else',
      metadata: { station: 4 },
      slug: 'else',
      outcomes: ['Up', 'Down'],
      creator: `0x${'AB'.repeat(20)}`,
      endDate: '2027-01-01',
      closed: true,
    });
    expect(changed.body).toEqual({ id: '1', slug: 'else', changed: true });
    expect(operator.catalog.findMarket(1)).toEqual({
      ...before,
      question: 'Else?',
      groupItemTitle: 'Else',
      metadata: '{"station":4}',
      slug: 'else',
      outcome0: 'Up',
      outcome1: 'Down',
      creator: `0x${'ab'.repeat(20)}`,
      endDateMs: Date.UTC(2027, 0, 1),
      closed: true,
      closedAtMs: operator.fakes.nowMs,
    });
    expect(operator.sent).toEqual([]);
    expect((await operator.patch('/operator/markets/1', { closed: true })).body.changed).toBe(
      false,
    );
    expect((await operator.patch('/operator/markets/2', { slug: 'else' })).status).toBe(409);
    expect((await operator.patch('/operator/markets/2', { slug: 'a-1' })).status).toBe(200);
    expect((await operator.patch('/operator/markets/9', { slug: 'x' })).status).toBe(404);
  });

  it('keep the time of their closing until they are opened again, and so do events', async () => {
    const operator = await opened();
    const closedMs = operator.fakes.nowMs;
    const patched = async (at: string, change: object) => {
      expect((await operator.patch(at, change)).status).toBe(200);
      operator.fakes.nowMs += 1_000;
    };
    for (const id of [1, 2]) await patched(`/operator/markets/${id}`, { closed: true });
    await patched('/operator/markets/1', { question: 'Else?' });
    await patched('/operator/events/1', { closed: true });
    const words = event('a', [market('a-1', { groupItemTitle: 'June 30' })]);
    await operator.post('/operator/catalog', { events: [words] });
    const found = operator.catalog.findMarket(1);
    expect(found).toMatchObject({ closedAtMs: closedMs, groupItemTitle: 'June 30' });
    expect(operator.catalog.findEvent('1')).toMatchObject({ closedAtMs: closedMs + 3_000 });
    await patched('/operator/events/1', { closed: false });
    await patched('/operator/markets/1', { closed: false });
    expect(operator.catalog.findMarket(1)?.closedAtMs).toBe(0);
    expect(operator.catalog.findEvent('1')?.closedAtMs).toBe(0);
  });

  it('are known by their condition when they are imported again under the slug of their listing', async () => {
    const operator = await opened();
    await operator.patch('/operator/markets/1', { slug: 'renamed' });
    const events = [event('a', [market('a-1', { description: 'As it was.' })])];
    const again = await operator.post('/operator/catalog', { events });
    expect([again.status, again.body]).toMatchObject([200, { created: 0, updated: 1 }]);
    expect(operator.catalog.findMarket(1)).toMatchObject({
      slug: 'a-1',
      description: 'As it was.',
    });
    expect(operator.catalog.findMarketBySlug('renamed')).toBeUndefined();
  });

  it('stay in one group when their event is called otherwise', async () => {
    const operator = await openOperator();
    const negRisk = { negRisk: true };
    const listing = [market('g-1', negRisk), market('g-2', negRisk)];
    await operator.post('/operator/catalog', { events: [event('g', listing)] });
    await operator.patch('/operator/events/1', { slug: 'renamed' });
    const words = { ...negRisk, description: 'Else.' };
    const events = [event('renamed', [market('g-1', words), market('g-3', negRisk)])];
    expect((await operator.post('/operator/catalog', { events })).body).toMatchObject({
      created: 1,
      updated: 1,
    });
    const another = { events: [event('g', [market('h-1', negRisk), market('h-2', negRisk)])] };
    expect((await operator.post('/operator/catalog', another)).body).toMatchObject({ created: 2 });
    const [one, two, three, four, five] = [1, 2, 3, 4, 5].map((number) =>
      operator.catalog.findMarket(number)?.negRiskMarketId?.toString('hex'),
    );
    expect(one).toHaveLength(64);
    expect([two, three]).toEqual([one, one]);
    expect(four).toHaveLength(64);
    expect(four).not.toBe(one);
    expect(five).toBe(four);
  });

  it('stay closed once resolved', async () => {
    const operator = await opened();
    await operator.post('/operator/markets/1/resolve', { payout0: '1' });
    const answer = await operator.patch('/operator/markets/1', { closed: false });
    expect([answer.status, answer.body.path]).toEqual([400, '/closed']);
  });

  it('that are halted while an import is under way stay halted', async () => {
    const operator = await opened();
    operator.fakes.answer = (command) => {
      // The halt comes in while the first command of the import waits for its answer.
      const known = operator.catalog.findMarket(2);
      if (known !== undefined) operator.catalog.take({ ...known, mode: 'HALTED' });
      return carriedOut(command);
    };
    const events = [event('a', [market('a-2', { tickSize: '0.001' })])];
    expect((await operator.post('/operator/catalog', { events })).status).toBe(200);
    expect(operator.catalog.findMarket(2)).toMatchObject({ tick: 10, mode: 'HALTED' });
  });
});

describe('tags and series', () => {
  it('are made and changed', async () => {
    const operator = await opened();
    const tag = await operator.post('/operator/tags', { label: 'Big News' });
    expect(tag.body).toEqual({ id: '2', slug: 'big-news', changed: true });
    await operator.patch('/operator/tags/2', { label: 'News', requiresTranslation: true });
    expect(operator.catalog.findTag('big-news')).toMatchObject({
      label: 'News',
      requiresTranslation: true,
    });
    const series = await operator.post('/operator/series', { title: 'Daily', recurrence: 'daily' });
    expect(series.body).toEqual({ id: '2', slug: 'daily', changed: true });
    await operator.patch('/operator/series/2', { slug: 'every-day', archived: true });
    expect(operator.catalog.findSeries('daily')).toBeUndefined();
    expect(operator.catalog.findSeries('every-day')).toMatchObject({
      title: 'Daily',
      recurrence: 'daily',
      archived: true,
    });
  });

  it.each([
    ['/operator/tags', {}, 400],
    ['/operator/tags', { label: '!!!' }, 400],
    ['/operator/tags', { label: 'Sports' }, 409],
    ['/operator/series', {}, 400],
    ['/operator/series', { title: 'weekly' }, 409],
  ])('%s is refused with %j', async (url, body, status) => {
    const operator = await opened();
    expect((await operator.post(url, body)).status).toBe(status);
    expect(operator.written).toEqual([]);
  });

  it('made at once get numbers of their own', async () => {
    const operator = await opened();
    const labels = ['x', 'y', 'z', 'x'];
    const answers = await Promise.all(
      labels.map((label) => operator.post('/operator/tags', { label })),
    );
    expect(answers.map(({ status, body }) => [status, body.id])).toEqual([
      [200, '2'],
      [200, '3'],
      [200, '4'],
      [409, undefined],
    ]);
  });
});
