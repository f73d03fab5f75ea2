import { descriptionRoutes, type HttpApp, type HttpHandler, registerRoutes } from '@pm/kit/http';
import type { BookParts } from '../books/book.route.ts';
import { bookRoute, booksRoute } from '../books/book.route.ts';
import type { QuoteParts } from '../books/quotes.route.ts';
import {
  lastTradePriceRoute,
  lastTradesPricesRoutes,
  midpointRoute,
  midpointsRoutes,
  priceRoute,
  pricesRoutes,
  spreadRoute,
  spreadsRoutes,
} from '../books/quotes.route.ts';
import type { TokenRuleParts } from '../books/token-rules.route.ts';
import { feeRateRoutes, negRiskRoutes, tickSizeRoutes } from '../books/token-rules.route.ts';
import { type ConsoleParts, consoleRoutes } from '../console/console.route.ts';
import type { CandleParts } from '../history/candles.route.ts';
import { candlesRoute } from '../history/candles.route.ts';
import type { HistoryParts } from '../history/prices-history.route.ts';
import { batchPricesHistoryRoute, pricesHistoryRoute } from '../history/prices-history.route.ts';
import type { CatalogParts } from '../markets/catalog-responses.io.ts';
import { clobListRoutes } from '../markets/clob-markets.route.ts';
import { emptyListRoutes, eventRoutes, eventsRoutes } from '../markets/events.route.ts';
import { agentMarketsRoute, marketRoutes, marketsRoutes } from '../markets/markets.route.ts';
import { seriesRoutes, tagRoutes } from '../markets/tags.route.ts';
import type { ScoringParts } from '../orders/order-scoring.route.ts';
import { orderScoringRoute, ordersScoringRoute } from '../orders/order-scoring.route.ts';
import type { OrderParts } from '../orders/orders.route.ts';
import {
  dataOrderRoute,
  dataOrdersRoute,
  lookUpOrdersRoute,
  preMigrationOrdersRoute,
} from '../orders/orders.route.ts';
import type { OwnTradeParts } from '../orders/trades.route.ts';
import { dataTradesRoute } from '../orders/trades.route.ts';
import type { BalanceParts } from '../positions/balances.route.ts';
import { balanceAllowanceRoutes, balancesRoute } from '../positions/balances.route.ts';
import type { PositionParts } from '../positions/positions.route.ts';
import {
  closedPositionsRoute,
  holdersRoute,
  marketPositionsRoute,
  positionsRoute,
  walletFigureRoutes,
} from '../positions/positions.route.ts';
import type { BuilderParts } from '../reports/builders.route.ts';
import { builderRoutes } from '../reports/builders.route.ts';
import type { LeaderboardParts } from '../reports/leaderboard.route.ts';
import { leaderboardRoute } from '../reports/leaderboard.route.ts';
import type { MarketFigureParts } from '../reports/open-interest.route.ts';
import { marketFigureRoutes } from '../reports/open-interest.route.ts';
import type { RewardParts } from '../reports/rewards.route.ts';
import { rewardRoutes } from '../reports/rewards.route.ts';
import type { TapeParts } from '../reports/trades.route.ts';
import { liveActivityRoutes, tapeRoutes } from '../reports/trades.route.ts';
import { publicSearchRoute } from '../search/public-search.route.ts';
import type { CommentParts } from '../social/comment-responses.io.ts';
import {
  commentCountRoute,
  commentRoute,
  commentsByUserRoute,
  commentsKeysetRoute,
  commentsRoute,
} from '../social/comments.route.ts';
import { creatorRoutes } from '../social/creators.route.ts';
import type { NotificationParts } from '../social/notifications.route.ts';
import { notificationsRoute } from '../social/notifications.route.ts';
import { profileByAddressRoute, publicProfileRoute } from '../social/profiles.route.ts';
import type { StatusParts } from '../status/status.route.ts';
import { rateLimitsRoute, statusRoute } from '../status/status.route.ts';
import { type AnsweredParts, awaitAnswered } from './answered-reads.io.ts';
import type { CompletenessParts } from './complete-through.io.ts';
import { addCompleteness } from './complete-through.io.ts';

/** Everything that the routes read from. */
export type ReadParts = BookParts &
  QuoteParts &
  TokenRuleParts &
  HistoryParts &
  CandleParts &
  OrderParts &
  OwnTradeParts &
  ScoringParts &
  PositionParts &
  BalanceParts &
  BuilderParts &
  MarketFigureParts &
  TapeParts &
  LeaderboardParts &
  RewardParts &
  NotificationParts &
  StatusParts &
  CatalogParts &
  CommentParts &
  ConsoleParts &
  CompletenessParts &
  AnsweredParts;

/** Adds all routes of query-api to the app. Throws a `Fault` when they are not those of the table of routes. */
export function addReadRoutes(app: HttpApp, parts: ReadParts): void {
  addCompleteness(app, parts);
  awaitAnswered(app, parts);
  registerRoutes(app, 'query-api', [
    ...bookRoutes(parts),
    ...reportRoutes(parts),
    ...ownRoutes(parts),
    ...socialRoutes(parts),
    ...listingRoutes(parts),
    rateLimitsRoute(parts),
    statusRoute(parts),
    ...descriptionRoutes(),
    ...consoleRoutes(parts),
  ]);
}

/** Books, prices and their history. */
function bookRoutes(parts: ReadParts): readonly HttpHandler[] {
  return [
    bookRoute(parts),
    booksRoute(parts),
    priceRoute(parts),
    ...pricesRoutes(parts),
    midpointRoute(parts),
    ...midpointsRoutes(parts),
    spreadRoute(parts),
    ...spreadsRoutes(parts),
    lastTradePriceRoute(parts),
    ...lastTradesPricesRoutes(parts),
    pricesHistoryRoute(parts),
    batchPricesHistoryRoute(parts),
    candlesRoute(parts),
    ...tickSizeRoutes(parts),
    ...negRiskRoutes(parts),
    ...feeRateRoutes(parts),
  ];
}

/** Public reports. */
function reportRoutes(parts: ReadParts): readonly HttpHandler[] {
  return [
    positionsRoute(parts),
    holdersRoute(parts),
    closedPositionsRoute(parts),
    ...walletFigureRoutes(parts),
    ...tapeRoutes(parts),
    ...marketFigureRoutes(parts),
    leaderboardRoute(parts),
    marketPositionsRoute(parts),
    ...builderRoutes(parts),
    ...rewardRoutes(parts),
  ];
}

/** Private reads of the caller. */
function ownRoutes(parts: ReadParts): readonly HttpHandler[] {
  return [
    dataOrderRoute(parts),
    dataTradesRoute(parts),
    dataOrdersRoute(parts),
    lookUpOrdersRoute(parts),
    preMigrationOrdersRoute(parts),
    orderScoringRoute(parts),
    ordersScoringRoute(parts),
    ...balanceAllowanceRoutes(parts),
    balancesRoute(parts),
    notificationsRoute(parts),
  ];
}

/** Comments and profiles. */
function socialRoutes(parts: ReadParts): readonly HttpHandler[] {
  return [
    commentsRoute(parts),
    commentsKeysetRoute(parts),
    commentRoute(parts),
    commentsByUserRoute(parts),
    commentCountRoute(parts, 'events'),
    commentCountRoute(parts, 'series'),
    publicProfileRoute(parts),
    profileByAddressRoute(parts),
  ];
}

/** Events, markets, tags, series and search. */
function listingRoutes(parts: ReadParts): readonly HttpHandler[] {
  return [
    ...eventsRoutes(parts),
    ...eventRoutes(parts),
    ...creatorRoutes(parts),
    ...marketsRoutes(parts),
    ...marketRoutes(parts),
    ...clobListRoutes(parts),
    ...tagRoutes(parts),
    ...seriesRoutes(parts),
    publicSearchRoute(parts),
    agentMarketsRoute(parts),
    ...emptyListRoutes(),
    ...liveActivityRoutes(parts),
  ];
}
