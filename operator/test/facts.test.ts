import { event, market, openOperator } from './operator-fixture.ts';

/** An event with one market, which the tests below change or list beside. */
async function opened() {
  const operator = await openOperator();
  await operator.post('/operator/catalog', { events: [event('a', [market('a-1')])] });
  operator.written.length = 0;
  operator.sent.length = 0;
  return operator;
}

describe('dates', () => {
  it('are of UTC whatever zone they name, and where they name none', async () => {
    const operator = await opened();
    const change = { startDate: '2027-01-01T02:00:00+02:00', endDate: '2027-03-01T12:30:00' };
    await operator.patch('/operator/markets/1', change);
    expect(operator.catalog.findMarket(1)).toMatchObject({
      startDateMs: Date.UTC(2027, 0, 1),
      endDateMs: Date.UTC(2027, 2, 1, 12, 30),
    });
  });

  it.each(['2027-02-30', '2027-02-29T00:00:00Z', '2027-01-01T24:00Z', '2027-13-01', ''])(
    'are refused where there is no such day or time: %j',
    async (endDate) => {
      const operator = await opened();
      const listing = { events: [event('b', [market('b-1', { endDate })])] };
      const answers = [
        await operator.post('/operator/catalog', listing),
        await operator.post('/operator/events', { slug: 'c', title: 'C', endDate }),
        await operator.patch('/operator/events/1', { endDate }),
        await operator.patch('/operator/markets/1', { endDate }),
      ];
      expect(answers.map(({ status, body }) => [status, body.path])).toEqual([
        [400, '/events/0/markets/0/endDate'],
        [400, '/endDate'],
        [400, '/endDate'],
        [400, '/endDate'],
      ]);
      expect([operator.written, operator.sent]).toEqual([[], []]);
    },
  );
});

describe('the end of an event or market', () => {
  const end = '2027-01-01T00:00:00Z';
  const late = '2027-01-02T00:00:00Z';

  it('is not before its start', async () => {
    const operator = await opened();
    await operator.patch('/operator/events/1', { startDate: end, endDate: end });
    await operator.patch('/operator/markets/1', { startDate: end, endDate: end });
    operator.written.length = 0;
    const backward = { startDate: late, endDate: end };
    const listing = (more: object, about: object) => ({
      events: [event('b', [market('b-1', more)], about)],
    });
    const answers = [
      await operator.post('/operator/catalog', listing({}, backward)),
      await operator.post('/operator/catalog', listing(backward, {})),
      await operator.post('/operator/events', { slug: 'c', title: 'C', ...backward }),
      await operator.patch('/operator/events/1', { endDate: '2026-12-31' }),
      await operator.patch('/operator/markets/1', { endDate: '2026-12-31' }),
      await operator.patch('/operator/markets/1', { startDate: late }),
    ];
    expect(answers.map(({ status, body }) => [status, body.path])).toEqual([
      [400, '/events/0/endDate'],
      [400, '/events/0/markets/0/endDate'],
      [400, '/endDate'],
      [400, '/endDate'],
      [400, '/endDate'],
      [400, '/startDate'],
    ]);
    expect(operator.written).toEqual([]);
  });

  it('may be over when it is listed: then a start that is not named is not behind it', async () => {
    const operator = await opened();
    const past = '2020-01-01';
    const events = [
      event('b', [market('b-1')], { endDate: past }),
      event('c', [market('c-1', { endDate: past })]),
    ];
    expect((await operator.post('/operator/catalog', { events })).status).toBe(200);
    const pastMs = Date.UTC(2020, 0, 1);
    const both = { startDateMs: pastMs, endDateMs: pastMs };
    expect(operator.catalog.findEventBySlug('b')).toMatchObject(both);
    expect(operator.catalog.findMarketBySlug('b-1')).toMatchObject(both);
    expect(operator.catalog.findMarketBySlug('c-1')).toMatchObject(both);
  });

  it('is taken away by null, as an event is taken off its series', async () => {
    const operator = await opened();
    await operator.patch('/operator/events/1', { series: 'Weekly', endDate: end });
    await operator.patch('/operator/markets/1', { endDate: end });
    expect(operator.catalog.findEvent('1')).toMatchObject({ seriesIds: ['1'] });
    for (const url of ['/operator/events/1', '/operator/markets/1']) {
      const gone = await operator.patch(url, { endDate: null });
      expect([gone.status, gone.body.changed]).toEqual([200, true]);
    }
    expect(operator.catalog.findEvent('1')).toMatchObject({ endDateMs: 0, seriesIds: ['1'] });
    expect(operator.catalog.findMarket(1)).toMatchObject({ endDateMs: 0 });
    expect((await operator.patch('/operator/events/1', { series: null })).status).toBe(200);
    expect(operator.catalog.findEvent('1')).toMatchObject({ seriesIds: [] });
    for (const empty of [{ series: '' }, { endDate: '' }, { startDate: null }]) {
      expect((await operator.patch('/operator/events/1', empty)).status).toBe(400);
    }
  });
});

describe('texts', () => {
  it.each([
    ['a-Z.9_x', 200],
    ['größe-2026', 200],
    ['a,b', 400],
    ['a b', 400],
    ['a/b', 400],
    ['-a', 400],
    ['..', 400],
    ['a\u0000', 400],
    ['a?b', 400],
  ])('are slugs that stand in paths and lists: %j', async (slug, status) => {
    const operator = await opened();
    const answers = [
      await operator.post('/operator/events', { slug, title: 'x' }),
      await operator.patch('/operator/markets/1', { slug }),
      await operator.post('/operator/tags', { label: 'x', slug }),
      await operator.post('/operator/series', { title: 'x', slug }),
      await operator.post('/operator/events/1/markets', market(`${slug}-`)),
    ];
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
    const paths = answers.map(({ body }) => body.path);
    expect(new Set(paths)).toEqual(new Set([status === 400 ? '/slug' : undefined]));
  });

  it.each(['   ', 'a\u0000b', 'a\u001bb', 'a\ud800b', 'a\nb', 'a\tb', 'a\u0085b'])(
    'that are shown by themselves are a line with something to see: not %j',
    async (text) => {
      const operator = await opened();
      const listing = (more: object) => ({ events: [event('b', [market('b-1', more)])] });
      const answers = [
        await operator.post('/operator/catalog', listing({ question: text })),
        await operator.post('/operator/catalog', listing({ outcomes: ['Yes', text] })),
        await operator.post('/operator/catalog', {
          events: [event('b', [market('b-1')], { title: text })],
        }),
        await operator.post('/operator/events', { slug: 'c', title: 'C', tags: ['x', text] }),
        await operator.patch('/operator/events/1', { ticker: text }),
        await operator.patch('/operator/markets/1', { question: text }),
        await operator.post('/operator/tags', { label: text }),
        await operator.post('/operator/series', { title: text }),
      ];
      expect(answers.map(({ status, body }) => [status, body.path])).toEqual([
        [400, '/events/0/markets/0/question'],
        [400, '/events/0/markets/0/outcomes/1'],
        [400, '/events/0/title'],
        [400, '/tags/1'],
        [400, '/ticker'],
        [400, '/question'],
        [400, '/label'],
        [400, '/title'],
      ]);
      expect([operator.written, operator.sent]).toEqual([[], []]);
    },
  );

  it('that describe may have lines, and no other control characters', async () => {
    const operator = await opened();
    const lines = { description: 'One.\r\n\n\tTwo. ' };
    expect((await operator.patch('/operator/markets/1', lines)).status).toBe(200);
    expect(operator.catalog.findMarket(1)).toMatchObject(lines);
    const bell = await operator.patch('/operator/markets/1', { description: 'One.\u0007' });
    expect(bell.body.path).toBe('/description');
    expect((await operator.patch('/operator/markets/1', { image: 'a\nb' })).status).toBe(400);
  });

  it.each([[['', '']], [['Yes', 'Yes']], [['Yes', ' Yes']], [['Yes', '']]])(
    'are two different names of outcomes, not %j',
    async (outcomes) => {
      const operator = await opened();
      const listing = { events: [event('b', [market('b-1', { outcomes })])] };
      const answers = [
        await operator.post('/operator/catalog', listing),
        await operator.post('/operator/events/1/markets', market('a-2', { outcomes })),
        await operator.patch('/operator/markets/1', { outcomes }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
      expect(answers[1]?.body.path).toMatch(/^\/outcomes/);
      expect(operator.written).toEqual([]);
    },
  );
});

describe('tags and series of an event', () => {
  it('are there once, however they are written', async () => {
    const operator = await opened();
    await operator.patch('/operator/events/1', { tags: ['sports', 'Sports', 'More', 'SPORTS!'] });
    expect(operator.catalog.findEvent('1')).toMatchObject({ tagIds: ['1', '2'] });
    expect(operator.written.map(({ kind }) => kind)).toEqual([
      'CatalogTag',
      'CatalogTag',
      'CatalogEvent',
    ]);
  });

  it.each([
    [{ tags: ['x', '🎉'] }, '/tags/1'],
    [{ tags: ['!!!'] }, '/tags/0'],
    [{ series: '???' }, '/series'],
    [{ series: ' ' }, '/series'],
  ])('have a letter or a digit to make a slug of, unlike %j', async (groups, path) => {
    const operator = await opened();
    const answers = [
      await operator.post('/operator/catalog', { events: [event('b', [market('b-1')], groups)] }),
      await operator.post('/operator/events', { slug: 'c', title: 'C', ...groups }),
      await operator.patch('/operator/events/1', groups),
    ];
    expect(answers.map(({ status, body }) => [status, body.path])).toEqual([
      [400, `/events/0${path}`],
      [400, path],
      [400, path],
    ]);
    expect(operator.written).toEqual([]);
  });
});
