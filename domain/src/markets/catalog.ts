import type {
  CatalogEntry,
  CatalogEvent,
  CatalogSeries,
  CatalogTag,
} from '@pm/schemas/log/catalog';
import {
  figureColumns,
  groupName,
  moveColumns,
  openEventTable,
  openMarketTable,
  openSeriesTable,
  openTagTable,
  Tally,
} from './catalog-tables.ts';
import {
  addFigures,
  type Figures,
  type FiguresByMarket,
  type MarketFigures,
  noFigures,
  sameFigures,
  sameMoves,
} from './figures.ts';
import { type Listing, type Market, marketOf, shownEndMs } from './market.ts';

/**
 * Events, markets, tags and series as the log says, and the ways to find them. Entries of one key replace each other.
 */
export class Catalog {
  readonly #markets = new Map<number, Market>();
  readonly #events = new Map<string, CatalogEvent>();
  readonly #tags = new Map<string, CatalogTag>();
  readonly #series = new Map<string, CatalogSeries>();
  readonly #listings = new Map<string, Listing>();
  readonly #byCondition = new Map<string, Market>();
  readonly #marketBySlug = new Map<string, Market>();
  readonly #eventBySlug = new Map<string, CatalogEvent>();
  readonly #tagBySlug = new Map<string, CatalogTag>();
  readonly #seriesBySlug = new Map<string, CatalogSeries>();
  /** Markets by number, in ascending order. */
  readonly #marketsOfEvent = new Map<string, readonly Market[]>();
  #figures: FiguresByMarket = new Map();
  readonly #eventFigures = new Map<string, Figures>();
  /** Wallets that made the markets of an event, by event. */
  readonly #creators = new Tally();
  /** Wallets that made markets, under one key. */
  readonly #makers = new Tally();
  /** Tags that stand on an event together, by tag. */
  readonly #relatedTags = new Tally();
  readonly #changedEvents = new Set<string>();
  #listingsVersion = 0;
  readonly #facts = {
    figuresOfMarket: (market: Market) => this.figuresOfMarket(market),
    figuresOfEvent: (id: string) => this.figuresOfEvent(id),
    tagIdsOf: (market: Market) => this.#events.get(market.eventId)?.tagIds ?? [],
    creatorsOf: (eventId: string) => this.#creators.namesOf(eventId),
  };
  readonly marketTable = openMarketTable(this.#facts);
  readonly eventTable = openEventTable(this.#facts);
  readonly tagTable = openTagTable();
  readonly seriesTable = openSeriesTable();

  /** Takes an entry of the topic `catalog`; the newest of a key counts. No reader sees a market before its listing. */
  apply(entry: CatalogEntry): void {
    switch (entry.kind) {
      case 'CatalogMarket':
        if (!entry.listed) return;
        this.#dropMarket(entry.market);
        this.#addMarket(marketOf(entry));
        return;
      case 'CatalogEvent':
        this.#dropEvent(entry.id);
        this.#addEvent({ ...entry, endDateMs: shownEndMs(entry) });
        return;
      case 'CatalogTag':
        this.#dropTag(entry.id);
        this.#tags.set(entry.id, entry);
        this.#tagBySlug.set(entry.slug, entry);
        this.tagTable.add(entry);
        return;
      case 'CatalogSeries':
        this.#dropSeries(entry.id);
        this.#series.set(entry.id, entry);
        this.#seriesBySlug.set(entry.slug, entry);
        this.seriesTable.add(entry);
        return;
    }
  }

  /** Forgets the entry of a key (`catalogKey`) that was deleted. */
  remove(key: string): void {
    const [kind, id = ''] = key.split(':', 2);
    if (kind === 'CatalogMarket') this.#dropMarket(Number(id));
    if (kind === 'CatalogEvent') this.#dropEvent(id);
    if (kind === 'CatalogTag') this.#dropTag(id);
    if (kind === 'CatalogSeries') this.#dropSeries(id);
  }

  /** Takes the figures of all markets, also of those that are not listed yet; what is missing has none. */
  takeFigures(figures: FiguresByMarket): void {
    const before = this.#figures;
    this.#figures = figures;
    for (const market of this.#markets.values()) {
      const was = before.get(market.market) ?? noFigures;
      const is = this.figuresOfMarket(market);
      if (sameFigures(was, is) && sameMoves(was.moves, is.moves)) continue;
      for (const column of [...figureColumns, ...moveColumns])
        this.marketTable.touch(market, column);
      this.#addToEvent(market.eventId, addFigures(is, was, -1), 1);
    }
  }

  /** Sorts all orders now, so that no reader has to wait for it. */
  settle(): void {
    for (const table of [this.marketTable, this.eventTable, this.tagTable, this.seriesTable])
      table.settle();
  }

  /** Ids of events of which something a search looks at has changed since the last call; they may be gone. */
  takeChangedEvents(): readonly string[] {
    const changed = [...this.#changedEvents];
    this.#changedEvents.clear();
    return changed;
  }

  get size(): number {
    return this.#markets.size;
  }

  /** Another number after every change of a listing. */
  get listingsVersion(): number {
    return this.#listingsVersion;
  }

  listing(token: string): Listing | undefined {
    return this.#listings.get(token);
  }

  market(number: number): Market | undefined {
    return this.#markets.get(number);
  }

  /** By its number as ids are written. */
  marketById(id: string): Market | undefined {
    const market = this.#markets.get(Number(id));
    return market !== undefined && String(market.market) === id ? market : undefined;
  }

  /** `condition` in lower case. */
  byCondition(condition: string): Market | undefined {
    return this.#byCondition.get(condition);
  }

  marketBySlug(slug: string): Market | undefined {
    return this.#marketBySlug.get(slug);
  }

  markets(): IterableIterator<Market> {
    return this.#markets.values();
  }

  event(id: string): CatalogEvent | undefined {
    return this.#events.get(id);
  }

  eventBySlug(slug: string): CatalogEvent | undefined {
    return this.#eventBySlug.get(slug);
  }

  tag(id: string): CatalogTag | undefined {
    return this.#tags.get(id);
  }

  tagBySlug(slug: string): CatalogTag | undefined {
    return this.#tagBySlug.get(slug);
  }

  tags(): IterableIterator<CatalogTag> {
    return this.#tags.values();
  }

  series(id: string): CatalogSeries | undefined {
    return this.#series.get(id);
  }

  seriesBySlug(slug: string): CatalogSeries | undefined {
    return this.#seriesBySlug.get(slug);
  }

  /** Markets of an event, oldest first. */
  marketsOf(eventId: string): readonly Market[] {
    return this.#marketsOfEvent.get(eventId) ?? [];
  }

  /** Wallets that made the markets of an event. */
  creatorsOf(eventId: string): readonly string[] {
    return this.#creators.namesOf(eventId);
  }

  /** When the first and the last market of a wallet was made or changed; the wallet in lower case. */
  creatorTimes(wallet: string): { readonly firstMs: number; readonly lastMs: number } {
    const rows = { groups: [groupName.creator(wallet)] };
    const at = (order: 'createdAt' | 'updatedAt', ascending: boolean) =>
      this.marketTable.page(rows, { order: [order], ascending, offset: 0, limit: 1 })[0];
    return {
      firstMs: at('createdAt', true)?.createdAtMs ?? 0,
      lastMs: at('updatedAt', false)?.updatedAtMs ?? 0,
    };
  }

  /** Whether a wallet, in lower case, made a market. */
  isCreator(wallet: string): boolean {
    return this.#makers.of('').has(wallet);
  }

  /** Wallets that made markets, in lower case. */
  creators(): readonly string[] {
    return this.#makers.namesOf('');
  }

  /** Other tags on the events of a tag, with the number of events. */
  relatedTags(tagId: string): ReadonlyMap<string, number> {
    return this.#relatedTags.of(tagId);
  }

  figuresOfMarket({ market }: Pick<Market, 'market'>): MarketFigures {
    return this.#figures.get(market) ?? noFigures;
  }

  figuresOfEvent(id: string): Figures {
    return this.#eventFigures.get(id) ?? noFigures;
  }

  #addMarket(market: Market): void {
    const { eventId } = market;
    this.#listingsVersion += 1;
    this.#markets.set(market.market, market);
    this.#byCondition.set(market.conditionId, market);
    this.#marketBySlug.set(market.slug, market);
    market.tokens.forEach((token, index) => {
      this.#listings.set(token, { market, outcome: index === 0 ? 0 : 1, token });
    });
    const siblings = [...this.marketsOf(eventId), market];
    this.#marketsOfEvent.set(
      eventId,
      siblings.sort((left, right) => left.market - right.market),
    );
    this.marketTable.add(market);
    this.#addToEvent(eventId, this.figuresOfMarket(market), 1);
    this.#countCreator(market, 1);
    this.#changedEvents.add(eventId);
  }

  #dropMarket(number: number): void {
    const old = this.#markets.get(number);
    if (old === undefined) return;
    this.#listingsVersion += 1;
    this.#markets.delete(number);
    this.#byCondition.delete(old.conditionId);
    deleteIf(this.#marketBySlug, old.slug, old);
    for (const token of old.tokens) this.#listings.delete(token);
    const siblings = this.marketsOf(old.eventId).filter((market) => market !== old);
    if (siblings.length === 0) this.#marketsOfEvent.delete(old.eventId);
    else this.#marketsOfEvent.set(old.eventId, siblings);
    this.marketTable.remove(old);
    this.#addToEvent(old.eventId, this.figuresOfMarket(old), -1);
    this.#countCreator(old, -1);
    this.#changedEvents.add(old.eventId);
  }

  #addEvent(event: CatalogEvent): void {
    this.#events.set(event.id, event);
    this.#eventBySlug.set(event.slug, event);
    this.eventTable.add(event);
    this.#tagsChanged(event, 1);
  }

  #dropEvent(id: string): void {
    const old = this.#events.get(id);
    if (old === undefined) return;
    this.#events.delete(id);
    deleteIf(this.#eventBySlug, old.slug, old);
    this.eventTable.remove(old);
    this.#tagsChanged(old, -1);
  }

  /** Markets are found by the tags of their event. */
  #tagsChanged({ id, tagIds }: CatalogEvent, sign: 1 | -1): void {
    this.#changedEvents.add(id);
    for (const market of this.marketsOf(id)) this.marketTable.regroup(market);
    for (const tagId of tagIds)
      for (const other of tagIds) if (other !== tagId) this.#relatedTags.add(tagId, other, sign);
  }

  #countCreator({ eventId, creator }: Market, sign: 1 | -1): void {
    if (creator === '') return;
    const wallet = creator.toLowerCase();
    this.#makers.add('', wallet, sign);
    if (!this.#creators.add(eventId, wallet, sign)) return;
    const event = this.#events.get(eventId);
    if (event !== undefined) this.eventTable.regroup(event);
  }

  #addToEvent(id: string, figures: Figures, sign: 1 | -1): void {
    if (sameFigures(figures, noFigures)) return;
    this.#eventFigures.set(id, addFigures(this.figuresOfEvent(id), figures, sign));
    const event = this.#events.get(id);
    if (event === undefined) return;
    for (const column of figureColumns) this.eventTable.touch(event, column);
  }

  #dropTag(id: string): void {
    const old = this.#tags.get(id);
    if (old === undefined) return;
    this.#tags.delete(id);
    deleteIf(this.#tagBySlug, old.slug, old);
    this.tagTable.remove(old);
  }

  #dropSeries(id: string): void {
    const old = this.#series.get(id);
    if (old === undefined) return;
    this.#series.delete(id);
    deleteIf(this.#seriesBySlug, old.slug, old);
    this.seriesTable.remove(old);
  }
}

/** A slug may have gone to another entry meanwhile. */
function deleteIf<T>(index: Map<string, T>, key: string, value: T): void {
  if (index.get(key) === value) index.delete(key);
}
