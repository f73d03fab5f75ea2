import {
  type CatalogEntry,
  type CatalogEvent,
  type CatalogMarket,
  type CatalogSeries,
  type CatalogTag,
  type ConditionId,
  conditionIdFromBytes,
  type TokenId,
  tokenIdFromBytes,
} from '@pm/schemas';

const wordFields = [
  'eventId',
  'question',
  'slug',
  'description',
  'resolutionSource',
  'image',
  'icon',
  'category',
  'creator',
] as const;
const ruleFields = [
  'market',
  'startDateMs',
  'endDateMs',
  'createdAtMs',
  'updatedAtMs',
  'active',
  'closed',
  'archived',
  'negRisk',
  'tick',
  'minSizeMicro',
  'feeRateBps',
  'rebateBps',
  'rewardsDailyMicro',
  'rewardsMinSizeMicro',
  'rewardsMaxSpread',
  'mode',
  'payout0',
  'partition',
  'epoch',
] as const;
type Words = Readonly<Record<(typeof wordFields)[number] | 'outcome0' | 'outcome1', string>>;
type Rules = Pick<CatalogMarket, (typeof ruleFields)[number]>;

/** A market with its ids as texts: the bytes of the record it came in would keep the whole fetch in memory. */
export type Market = Pick<Words, (typeof wordFields)[number]> &
  Rules & {
    readonly conditionId: ConditionId;
    readonly questionId: string;
    /** Empty when it belongs to no group. */
    readonly negRiskMarketId: string;
    readonly tokens: readonly [TokenId, TokenId];
    readonly outcomes: readonly [string, string];
  };

export type Outcome = 0 | 1;

/** One outcome token of a market. */
export interface Listing {
  readonly market: Market;
  readonly outcome: Outcome;
  readonly token: TokenId;
}

/** Events, markets, tags and series as the log says, and the ways to find them. Entries of one key replace each other. */
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
  readonly #marketsOfEvent = new Map<string, Map<number, Market>>();
  readonly #eventsOfTag = new Map<string, Map<string, CatalogEvent>>();

  /** Takes an entry of the topic `catalog`; the newest of a key counts. */
  apply(entry: CatalogEntry): void {
    switch (entry.kind) {
      case 'CatalogMarket':
        this.#dropMarket(entry.market);
        this.#addMarket(marketOf(entry));
        return;
      case 'CatalogEvent':
        this.#dropEvent(entry.id);
        this.#addEvent(entry);
        return;
      case 'CatalogTag':
        replace(this.#tags, this.#tagBySlug, entry);
        return;
      case 'CatalogSeries':
        replace(this.#series, this.#seriesBySlug, entry);
        return;
    }
  }

  /** Forgets the entry of a key (`catalogKey`) that was deleted. */
  remove(key: string): void {
    const [kind, id = ''] = key.split(':', 2);
    if (kind === 'CatalogMarket') this.#dropMarket(Number(id));
    if (kind === 'CatalogEvent') this.#dropEvent(id);
    if (kind === 'CatalogTag') drop(this.#tags, this.#tagBySlug, id);
    if (kind === 'CatalogSeries') drop(this.#series, this.#seriesBySlug, id);
  }

  get size(): number {
    return this.#markets.size;
  }

  listing(token: string): Listing | undefined {
    return this.#listings.get(token);
  }

  market(number: number): Market | undefined {
    return this.#markets.get(number);
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

  events(): IterableIterator<CatalogEvent> {
    return this.#events.values();
  }

  tag(id: string): CatalogTag | undefined {
    return this.#tags.get(id);
  }

  tagBySlug(slug: string): CatalogTag | undefined {
    return this.#tagBySlug.get(slug);
  }

  series(id: string): CatalogSeries | undefined {
    return this.#series.get(id);
  }

  seriesBySlug(slug: string): CatalogSeries | undefined {
    return this.#seriesBySlug.get(slug);
  }

  /** Markets of an event, oldest first. */
  marketsOf(eventId: string): readonly Market[] {
    const markets = [...(this.#marketsOfEvent.get(eventId)?.values() ?? [])];
    return markets.sort((left, right) => left.market - right.market);
  }

  /** Events that carry a tag, in no order. */
  eventsOfTag(tagId: string): IterableIterator<CatalogEvent> {
    return (this.#eventsOfTag.get(tagId) ?? new Map<string, CatalogEvent>()).values();
  }

  #addMarket(market: Market): void {
    this.#markets.set(market.market, market);
    this.#byCondition.set(market.conditionId, market);
    this.#marketBySlug.set(market.slug, market);
    market.tokens.forEach((token, index) => {
      this.#listings.set(token, { market, outcome: index === 0 ? 0 : 1, token });
    });
    const siblings = this.#marketsOfEvent.get(market.eventId) ?? new Map<number, Market>();
    siblings.set(market.market, market);
    this.#marketsOfEvent.set(market.eventId, siblings);
  }

  #dropMarket(number: number): void {
    const old = this.#markets.get(number);
    if (old === undefined) return;
    this.#markets.delete(number);
    this.#byCondition.delete(old.conditionId);
    deleteIf(this.#marketBySlug, old.slug, old);
    for (const token of old.tokens) this.#listings.delete(token);
    this.#marketsOfEvent.get(old.eventId)?.delete(number);
  }

  #addEvent(event: CatalogEvent): void {
    this.#events.set(event.id, event);
    this.#eventBySlug.set(event.slug, event);
    for (const tagId of event.tagIds) {
      const carriers = this.#eventsOfTag.get(tagId) ?? new Map<string, CatalogEvent>();
      carriers.set(event.id, event);
      this.#eventsOfTag.set(tagId, carriers);
    }
  }

  #dropEvent(id: string): void {
    const old = this.#events.get(id);
    if (old === undefined) return;
    this.#events.delete(id);
    deleteIf(this.#eventBySlug, old.slug, old);
    for (const tagId of old.tagIds) this.#eventsOfTag.get(tagId)?.delete(id);
  }
}

interface Named {
  readonly id: string;
  readonly slug: string;
}

function replace<T extends Named>(byId: Map<string, T>, bySlug: Map<string, T>, entry: T): void {
  drop(byId, bySlug, entry.id);
  byId.set(entry.id, entry);
  bySlug.set(entry.slug, entry);
}

function drop<T extends Named>(byId: Map<string, T>, bySlug: Map<string, T>, id: string): void {
  const old = byId.get(id);
  if (old === undefined) return;
  byId.delete(id);
  deleteIf(bySlug, old.slug, old);
}

/** A slug may have gone to another entry meanwhile. */
function deleteIf<T>(index: Map<string, T>, key: string, value: T): void {
  if (index.get(key) === value) index.delete(key);
}

function marketOf(entry: CatalogMarket): Market {
  const words: Words = entry as object as Words;
  return {
    ...copy(words, wordFields),
    ...copy(entry as Rules, ruleFields),
    conditionId: conditionIdFromBytes(entry.conditionId),
    questionId: conditionIdFromBytes(entry.questionId),
    negRiskMarketId:
      entry.negRiskMarketId === null ? '' : conditionIdFromBytes(entry.negRiskMarketId),
    tokens: [tokenIdFromBytes(entry.token0), tokenIdFromBytes(entry.token1)],
    outcomes: [words.outcome0, words.outcome1],
  };
}

function copy<T, const K extends keyof T>(from: T, fields: readonly K[]): Pick<T, K> {
  return Object.fromEntries(fields.map((field) => [field, from[field]])) as Pick<T, K>;
}
