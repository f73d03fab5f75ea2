import { descriptionRoutes, type HttpApp, registerRoutes } from '@pm/kit/http';
import { balanceAllowanceRoutes } from './balance-allowance.ts';
import { tellCompleteness } from './complete-through.ts';
import { agentMarketsRoute } from './get-agent-markets.ts';
import { balancesRoute } from './get-balances.ts';
import { bookRoute } from './get-book.ts';
import { builderRoutes } from './get-builder-trades.ts';
import { candlesRoute } from './get-candles.ts';
import { clobListRoutes } from './get-clob-lists.ts';
import { closedPositionsRoute } from './get-closed-positions.ts';
import { creatorRoutes } from './get-creators.ts';
import { dataOrderRoute } from './get-data-order.ts';
import { dataOrdersRoute } from './get-data-orders.ts';
import { dataTradesRoute } from './get-data-trades.ts';
import { emptyListRoutes } from './get-empty-lists.ts';
import { eventRoutes } from './get-event.ts';
import { eventsRoutes } from './get-events.ts';
import { feeRateRoutes } from './get-fee-rate.ts';
import { holdersRoute } from './get-holders.ts';
import { lastTradePriceRoute } from './get-last-trade-price.ts';
import { leaderboardRoute } from './get-leaderboard.ts';
import { liveActivityRoutes } from './get-live-activity.ts';
import { marketRoutes } from './get-market.ts';
import { marketPositionsRoute } from './get-market-positions.ts';
import { marketsRoutes } from './get-markets.ts';
import { midpointRoute } from './get-midpoint.ts';
import { negRiskRoutes } from './get-neg-risk.ts';
import { notificationsRoute } from './get-notifications.ts';
import { marketFigureRoutes } from './get-open-interest.ts';
import { positionsRoute } from './get-positions.ts';
import { preMigrationOrdersRoute } from './get-pre-migration-orders.ts';
import { priceRoute } from './get-price.ts';
import { pricesHistoryRoute } from './get-prices-history.ts';
import { publicSearchRoute } from './get-public-search.ts';
import { rateLimitsRoute } from './get-rate-limits.ts';
import { rewardRoutes } from './get-rewards.ts';
import { seriesRoutes } from './get-series.ts';
import { spreadRoute } from './get-spread.ts';
import { statusRoute } from './get-status.ts';
import { tagRoutes } from './get-tags.ts';
import { tickSizeRoutes } from './get-tick-size.ts';
import { ledgerRoutes } from './get-trades.ts';
import { walletFigureRoutes } from './get-value.ts';
import { lastTradesPricesRoutes } from './last-trades-prices.ts';
import { midpointsRoutes } from './midpoints.ts';
import { orderScoringRoute, ordersScoringRoute } from './order-scoring.ts';
import type { ReadPorts } from './ports.ts';
import { batchPricesHistoryRoute } from './post-batch-prices-history.ts';
import { booksRoute } from './post-books.ts';
import { lookUpOrdersRoute } from './post-data-orders.ts';
import { pricesRoutes } from './prices.ts';
import { commentRoute, commentsKeysetRoute, commentsRoute } from './social/get-comments.ts';
import { commentCountRoute, commentsByUserRoute } from './social/get-comments-by-user.ts';
import { profileByAddressRoute, publicProfileRoute } from './social/get-profile.ts';
import { spreadsRoutes } from './spreads.ts';

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
    ...descriptionRoutes(),
  ]);
}
