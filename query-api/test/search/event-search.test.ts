import { Catalog } from '@pm/domain/markets/catalog';
import { noFigures } from '@pm/domain/markets/figures';
import { EventSearch } from '../../src/search/event-search.io.ts';
import { readSearchQuery, type SearchQuery, searchPage } from '../../src/search/search.ts';
import { eventEntry, marketEntry, tagEntry, wallet } from '../in-memory.ts';

const stores: EventSearch[] = [];
afterEach(() => {
  for (const store of stores.splice(0)) store.close();
});

/** A catalog of events with titles, questions and descriptions, and a search over it. */
async function searchOver(
  events: readonly {
    id: string;
    title: string;
    questions?: string[];
    about?: string;
    slug?: string;
  }[],
) {
  const catalog = new Catalog();
  const store = new EventSearch(catalog);
  stores.push(store);
  let market = 0;
  for (const { id, title, questions = [], about = '', slug = `slug-${id}` } of events) {
    catalog.apply(eventEntry(id, { title, description: about, slug }));
    for (const question of questions) {
      market += 1;
      catalog.apply(marketEntry(market, { eventId: id, question }));
    }
  }
  await store.catchUp();
  const page = (q: string, more: Record<string, string> = {}) => {
    const context = { catalog, sites: new Map(), isFamily: false };
    const query = readSearchQuery({ q, ...more }, context) as SearchQuery;
    return searchPage(catalog, store.find(query.words), query);
  };
  const ids = (q: string, more?: Record<string, string>) =>
    page(q, more)
      .events.map(({ id }) => id)
      .join(' ');
  return { catalog, store, page, ids };
}

const ranked = [
  { id: '1', title: 'A year of news', about: 'Everything about the World Cup.' },
  { id: '2', title: 'Football', questions: ['Who wins the world cup?'] },
  { id: '3', title: 'Winner of the cup of the world' },
  { id: '4', title: 'World Cup winner' },
  { id: '5', title: 'World Cup' },
];

describe('a search', () => {
  it('ranks exact title, start of the title, words in it, in questions, anywhere', async () => {
    const { ids } = await searchOver(ranked);
    expect(ids('World cup')).toBe('5 4 3 2 1');
    expect(ids('slug-1')).toBe('1');
  });

  it('ranks an exact slug first', async () => {
    const { catalog, store, ids } = await searchOver(ranked);
    catalog.apply(eventEntry('1', { title: 'Something else', slug: 'world-cup' }));
    await store.catchUp();
    expect(ids('world-cup')).toBe('1 5 4 3 2');
  });

  it('breaks ties by volume, then newest first', async () => {
    const { catalog, ids } = await searchOver([
      { id: '1', title: 'Rain in June', questions: ['Much?'] },
      { id: '2', title: 'Rain in May', questions: ['Much?'] },
      { id: '3', title: 'Rain in July', questions: ['Much?'] },
    ]);
    expect(ids('rain')).toBe('3 2 1');
    const figures = { ...noFigures, volumeMicro: 5 };
    catalog.takeFigures(new Map([[1, figures]]));
    expect(ids('rain')).toBe('1 3 2');
    expect(ids('rain', { sort: 'volume', ascending: 'true' })).toBe('3 2 1');
  });

  it('wants all words, completes them, and forgives typing errors when nothing else is found', async () => {
    const { ids } = await searchOver([
      { id: '1', title: 'Bitcoin above 100k' },
      { id: '2', title: 'Ethereum above 5k' },
      { id: '3', title: 'Élection présidentielle' },
    ]);
    expect(ids('bitcoin ethereum')).toBe('');
    expect(ids('bit ab')).toBe('1');
    expect(ids('ethereun above')).toBe('2');
    expect(ids('election presid')).toBe('3');
    expect(ids('will the bitcoin')).toBe('1');
    expect(ids('🚀')).toBe('');
  });

  it.each([
    ['fed', '1 2'],
    ['fed d', '1'],
    ['fed decision', '1'],
    ['fed decision i', '1'],
    ['fed decision in m', '1'],
    ['b', '3 1'],
    ['bank of i', '3'],
    ['Bank of Israel D', '3'],
    ['de march', '1'],
    ['dec mar', '1'],
    ['d m', '1'],
    ['f d i m 2', '1'],
    ['is', '3'],
    ['bank of x', ''],
    ['fed q', ''],
  ])('finds beginnings of words however short: %s', async (q, found) => {
    const { ids } = await searchOver([
      { id: '1', title: 'Fed decision in March 2026?', about: 'What the board decides.' },
      { id: '2', title: 'Federer returns' },
      { id: '3', title: 'Bank of Israel: decrease?' },
    ]);
    expect(ids(q).split(' ').sort().join(' ')).toBe(found.split(' ').sort().join(' '));
  });

  it('counts the words of a slug for less than those of title and questions', async () => {
    const { ids } = await searchOver([
      { id: '1', title: 'Rain in 2026' },
      { id: '2', title: 'Snow', questions: ['Snow in 2026?'] },
      { id: '3', title: 'Wind', slug: 'wind-2026' },
      { id: '4', title: 'Hail', slug: '2026' },
      { id: '5', title: '2026 in storms' },
    ]);
    expect(ids('2026')).toBe('4 5 1 2 3');
  });

  it('finds every question of an event with 500 of them, as long as may be', async () => {
    const questions = Array.from({ length: 500 }, (_, index) => `${'🚀'.repeat(490)} nr${index}`);
    const { ids } = await searchOver([{ id: '1', title: 'A long list', questions }]);
    expect(['nr0', 'nr249', 'nr499'].map((q) => ids(q))).toEqual(['1', '1', '1']);
  });

  it('finds words at the end of a long description', async () => {
    const about = `${'Some words that are here for length alone. '.repeat(200)}Marmalade.`;
    const { ids } = await searchOver([{ id: '1', title: 'Sugar', about }]);
    expect(ids('sugar marm')).toBe('1');
  });

  it('looks at all words, so that the longest title is found as it stands', async () => {
    const words = Array.from({ length: 100 }, (_, index) => `w${index}`).join(' ');
    const { ids } = await searchOver([
      { id: '1', title: words },
      { id: '2', title: `${words} x` },
      { id: '3', title: `${words.slice(0, -1)}8` },
    ]);
    expect(ids(words)).toBe('1 2');
    expect(ids(`${words} x`)).toBe('2');
    expect(ids(`${words} xx`)).toBe('');
    const long = `${'🚀'.repeat(494)} fuel`;
    const { ids: longIds } = await searchOver([{ id: '1', title: `${long}x` }]);
    expect(longIds(`${long}x`)).toBe('1');
  });

  it('puts the title that is the same in every sign before those that have the same words', async () => {
    const { ids } = await searchOver([
      { id: '1', title: 'Spread: Heat (-2.5)' },
      { id: '2', title: 'Spread: Heat (2.5)' },
      { id: '3', title: 'Spread: Heat 2.5' },
    ]);
    expect(ids('spread: heat (-2.5)')).toBe('1 3 2');
    expect(ids(' Spread: Heat (2.5) ')).toBe('2 3 1');
    expect(ids('spread heat 2 5')).toBe('3 2 1');
  });

  it('forgives no typing errors among more than twelve words', async () => {
    const title =
      'alpha bravo charlie delta echos foxtrot golfer hotel india juliet kilos limas mikes';
    const { ids } = await searchOver([{ id: '1', title }]);
    const typed = title.replace('alpha', 'alpho');
    expect(ids(typed)).toBe('');
    expect(ids(typed.replace(' mikes', ''))).toBe('1');
  });

  it('hides archived events and filters by state and creator', async () => {
    const { catalog, ids } = await searchOver([
      { id: '1', title: 'Rain', questions: ['Much?'] },
      { id: '2', title: 'Rain', questions: ['Much?'] },
      { id: '3', title: 'Rain', questions: ['Much?'] },
    ]);
    catalog.apply(eventEntry('1', { title: 'Rain', archived: true }));
    catalog.apply(eventEntry('2', { title: 'Rain', closed: true }));
    catalog.apply(marketEntry(3, { eventId: '3', creator: wallet(1) }));
    expect(ids('rain')).toBe('3 2');
    expect(ids('rain', { events_status: 'active' })).toBe('3');
    expect(ids('rain', { events_status: 'closed' })).toBe('2');
    expect(ids('rain', { creator: wallet(1) })).toBe('3');
    expect(ids('rain', { creator: 'nobody' })).toBe('');
  });

  it('sees changed, added and deleted events', async () => {
    const { catalog, store, ids } = await searchOver(ranked);
    catalog.apply(eventEntry('5', { title: 'Olympics' }));
    catalog.apply(eventEntry('6', { title: 'World Cup' }));
    catalog.remove('CatalogEvent:4');
    catalog.apply(marketEntry(1, { eventId: '2', question: 'Another question' }));
    await store.catchUp();
    expect(ids('world cup')).toBe('6 3 1');
    expect(ids('olymp')).toBe('5');
    expect(store.size).toBe(5);
  });

  it('finds tags by words of label or slug, the same one first, then the larger', async () => {
    const { catalog, page } = await searchOver([]);
    const tags = [
      { id: '1', label: 'US Politics', slug: 'us-politics' },
      { id: '2', label: 'Politics', slug: 'politics' },
      { id: '3', label: 'World', slug: 'geo-politics' },
    ];
    for (const tag of tags) catalog.apply({ ...tagEntry, ...tag } as never);
    for (const id of ['1', '2', '3', '4']) {
      catalog.apply(eventEntry(id, { tagIds: id === '4' ? ['1'] : ['3'] }));
    }
    const found = (q: string) => page(q).tags.map(({ tag, eventCount }) => [tag.id, eventCount]);
    expect(found('politics')).toEqual([
      ['2', 0],
      ['3', 3],
      ['1', 1],
    ]);
    expect(found('us pol')).toEqual([['1', 1]]);
    expect(page('politics', { search_tags: 'false' }).tags).toEqual([]);
    expect(page('politics', { limit_per_type: '2' }).hasMore).toBe(true);
  });

  it('finds of a creator only the tags of its events, with their number', async () => {
    const { catalog, page } = await searchOver([]);
    for (const [id, label] of [
      ['1', 'US Politics'],
      ['2', 'Politics'],
      ['3', 'World Politics'],
    ]) {
      catalog.apply({ ...tagEntry, id, label, slug: `tag-${id}` } as never);
    }
    for (const id of ['1', '2', '3']) {
      catalog.apply(eventEntry(id, { tagIds: id === '3' ? ['1', '2'] : ['2'] }));
      const creator = id === '1' ? wallet(2) : wallet(1);
      catalog.apply(marketEntry(Number(id), { eventId: id, creator }));
    }
    const found = (creator: string) =>
      page('politics', { creator }).tags.map(({ tag, eventCount }) => [tag.id, eventCount]);
    expect(found(wallet(1))).toEqual([
      ['2', 2],
      ['1', 1],
    ]);
    expect(found(wallet(2))).toEqual([['2', 1]]);
    expect(found('nobody')).toEqual([]);
  });
});
