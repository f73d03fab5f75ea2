import { Catalog } from '@pm/domain/markets/catalog';
import { eventColumns, marketColumns } from '@pm/domain/markets/catalog-tables';
import type { MarketFigures } from '@pm/domain/markets/figures';
import { ReadRefusal } from '@pm/domain/reading/refusal';
import { Random } from '@pm/kit/random';
import { resolutionStatuses } from '@pm/schemas/http/catalog';
import type { CatalogEvent, CatalogMarket } from '@pm/schemas/log/catalog';
import { runLength } from '../../../kit/test/long-runs.ts';
import { keysetOf } from '../../src/markets/keyset-cursor.ts';
import { readEventsQuery } from '../../src/markets/list-events.ts';
import { readMarketsQuery } from '../../src/markets/list-markets.ts';
import { readKeysetSpan, readSpan } from '../../src/markets/list-query.ts';
import { eventEntry, marketEntry, tagEntry, token, wallet } from '../in-memory.ts';

/** Lists out of indexes against a naive filter and sort of the same entries, over random catalogs and queries. */
type Query = Record<string, string>;
type Row = { readonly id: string; readonly keys: Record<string, string | number> };

const random = new Random(20_261_121);
const upTo = (count: number) => random.below(count);
const pick = <T>(list: readonly T[]): T => list[upTo(list.length)] as T;
const dayMs = 86_400_000;
const queries = runLength({ test: 125, deep: 2_000 });
const tags = ['7', '8', '9', '10'];
const series = ['3', '4'];
const condition = (market: number) => `0x${market.toString(16).padStart(64, '0')}`;

/** Entries as the log has them, and what a naive reader makes of them. */
class Twin {
  readonly catalog = new Catalog();
  readonly events = new Map<string, CatalogEvent>();
  readonly markets = new Map<number, CatalogMarket>();
  readonly figures = new Map<number, MarketFigures>();

  constructor() {
    for (const id of tags) this.catalog.apply({ ...tagEntry, id, slug: `tag-${id}` } as never);
  }

  change(): void {
    const kind = random.next();
    if (kind < 0.3) this.#putEvent(String(1 + upTo(60)));
    else if (kind < 0.9) this.#putMarket(1 + upTo(400));
    else if (kind < 0.95) this.#drop();
    else this.#refigure();
  }

  #putEvent(id: string): void {
    const event = eventEntry(id, {
      slug: `event-${id}-${upTo(3)}`,
      title: pick(['Alpha', 'beta', 'Gamma', 'delta']),
      ticker: `ticker-${upTo(5)}`,
      startDateMs: upTo(5) * dayMs,
      endDateMs: (1 + upTo(5)) * dayMs,
      creationDateMs: upTo(9) * dayMs,
      createdAtMs: upTo(9) * dayMs,
      updatedAtMs: upTo(9) * dayMs,
      active: random.next() < 0.8,
      closed: random.next() < 0.3,
      archived: random.next() < 0.1,
      closedAtMs: pick([0, dayMs, 2 * dayMs]),
      tagIds: tags.filter(() => random.next() < 0.4),
      seriesIds: series.filter(() => random.next() < 0.4),
    }) as CatalogEvent;
    this.events.set(id, event);
    this.catalog.apply(event);
  }

  #putMarket(number: number): void {
    const market = marketEntry(number, {
      eventId: String(1 + upTo(60)),
      conditionId: Buffer.from(condition(number).slice(2), 'hex'),
      slug: `market-${number}-${upTo(2)}`,
      question: pick(['Will it?', 'would it?', 'Can it?']),
      creator: pick(['', wallet(1), wallet(2)]),
      startDateMs: upTo(5) * dayMs,
      endDateMs: (1 + upTo(5)) * dayMs,
      createdAtMs: upTo(9) * dayMs,
      updatedAtMs: upTo(9) * dayMs,
      active: random.next() < 0.8,
      closed: random.next() < 0.3,
      archived: random.next() < 0.1,
      closedAtMs: pick([0, dayMs, 2 * dayMs]),
      payout0: pick([-1, -1, -1, 0, 10_000]),
      proposedPayout0: pick([-1, -1, 10_000]),
      challengedAtMs: pick([0, 1]),
      rewardsMinSizeMicro: upTo(3) * 1_000_000,
      rewardsMaxSpread: upTo(3) * 100,
    }) as CatalogMarket;
    this.markets.set(number, market);
    this.catalog.apply(market);
  }

  #drop(): void {
    const market = pick([...this.markets.keys(), 0]);
    this.markets.delete(market);
    this.catalog.remove(`CatalogMarket:${market}`);
    const event = pick([...this.events.keys(), '0']);
    this.events.delete(event);
    this.catalog.remove(`CatalogEvent:${event}`);
  }

  #refigure(): void {
    this.figures.clear();
    for (const number of this.markets.keys()) {
      if (random.next() < 0.5) continue;
      this.figures.set(number, {
        volumeMicro: upTo(4),
        dayVolumeMicro: upTo(4),
        weekVolumeMicro: upTo(4),
        monthVolumeMicro: upTo(4),
        yearVolumeMicro: upTo(4),
        liquidityMicro: upTo(4),
        moves: {
          dayMicro: pick([null, -1, 0, 1]),
          weekMicro: pick([null, -1, 0, 1]),
          monthMicro: pick([null, -1, 0, 1]),
          competitive: pick([0, 0.5, 1]),
        },
      });
    }
    this.catalog.takeFigures(new Map(this.figures));
  }

  figuresOf(markets: readonly CatalogMarket[]) {
    const sum = (of: Exclude<keyof MarketFigures, 'moves'>) =>
      markets.reduce((total, { market }) => total + (this.figures.get(market)?.[of] ?? 0), 0);
    return {
      volume: sum('volumeMicro'),
      volume24hr: sum('dayVolumeMicro'),
      volume1wk: sum('weekVolumeMicro'),
      volume1mo: sum('monthVolumeMicro'),
      volume1yr: sum('yearVolumeMicro'),
      liquidity: sum('liquidityMicro'),
    };
  }

  movesOf({ market, payout0 }: CatalogMarket) {
    const moves = payout0 < 0 ? this.figures.get(market)?.moves : undefined;
    return {
      competitive: moves?.competitive ?? 0,
      oneDayPriceChange: moves?.dayMicro ?? 0,
      oneWeekPriceChange: moves?.weekMicro ?? 0,
      oneMonthPriceChange: moves?.monthMicro ?? 0,
    };
  }

  marketsOf(id: string): readonly CatalogMarket[] {
    return [...this.markets.values()].filter(({ eventId }) => eventId === id);
  }

  naiveEvents(query: Query): readonly string[] {
    const rows = [...this.events.values()].filter((event) => {
      const markets = this.marketsOf(event.id);
      return (
        stateFits(query, event) &&
        fits(query['tag_id'], (tag) => event.tagIds.includes(tag)) &&
        fits(query['tag_slug'], (slug) => event.tagIds.some((id) => `tag-${id}` === slug)) &&
        fits(query['series_id'], (id) => event.seriesIds.includes(id)) &&
        fits(query['exclude_tag_id'], (tag) => !event.tagIds.includes(tag)) &&
        fits(query['slug'], (slugs) => slugs.split(',').includes(event.slug)) &&
        fits(query['id'], (ids) => ids.split(',').includes(event.id)) &&
        fits(query['creator'], (wanted) => markets.some(({ creator }) => creator === wanted)) &&
        fits(query['volume_min'], (min) => this.figuresOf(markets).volume >= Number(min) * 1e6) &&
        fits(query['start_date_min'], (min) => event.startDateMs >= Date.parse(min))
      );
    });
    return naivePage(
      query,
      rows.map((event) => ({
        id: event.id,
        keys: {
          id: Number(event.id),
          ticker: event.ticker,
          slug: event.slug,
          title: event.title.toLowerCase(),
          startDate: event.startDateMs,
          endDate: event.endDateMs,
          creationDate: event.creationDateMs,
          createdAt: event.createdAtMs,
          updatedAt: event.updatedAtMs,
          closedTime: event.closedAtMs,
          ...this.figuresOf(this.marketsOf(event.id)),
        },
      })),
    );
  }

  naiveMarkets(query: Query): readonly string[] {
    const rows = [...this.markets.values()].filter((market) => {
      const event = this.events.get(market.eventId);
      return (
        stateFits(query, market) &&
        fits(query['tag_id'], (tag) => event?.tagIds.includes(tag) === true) &&
        fits(query['event_id'], (id) => market.eventId === id) &&
        fits(query['event_slug'], (slug) => event?.slug === slug) &&
        fits(query['slug'], (slugs) => slugs.split(',').includes(market.slug)) &&
        fits(query['condition_ids'], (ids) => ids.split(',').includes(condition(market.market))) &&
        fits(query['clob_token_ids'], (ids) =>
          ids
            .split(',')
            .some((id) => [token(market.market, 0), token(market.market, 1)].includes(id as never)),
        ) &&
        fits(query['creator'], (creator) => market.creator === creator) &&
        fits(query['uma_resolution_status'], (wanted) =>
          wanted.split(',').includes(statusOf(market)),
        ) &&
        fits(query['rewards_min_size'], (min) => market.rewardsMinSizeMicro >= Number(min) * 1e6) &&
        fits(query['end_date_max'], (max) => market.endDateMs <= Date.parse(max))
      );
    });
    return naivePage(
      query,
      rows.map((market) => ({
        id: String(market.market),
        keys: {
          id: market.market,
          slug: market.slug,
          question: market.question.toLowerCase(),
          startDate: market.startDateMs,
          endDate: market.endDateMs,
          createdAt: market.createdAtMs,
          updatedAt: market.updatedAtMs,
          closedTime: market.closedAtMs,
          rewardsMinSize: market.rewardsMinSizeMicro,
          rewardsMaxSpread: market.rewardsMaxSpread,
          ...this.figuresOf([market]),
          ...this.movesOf(market),
        },
      })),
    );
  }
}

function statusOf({ payout0, proposedPayout0, challengedAtMs }: CatalogMarket): string {
  if (payout0 >= 0) return 'resolved';
  if (proposedPayout0 >= 0) return 'proposed';
  return challengedAtMs > 0 ? 'disputed' : '';
}

function fits(value: string | undefined, test: (value: string) => boolean): boolean {
  return value === undefined || test(value);
}

function stateFits(
  query: Query,
  row: { active: boolean; closed: boolean; archived: boolean },
): boolean {
  return (['active', 'closed', 'archived'] as const).every((name) =>
    fits(query[name], (wanted) => String(row[name]) === wanted),
  );
}

function naivePage(query: Query, rows: Row[]): readonly string[] {
  const order = [...(query['order'] ?? 'id').split(','), 'id'];
  const direction = query['ascending'] === 'true' ? 1 : -1;
  rows.sort((left, right) => {
    for (const name of order) {
      const [one = 0, other = 0] = [left.keys[name], right.keys[name]];
      if (one !== other) return one < other ? -direction : direction;
    }
    return 0;
  });
  const offset = Number(query['offset'] ?? 0);
  return rows.slice(offset, offset + Number(query['limit'] ?? 20)).map(({ id }) => id);
}

/** Some parameters out of many; each is there with its chance. */
function aQuery(columns: readonly string[], more: Record<string, () => string>): Query {
  const bool = () => pick(['true', 'false']);
  const given: Record<string, () => string> = {
    limit: () => String(1 + upTo(100)),
    offset: () => String(upTo(random.next() < 0.5 ? 10 : 150)),
    order: () => Array.from({ length: 1 + upTo(3) }, () => pick(columns)).join(','),
    ascending: bool,
    active: bool,
    closed: bool,
    archived: bool,
    creator: () => pick([wallet(1), wallet(2), wallet(3)]),
    tag_id: () => pick([...tags, '99']),
    ...more,
  };
  const chosen = Object.entries(given).filter(
    ([name]) => random.next() < (['order', 'ascending', 'limit'].includes(name) ? 0.7 : 0.15),
  );
  return Object.fromEntries(chosen.map(([name, make]) => [name, make()]));
}

const several = (make: () => string) => () => Array.from({ length: 1 + upTo(6) }, make).join(',');
const eventQuery = () =>
  aQuery(eventColumns, {
    tag_slug: () => pick(['tag-7', 'tag-8', 'tag-none']),
    series_id: () => pick([...series, '5']),
    exclude_tag_id: () => pick(tags),
    slug: several(() => `event-${1 + upTo(60)}-${upTo(3)}`),
    id: several(() => String(1 + upTo(70))),
    volume_min: () => pick(['0.000001', '0.000003']),
    start_date_min: () => new Date(upTo(5) * dayMs).toISOString(),
  });
const marketQuery = () =>
  aQuery(marketColumns, {
    event_id: () => String(1 + upTo(70)),
    event_slug: () => `event-${1 + upTo(60)}-${upTo(3)}`,
    slug: several(() => `market-${1 + upTo(400)}-${upTo(2)}`),
    condition_ids: several(() => condition(1 + upTo(400))),
    clob_token_ids: several(() => token(1 + upTo(400), pick([0, 1]))),
    end_date_max: () => new Date(upTo(5) * dayMs).toISOString(),
    uma_resolution_status: () => pick([...resolutionStatuses, 'resolved,disputed']),
    rewards_min_size: () => pick(['0.5', '1', '2']),
  });

function accepted<T>(value: T | ReadRefusal): T {
  if (value instanceof ReadRefusal) throw new Error(value.text);
  return value;
}

/** A random query with the rows and the count that the indexes find, and the naive reader of the same list. */
function bothLists(twin: Twin, isEvents: boolean) {
  const { catalog } = twin;
  const context = { catalog, sites: new Map(), isFamily: false };
  if (isEvents) {
    const query = eventQuery();
    const { rows, span } = accepted(readEventsQuery(query, context, readSpan));
    const ids = catalog.eventTable.page(rows, span).map(({ id }) => id);
    const count = catalog.eventTable.count(rows);
    const naive = (requested: Query) => twin.naiveEvents(requested);
    return { query, ids, count, naive };
  }
  const query = marketQuery();
  const { rows, span } = accepted(readMarketsQuery(query, context, readSpan));
  const ids = catalog.marketTable.page(rows, span).map(({ market }) => String(market));
  const count = catalog.marketTable.count(rows);
  return { query, ids, count, naive: (requested: Query) => twin.naiveMarkets(requested) };
}

const wholeList = { offset: '0', limit: '100000' };

/** Reads a list to its end by cursors; after the first page the row its cursor was made of goes away. */
function readByCursors(twin: Twin, sorted: Query): readonly string[] {
  const { catalog } = twin;
  const context = { catalog, sites: new Map(), isFamily: false };
  const seen: string[] = [];
  let after: Query = {};
  for (;;) {
    const { rows, span } = accepted(
      readMarketsQuery({ ...sorted, ...after }, context, readKeysetSpan),
    );
    const page = catalog.marketTable.page(rows, span);
    seen.push(...page.map(({ market }) => String(market)));
    const last = page.at(-1);
    if (last === undefined || page.length < span.limit) return seen;
    const place = catalog.marketTable.cursorOf(last, span.list.column);
    if (place === null) return seen;
    after = { after_cursor: keysetOf(span.list, place) };
    if (seen.length > span.limit) continue;
    twin.markets.delete(last.market);
    catalog.remove(`CatalogMarket:${last.market}`);
  }
}

describe('lists out of indexes', () => {
  it(`equal a naive filter and sort, over ${queries} random queries while the catalog changes`, () => {
    const twin = new Twin();
    for (let count = 0; count < queries; count += 1) {
      // Now and then much changes at once, as when a catalog is loaded.
      const changes = random.next() < 0.05 ? 120 : 1 + upTo(3);
      for (let change = 0; change < changes; change += 1) twin.change();
      const { query, ids, count: found, naive } = bothLists(twin, count % 2 === 0);
      expect({ query, ids }).toEqual({ query, ids: naive(query) });
      expect(found).toBe(naive({ ...query, ...wholeList }).length);
    }
    expect(twin.catalog.size).toBe(twin.markets.size);
  }, 60_000);

  it('read by cursors give every row once, also when the row of a cursor goes away', () => {
    const twin = new Twin();
    for (let changes = 0; changes < 900; changes += 1) twin.change();
    for (const order of marketColumns) {
      for (const ascending of ['true', 'false']) {
        const seen = readByCursors(twin, { order, ascending, limit: '37' });
        const left = twin.naiveMarkets({ order, ascending, ...wholeList });
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen.filter((id) => left.includes(id))).toEqual(left);
      }
    }
  });
});
