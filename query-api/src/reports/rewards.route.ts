import type { Catalog } from '@pm/domain/markets/catalog';
import type { Market } from '@pm/domain/markets/market';
import {
  cursorBehind,
  isCount,
  type PageStart,
  pageBehind,
  readPageStart,
} from '@pm/domain/reading/list-cursor';
import { emptyPage, type Page, pageOf } from '@pm/domain/reading/paging';
import { QueryReader } from '@pm/domain/reading/query-reader';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import { Fault } from '@pm/kit/fault';
import type { HttpHandler } from '@pm/kit/http';
import { parseConditionId } from '@pm/schemas/ids';
import type { StoredBooks } from '../books/stored-books.io.ts';
import { pricedBy } from '../books/tokens.ts';
import type { CallerDirectory } from '../http/caller.io.ts';
import { provenCaller, unproven } from '../http/caller.io.ts';
import { readRoute } from '../http/read-route.io.ts';
import type { FiguresWatch } from '../markets/figures.io.ts';
import { readRebatesQuery, rebateAnswers } from './rebates.ts';
import type { Reports } from './reports.io.ts';
import { isRewarded, rewardEntry, rewardedMarket, rewardedMarkets } from './rewards.ts';

export interface RewardParts {
  readonly catalog: Catalog;
  readonly books: Pick<StoredBooks, 'quotes'>;
  readonly reports: Pick<Reports, 'makerFees'>;
  readonly callers: CallerDirectory;
  readonly figures: Pick<FiguresWatch, 'readAtMs'>;
  nowMs(): number;
}

/** Entries of a page, and conditions of one request. */
const pageSize = 500;

/**
 * Rewards and rebates (conventions.md 6.5). Which markets have rewards follows from the catalog; what a wallet earned
 * is not kept here, so those lists are empty for a proven caller.
 */
export function rewardRoutes(parts: RewardParts): readonly HttpHandler[] {
  const page = () => emptyPage(pageSize);
  return [
    ...marketRewardRoutes(parts),
    ownRoute(parts, '/rewards/user', page),
    ownRoute(parts, '/rewards/user/total', () => []),
    ownRoute(parts, '/rewards/user/percentages', () => ({})),
    ownRoute(parts, '/rewards/user/markets', page),
    rebatesRoute(parts),
  ];
}

const clob = (path: string) => ({ method: 'GET', path, family: 'clob' }) as const;

function marketRewardRoutes(parts: RewardParts): readonly HttpHandler[] {
  const { catalog, books, figures } = parts;
  const described = async (page: Page<Market>) => {
    if (figures.readAtMs() === null) throw new Fault('figures_not_ready', 'retry');
    const quotes = await books.quotes(pricedBy(page.data));
    return { ...page, data: page.data.map((market) => rewardedMarket(catalog, market, quotes)) };
  };
  return [
    readRoute(clob('/rewards/markets/current'), ({ query }) => {
      const start = readPageStart(new QueryReader(query, 'clob'), 'current-rewards', numberOfKey);
      if (start === null) return refusals.invalidCursor;
      const page = pageFrom(start, rewardedMarkets(catalog));
      return { ...page, data: page.data.map(rewardEntry) };
    }),
    readRoute(clob('/rewards/markets/multi'), async ({ query }) => {
      const read = new QueryReader(query, 'clob');
      const conditions = read.list('condition_ids', pageSize, parseConditionId);
      if (read.refusal !== null) return read.refusal;
      const start = readPageStart(read, 'reward-markets', numberOfKey);
      if (start === null) return refusals.invalidCursor;
      const rewarded = rewardedMarkets(catalog);
      const isRequested = (market: Market) => conditions?.includes(market.conditionId) ?? true;
      return await described(pageFrom(start, rewarded.filter(isRequested)));
    }),
    readRoute(clob('/rewards/markets/:condition_id'), async ({ params }) => {
      const condition = parseConditionId(params['condition_id'] ?? '');
      if (condition === null) return refusals.invalidMarket;
      const market = catalog.byCondition(condition);
      if (market === undefined) return refusals.marketNotFound;
      return await described(pageOf(isRewarded(market) ? [market] : [], 0, pageSize));
    }),
  ];
}

/** The page of these markets, which are in the order of their numbers. */
function pageFrom(
  { digest, after, isOver }: PageStart<number>,
  markets: readonly Market[],
): Page<Market> {
  if (isOver) return emptyPage(pageSize);
  const found = after === null ? markets : markets.filter(({ market }) => market > after);
  return pageBehind(found, pageSize, ({ market }) => cursorBehind(digest, [market]));
}

function numberOfKey([number, ...more]: readonly unknown[]): number | null {
  return isCount(number) && more.length === 0 ? number : null;
}

function ownRoute(parts: RewardParts, path: string, answer: () => object): HttpHandler {
  return readRoute(clob(path), ({ raw }) => {
    if (provenCaller(parts.callers, raw) === null) return unproven(parts, raw);
    return answer();
  });
}

function rebatesRoute({ catalog, reports, nowMs }: RewardParts): HttpHandler {
  return readRoute(clob('/rebates/current'), async ({ query }) => {
    const requested = readRebatesQuery(query, nowMs());
    if (requested instanceof ReadRefusal) return requested;
    const rows = await reports.makerFees(requested.maker, requested.dayS);
    return rebateAnswers(catalog, rows, requested, nowMs());
  });
}
