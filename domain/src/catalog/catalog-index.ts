import {
  type ConditionId,
  conditionIdFromBytes,
  type TokenId,
  tokenIdFromBytes,
} from '@pm/schemas/ids';
import {
  type CatalogEntry,
  type CatalogEvent,
  type CatalogMarket,
  type CatalogSeries,
  type CatalogTag,
  catalogKey,
} from '@pm/schemas/log/catalog';

/**
 * Everything that is listed, by every name it is asked for. Folds the compacted topic `catalog`. A market that is not
 * listed yet has a number and a partition and is found by its condition alone.
 */
export class CatalogIndex {
  readonly #tokens = new Map<TokenId, ListedToken>();
  readonly #conditions = new Map<ConditionId, ListedToken>();
  readonly #markets = new Map<number, CatalogMarket>();
  readonly #marketSlugs = new Map<string, CatalogMarket>();
  readonly #events = new Map<string, CatalogEvent>();
  readonly #eventSlugs = new Map<string, CatalogEvent>();
  readonly #tags = new Map<string, CatalogTag>();
  readonly #series = new Map<string, CatalogSeries>();
  readonly #tagSlugs = new Map<string, CatalogTag>();
  readonly #seriesSlugs = new Map<string, CatalogSeries>();
  readonly #eventGroups = new Map<string, Buffer>();
  readonly #groups = new Set<string>();
  /** Markets whose books are not known to have them yet, by number. */
  readonly #unlisted = new Map<number, CatalogMarket>();
  /** Markets whose fee changes at the end of a notice period, by number. */
  readonly #noticed = new Set<number>();
  #last = { market: 0, event: 0, tag: 0, series: 0 };

  get marketCount(): number {
    return this.#markets.size;
  }

  /** Markets that have a number, listed or begun to be. */
  get numberedCount(): number {
    return this.#markets.size + this.#unlisted.size;
  }

  take(entry: CatalogEntry): void {
    switch (entry.kind) {
      case 'CatalogMarket':
        this.#takeMarket(entry);
        return;
      case 'CatalogEvent':
        rename(this.#eventSlugs, this.#events.get(entry.id), entry);
        this.#events.set(entry.id, entry);
        this.#last.event = Math.max(this.#last.event, numberOf(entry.id));
        return;
      case 'CatalogTag':
        rename(this.#tagSlugs, this.#tags.get(entry.id), entry);
        this.#tags.set(entry.id, entry);
        this.#last.tag = Math.max(this.#last.tag, numberOf(entry.id));
        return;
      case 'CatalogSeries':
        rename(this.#seriesSlugs, this.#series.get(entry.id), entry);
        this.#series.set(entry.id, entry);
        this.#last.series = Math.max(this.#last.series, numberOf(entry.id));
    }
  }

  /** The entry of a key was deleted: of a market that its book refused. Its number is not given again. */
  forget(key: string): void {
    for (const entry of this.#unlisted.values())
      if (catalogKey(entry) === key) this.#unlisted.delete(entry.market);
  }

  /** The market of this condition that an import has begun to list. */
  findUnlisted(id: ConditionId): CatalogMarket | undefined {
    return this.unlisted().find(({ conditionId }) => conditionIdFromBytes(conditionId) === id);
  }

  /** All that imports have begun to list; few, those of imports that broke off. */
  unlisted(): readonly CatalogMarket[] {
    return [...this.#unlisted.values()];
  }

  findToken(id: TokenId): ListedToken | undefined {
    return this.#tokens.get(id);
  }

  /** Token 0 of the condition. */
  findCondition(id: ConditionId): ListedToken | undefined {
    return this.#conditions.get(id);
  }

  findMarket(number: number): CatalogMarket | undefined {
    return this.#markets.get(number);
  }

  findMarketBySlug(slug: string): CatalogMarket | undefined {
    return this.#marketSlugs.get(slug);
  }

  /** Markets whose fee changes at the end of a notice period. */
  noticedMarkets(): readonly number[] {
    return [...this.#noticed];
  }

  findEvent(id: string): CatalogEvent | undefined {
    return this.#events.get(id);
  }

  findEventBySlug(slug: string): CatalogEvent | undefined {
    return this.#eventSlugs.get(slug);
  }

  findTagById(id: string): CatalogTag | undefined {
    return this.#tags.get(id);
  }

  findSeriesById(id: string): CatalogSeries | undefined {
    return this.#series.get(id);
  }

  findTag(slug: string): CatalogTag | undefined {
    return this.#tagSlugs.get(slug);
  }

  findSeries(slug: string): CatalogSeries | undefined {
    return this.#seriesSlugs.get(slug);
  }

  hasSeries(id: string): boolean {
    return this.#series.has(id);
  }

  /** Numbers given last, of each kind; the next one is one more. */
  lastNumbers(): { market: number; event: number; tag: number; series: number } {
    return { ...this.#last };
  }

  marketsOfEvent(eventId: string): readonly CatalogMarket[] {
    return [...this.#markets.values()].filter((market) => market.eventId === eventId);
  }

  /** The neg-risk group of the event's markets, if there is one. */
  groupOfEvent(eventId: string): Buffer | undefined {
    return this.#eventGroups.get(eventId);
  }

  hasGroup(group: Buffer): boolean {
    return this.#groups.has(group.toString('hex'));
  }

  /** Markets that still trade in each of these partitions. */
  openMarketsPerPartition(partitions: readonly number[]): Map<number, number> {
    const counts = new Map(partitions.map((partition) => [partition, 0]));
    for (const { partition, closed } of [...this.#markets.values(), ...this.#unlisted.values()]) {
      const count = counts.get(partition);
      if (!closed && count !== undefined) counts.set(partition, count + 1);
    }
    return counts;
  }

  #takeMarket(market: CatalogMarket): void {
    this.#last.market = Math.max(this.#last.market, market.market);
    if (!market.listed) {
      this.#unlisted.set(market.market, market);
      return;
    }
    this.#unlisted.delete(market.market);
    const [token0, token1] = tokensOf(market);
    this.#tokens.set(token0.tokenId, token0);
    this.#tokens.set(token1.tokenId, token1);
    this.#conditions.set(token0.conditionId, token0);
    rename(this.#marketSlugs, this.#markets.get(market.market), market);
    this.#markets.set(market.market, market);
    if (market.feeChangesAtMs > 0) this.#noticed.add(market.market);
    else this.#noticed.delete(market.market);
    this.#takeGroup(market);
  }

  #takeGroup({ eventId, negRiskMarketId: group }: CatalogMarket): void {
    if (group === null) return;
    this.#groups.add(group.toString('hex'));
    if (!this.#eventGroups.has(eventId)) this.#eventGroups.set(eventId, group);
  }
}

/** A slug that an entry no longer has is free, unless another entry has taken it meanwhile. */
function rename<T extends { readonly slug: string }>(
  slugs: Map<string, T>,
  known: T | undefined,
  entry: T,
): void {
  if (known !== undefined && slugs.get(known.slug) === known) slugs.delete(known.slug);
  slugs.set(entry.slug, entry);
}

function numberOf(id: string): number {
  const value = Number(id);
  return Number.isSafeInteger(value) ? value : 0;
}

/** One outcome of a market, looked up for every order. */
export interface ListedToken {
  readonly market: CatalogMarket;
  readonly conditionId: ConditionId;
  readonly tokenId: TokenId;
  readonly outcome: 0 | 1;
}

/** Both outcomes of a market. */
export function tokensOf(market: CatalogMarket): readonly [ListedToken, ListedToken] {
  const conditionId = conditionIdFromBytes(market.conditionId);
  return [
    { market, conditionId, tokenId: tokenIdFromBytes(market.token0), outcome: 0 },
    { market, conditionId, tokenId: tokenIdFromBytes(market.token1), outcome: 1 },
  ];
}
