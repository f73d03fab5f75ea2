import { type HttpApp, registerRoutes } from '@pm/kit/http';
import { bookRoute, booksRoute } from '../books/book.route.ts';
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
import { feeRateRoutes, negRiskRoutes, tickSizeRoutes } from '../books/token-rules.route.ts';
import { candlesRoute } from '../history/candles.route.ts';
import { batchPricesHistoryRoute, pricesHistoryRoute } from '../history/prices-history.route.ts';
import { clobListRoutes } from '../markets/clob-markets.route.ts';
import { emptyListRoutes, eventRoutes, eventsRoutes } from '../markets/events.route.ts';
import { agentMarketsRoute, marketRoutes, marketsRoutes } from '../markets/markets.route.ts';
import { seriesRoutes, tagRoutes } from '../markets/tags.route.ts';
import { orderScoringRoute, ordersScoringRoute } from '../orders/order-scoring.route.ts';
import {
  dataOrderRoute,
  dataOrdersRoute,
  lookUpOrdersRoute,
  preMigrationOrdersRoute,
} from '../orders/orders.route.ts';
import { dataTradesRoute } from '../orders/trades.route.ts';
import { balanceAllowanceRoutes, balancesRoute } from '../positions/balances.route.ts';
import {
  closedPositionsRoute,
  holdersRoute,
  marketPositionsRoute,
  positionsRoute,
  walletFigureRoutes,
} from '../positions/positions.route.ts';
import { builderRoutes } from '../reports/builders.route.ts';
import { leaderboardRoute } from '../reports/leaderboard.route.ts';
import { marketFigureRoutes } from '../reports/open-interest.route.ts';
import { rewardRoutes } from '../reports/rewards.route.ts';
import { ledgerRoutes, liveActivityRoutes } from '../reports/trades.route.ts';
import { publicSearchRoute } from '../search/public-search.route.ts';
import {
  commentCountRoute,
  commentRoute,
  commentsByUserRoute,
  commentsKeysetRoute,
  commentsRoute,
} from '../social/comments.route.ts';
import { creatorRoutes } from '../social/creators.route.ts';
import { notificationsRoute } from '../social/notifications.route.ts';
import { profileByAddressRoute, publicProfileRoute } from '../social/profiles.route.ts';
import { rateLimitsRoute, statusRoute } from '../status/status.route.ts';
import { tellCompleteness } from './complete-through.io.ts';
import type { ReadPorts } from './ports.ts';

/** Adds all routes of the read door to the app. Throws a `Fault` when they are not those of the table of routes. */
export function addReadDoor(app: HttpApp, ports: ReadPorts): void {
  tellCompleteness(app, ports);
  registerRoutes(app, 'query-api', [
    bookRoute(ports),
    booksRoute(ports),
    priceRoute(ports),
    ...pricesRoutes(ports),
    midpointRoute(ports),
    ...midpointsRoutes(ports),
    spreadRoute(ports),
    ...spreadsRoutes(ports),
    lastTradePriceRoute(ports),
    ...lastTradesPricesRoutes(ports),
    pricesHistoryRoute(ports),
    batchPricesHistoryRoute(ports),
    candlesRoute(ports),
    ...tickSizeRoutes(ports),
    ...negRiskRoutes(ports),
    ...feeRateRoutes(ports),
    positionsRoute(ports),
    holdersRoute(ports),
    closedPositionsRoute(ports),
    ...walletFigureRoutes(ports),
    ...ledgerRoutes(ports),
    ...marketFigureRoutes(ports),
    leaderboardRoute(ports),
    marketPositionsRoute(ports),
    ...builderRoutes(ports),
    ...rewardRoutes(ports),
    dataOrderRoute(ports),
    dataTradesRoute(ports),
    dataOrdersRoute(ports),
    lookUpOrdersRoute(ports),
    preMigrationOrdersRoute(ports),
    orderScoringRoute(ports),
    ordersScoringRoute(ports),
    ...balanceAllowanceRoutes(ports),
    balancesRoute(ports),
    notificationsRoute(ports),
    commentsRoute(ports),
    commentsKeysetRoute(ports),
    commentRoute(ports),
    commentsByUserRoute(ports),
    commentCountRoute(ports, 'events'),
    commentCountRoute(ports, 'series'),
    publicProfileRoute(ports),
    profileByAddressRoute(ports),
    rateLimitsRoute(ports),
    ...eventsRoutes(ports),
    ...eventRoutes(ports),
    ...creatorRoutes(ports),
    ...marketsRoutes(ports),
    ...marketRoutes(ports),
    ...clobListRoutes(ports),
    ...tagRoutes(ports),
    ...seriesRoutes(ports),
    publicSearchRoute(ports),
    agentMarketsRoute(ports),
    ...emptyListRoutes(),
    ...liveActivityRoutes(ports),
    statusRoute(ports),
  ]);
}
