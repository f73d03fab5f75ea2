import { Catalog } from '../../src/core/catalog.ts';
import { readSearchQuery, type SearchQuery, searchPage } from '../../src/core/search.ts';
import { SearchStore } from '../../src/io/search-store.ts';
import { eventEntry, marketEntry, tagEntry, wallet } from '../in-memory.ts';

const stores: SearchStore[] = [];
afterEach(() => {
  for (const store of stores.splice(0)) store.close();
});

/** A catalog of events with titles, questions and descriptions, and a search over it. */
async function searchOver(
  events: readonly { id: string; title: string; questions?: string[]; about?: string }[],
) {
  const catalog = new Catalog();
  const store = new SearchStore(catalog);
  stores.push(store);
  let market = 0;
  for (const { id, title, questions = [], about = '' } of events) {
    catalog.apply(eventEntry(id, { title, description: about, slug: `slug-${id}` }));
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
    expect(ids('world-cup')).toBe('5 1 4 3 2');
  });

  it('breaks ties by volume, then newest first', async () => {
    const { catalog, ids } = await searchOver([
      { id: '1', title: 'Rain in June', questions: ['Much?'] },
      { id: '2', title: 'Rain in May', questions: ['Much?'] },
      { id: '3', title: 'Rain in July', questions: ['Much?'] },
    ]);
    expect(ids('rain')).toBe('3 2 1');
    const figures = { volumeMicro: 5, dayVolumeMicro: 0, liquidityMicro: 0 };
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

  it('sees what was changed, added and deleted', async () => {
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
});
