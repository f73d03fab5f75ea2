import { Catalog } from '@pm/domain/markets/catalog';
import { type CatalogEntry, catalogKey } from '@pm/schemas/log/catalog';
import fc from 'fast-check';
import { condition, eventEntry, marketEntry, seriesEntry, tagEntry, token } from '../in-memory.ts';

describe('the catalog', () => {
  it('finds a market by number, token, condition and slug', () => {
    const catalog = new Catalog();
    catalog.apply(marketEntry(5));
    expect(catalog.market(5)?.slug).toBe('market-5');
    expect(catalog.listing(token(5, 1))).toMatchObject({ outcome: 1, token: token(5, 1) });
    expect(catalog.byCondition(condition(5))?.market).toBe(5);
    expect(catalog.marketBySlug('market-5')?.tokens).toEqual([token(5, 0), token(5, 1)]);
    expect(catalog.market(6)).toBeUndefined();
  });

  it('shows no market before its listing', () => {
    const catalog = new Catalog();
    catalog.apply(eventEntry('1'));
    catalog.apply(marketEntry(5, { listed: false }));
    expect([catalog.size, catalog.marketsOf('1'), catalog.listing(token(5, 0))]).toEqual([
      0,
      [],
      undefined,
    ]);
    catalog.apply(marketEntry(5));
    expect([catalog.size, catalog.marketsOf('1').length]).toEqual([1, 1]);
  });

  it('gives markets without an end one that is later than all others', () => {
    const catalog = new Catalog();
    catalog.apply(eventEntry('1', { endDateMs: 0 }));
    catalog.apply(marketEntry(5, { endDateMs: 0 }));
    const open = Date.UTC(2261, 11, 31);
    expect([catalog.event('1')?.endDateMs, catalog.market(5)?.endDateMs]).toEqual([open, open]);
  });

  it('keeps no bytes of the record an entry came in', () => {
    const catalog = new Catalog();
    catalog.apply(marketEntry(5));
    const values = Object.values(catalog.market(5) ?? {});
    expect(values.length).toBeGreaterThan(30);
    expect(values.some((value) => Buffer.isBuffer(value))).toBe(false);
  });

  it('forgets the old slug, event and tags of an entry that is replaced', () => {
    const catalog = new Catalog();
    catalog.apply(eventEntry('1'));
    catalog.apply(eventEntry('1', { slug: 'renamed', tagIds: ['8'] }));
    catalog.apply(marketEntry(5));
    catalog.apply(marketEntry(5, { slug: 'moved', eventId: '2' }));
    expect(catalog.eventBySlug('event-1')).toBeUndefined();
    expect(catalog.eventBySlug('renamed')?.id).toBe('1');
    expect(eventsOfTag(catalog, '7')).toEqual([]);
    expect(eventsOfTag(catalog, '8')).toEqual(['1']);
    expect(catalog.marketBySlug('market-5')).toBeUndefined();
    expect(catalog.marketsOf('1')).toEqual([]);
    expect(catalog.marketsOf('2').map((market) => market.market)).toEqual([5]);
  });

  it('leaves a slug to the entry that took it over', () => {
    const catalog = new Catalog();
    catalog.apply(marketEntry(1, { slug: 'same' }));
    catalog.apply(marketEntry(2, { slug: 'same' }));
    catalog.remove('CatalogMarket:1');
    expect(catalog.marketBySlug('same')?.market).toBe(2);
  });

  it('is the same after any history as after the newest entry of each key', () => {
    const anEntry = fc.oneof(
      fc
        .record({
          id: fc.integer({ min: 1, max: 4 }),
          slug: fc.integer({ min: 0, max: 3 }),
          event: fc.integer({ min: 1, max: 3 }),
        })
        .map(({ id, slug, event }) =>
          marketEntry(id, { slug: `slug-${id}-${slug}`, eventId: String(event) }),
        ),
      fc
        .record({ id: fc.integer({ min: 1, max: 3 }), tag: fc.integer({ min: 6, max: 8 }) })
        .map(({ id, tag }) => eventEntry(String(id), { tagIds: [String(tag)] })),
      fc.constantFrom(tagEntry, seriesEntry),
    );
    fc.assert(
      fc.property(fc.array(anEntry, { maxLength: 40 }), (entries) => {
        const folded = new Catalog();
        for (const entry of entries) folded.apply(entry);
        const fresh = new Catalog();
        const newest = new Map<string, CatalogEntry>();
        for (const entry of entries) newest.set(catalogKey(entry), entry);
        for (const entry of newest.values()) fresh.apply(entry);
        expect(seenOf(folded)).toEqual(seenOf(fresh));
      }),
      { numRuns: 300 },
    );
  });

  it('forgets deleted entries', () => {
    const catalog = new Catalog();
    for (const entry of [marketEntry(1), eventEntry('1'), tagEntry, seriesEntry])
      catalog.apply(entry);
    for (const key of ['CatalogMarket:1', 'CatalogEvent:1', 'CatalogTag:7', 'CatalogSeries:3'])
      catalog.remove(key);
    expect(seenOf(catalog)).toEqual(seenOf(new Catalog()));
    catalog.remove('nonsense');
  });
});

function eventsOfTag(catalog: Catalog, id: string): readonly string[] {
  const span = { order: ['id'], ascending: true, offset: 0, limit: 100 };
  return catalog.eventTable.page({ groups: [`tag:${id}`] }, span).map((event) => event.id);
}

function seenOf(catalog: Catalog) {
  const numbers = [1, 2, 3, 4];
  const ids = ['1', '2', '3'];
  return {
    size: catalog.size,
    markets: numbers.map((number) => catalog.market(number)),
    tokens: numbers.map((number) => catalog.listing(token(number, 0))),
    slugs: numbers.flatMap((number) =>
      [0, 1, 2, 3].map((slug) => catalog.marketBySlug(`slug-${number}-${slug}`)?.market),
    ),
    ofEvent: ids.map((id) => catalog.marketsOf(id).map((market) => market.market)),
    events: ids.map((id) => catalog.event(id)),
    ofTag: ['6', '7', '8'].map((id) => eventsOfTag(catalog, id)),
    creators: catalog.creators(),
    related: ['6', '7', '8'].map((id) => [...catalog.relatedTags(id)].sort()),
    tag: catalog.tagBySlug('crypto'),
    series: catalog.seriesBySlug('daily'),
  };
}
