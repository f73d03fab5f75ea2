import type { Catalog } from '@pm/domain/markets/catalog';
import type { Market } from '@pm/domain/markets/market';

type Query = Readonly<Record<string, string>>;
type Key = (market: Market) => string | number;

/** The naive list: filters all markets, sorts the rest, takes a page. */
export function naivePage(catalog: Catalog, query: Query): readonly Market[] {
  const found = [...catalog.markets()].filter((market) => fits(catalog, query, market));
  const keys = (query['order'] ?? 'id').split(',').map((column) => keyOf(catalog, column));
  const direction = query['ascending'] === 'true' ? 1 : -1;
  found.sort((left, right) => {
    for (const key of keys) {
      const [one, other] = [key(left), key(right)];
      if (one !== other) return one < other ? -direction : direction;
    }
    return direction * (left.market - right.market);
  });
  const offset = Number(query['offset'] ?? 0);
  return found.slice(offset, offset + Number(query['limit'] ?? 20));
}

function fits(catalog: Catalog, query: Query, market: Market): boolean {
  for (const name of ['active', 'closed', 'archived'] as const) {
    if (query[name] !== undefined && String(market[name]) !== query[name]) return false;
  }
  const { tag_slug: slug } = query;
  if (slug === undefined) return true;
  const tag = catalog.tagBySlug(slug)?.id ?? '';
  return catalog.event(market.eventId)?.tagIds.includes(tag) === true;
}

function keyOf(catalog: Catalog, column: string): Key {
  if (column === 'volume') return (market) => catalog.figuresOfMarket(market).volumeMicro;
  if (column === 'volume24hr') return (market) => catalog.figuresOfMarket(market).dayVolumeMicro;
  if (column === 'liquidity') return (market) => catalog.figuresOfMarket(market).liquidityMicro;
  if (column === 'endDate') return (market) => market.endDateMs;
  if (column === 'createdAt') return (market) => market.createdAtMs;
  if (column === 'title') return (market) => market.question.toLowerCase();
  return (market) => market.market;
}
