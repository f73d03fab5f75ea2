import { priceOfMicro, type Quotes, unitsOf } from '@pm/domain/books/quote';
import type { Catalog } from '@pm/domain/markets/catalog';
import type { Market } from '@pm/domain/markets/market';
import { type MarketFilter, readMarketFilter } from '@pm/domain/markets/market-filter';
import { isoTime } from '@pm/domain/markets/wire-market';
import {
  type AssetForm,
  assetId,
  averageMicro,
  compare,
  type HeldRow,
} from '@pm/domain/positions/positions';
import { readWallet, titleMaxChars } from '@pm/domain/positions/positions-query';
import { type PageBounds, readPageOf } from '@pm/domain/reading/paging';
import { QueryReader, type RawQuery } from '@pm/domain/reading/query-reader';
import type { ReadRefusal } from '@pm/domain/reading/refusal';
import { marketLabels } from '@pm/domain/reports/rows';
import { type ClosedPositionSort, closedPositionSorts } from '@pm/schemas/http/report-choices';
import type { ClosedPosition } from '@pm/schemas/http/reports';
import { checksumAddress, type WalletAddress } from '@pm/schemas/ids';

export interface ClosedQuery extends MarketFilter {
  readonly user: WalletAddress;
  readonly title: string;
  readonly sortBy: ClosedPositionSort;
  readonly sortDirection: 'ASC' | 'DESC';
  readonly limit: number;
  readonly offset: number;
}

const known = [
  'user',
  'market',
  'eventId',
  'title',
  'sortBy',
  'sortDirection',
  'limit',
  'offset',
] as const;

/** As clients of the family use GET /closed-positions. */
const pageBounds: PageBounds = { limitMax: 50, limitDefault: 10, offsetMax: 100_000 };

/** The parameters of GET /closed-positions, or why not (conventions.md 6.1). */
export function readClosedQuery(query: RawQuery, strict: boolean): ClosedQuery | ReadRefusal {
  const read = new QueryReader(query, 'data');
  if (strict) read.onlyKnown(known);
  const user = readWallet(read);
  const parsed = {
    ...readMarketFilter(read),
    title: read.text('title', titleMaxChars) ?? '',
    sortBy: read.oneOf('sortBy', closedPositionSorts, 'REALIZEDPNL'),
    sortDirection: read.oneOf('sortDirection', ['ASC', 'DESC'], 'DESC'),
    ...readPageOf(read, pageBounds),
  };
  return read.refusal ?? { ...parsed, user: user as WalletAddress };
}

/** A closed row with its market. */
export interface Closed {
  readonly row: HeldRow;
  readonly market: Market;
}

/** The rows of markets with such a title; rows of markets the catalog does not know are not shown. */
export function selectClosed(
  catalog: Catalog,
  rows: readonly HeldRow[],
  { title }: Pick<ClosedQuery, 'title'>,
): readonly Closed[] {
  return rows
    .flatMap((row): readonly Closed[] => {
      const market = catalog.market(row.market);
      return market === undefined ? [] : [{ row, market }];
    })
    .filter(({ market }) => market.question.toLowerCase().includes(title.toLowerCase()));
}

/** One page, sorted as requested, ties by asset. The average price is that of everything bought. */
export function closedPage(
  closed: readonly Closed[],
  query: ClosedQuery,
  context: { catalog: Catalog; quotes: Quotes; form: AssetForm },
): readonly ClosedPosition[] {
  const valued = closed.map((one) => ({
    ...one,
    asset: assetId(one.market, one.row.outcome, context.form),
    priceMicro: priceOfMicro(one.market, one.row.outcome, context.quotes),
    averageMicro: averageMicro({
      sizeMicro: one.row.sharesBoughtMicro,
      costMicro: one.row.totalBoughtMicro,
    }),
  }));
  const key = (one: (typeof valued)[number]): number | string => {
    if (query.sortBy === 'TITLE') return one.market.question.toLowerCase();
    if (query.sortBy === 'PRICE') return one.priceMicro;
    if (query.sortBy === 'AVGPRICE') return one.averageMicro;
    return query.sortBy === 'TIMESTAMP' ? one.row.updatedS : one.row.realizedMicro;
  };
  const direction = query.sortDirection === 'ASC' ? 1 : -1;
  valued.sort(
    (left, right) => direction * compare(key(left), key(right)) || compare(left.asset, right.asset),
  );
  return valued.slice(query.offset, query.offset + query.limit).map(({ row, market, ...one }) => {
    const opposite = row.outcome === 0 ? 1 : 0;
    return {
      proxyWallet: checksumAddress(query.user),
      asset: one.asset,
      conditionId: market.conditionId,
      avgPrice: unitsOf(one.averageMicro),
      totalBought: unitsOf(row.totalBoughtMicro),
      realizedPnl: unitsOf(row.realizedMicro),
      curPrice: unitsOf(one.priceMicro),
      timestamp: row.updatedS,
      ...marketLabels(market, context.catalog.event(market.eventId)?.slug ?? ''),
      outcome: market.outcomes[row.outcome],
      outcomeIndex: row.outcome,
      oppositeOutcome: market.outcomes[opposite],
      oppositeAsset: assetId(market, opposite, context.form),
      endDate: isoTime(market.endDateMs),
    };
  });
}
