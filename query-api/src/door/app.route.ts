import { type HttpApp, registerRoutes } from '@pm/kit/http';
import { bookRoute } from '../books/book.route.ts';
import { booksRoute } from '../books/books.route.ts';
import { feeRateRoutes } from '../books/fee-rate.route.ts';
import { lastTradePriceRoute } from '../books/last-trade-price.route.ts';
import { lastTradesPricesRoutes } from '../books/last-trades-prices.route.ts';
import { midpointRoute } from '../books/midpoint.route.ts';
import { midpointsRoutes } from '../books/midpoints.route.ts';
import { negRiskRoutes } from '../books/neg-risk.route.ts';
import { priceRoute } from '../books/price.route.ts';
import { pricesRoutes } from '../books/prices.route.ts';
import { spreadRoute } from '../books/spread.route.ts';
import { spreadsRoutes } from '../books/spreads.route.ts';
import { tickSizeRoutes } from '../books/tick-size.route.ts';
import { batchPricesHistoryRoute } from '../history/batch-prices-history.route.ts';
import { candlesRoute } from '../history/candles.route.ts';
import { pricesHistoryRoute } from '../history/prices-history.route.ts';
import { agentMarketsRoute } from '../markets/agent-markets.route.ts';
import { clobListRoutes } from '../markets/clob-markets.route.ts';
import { emptyListRoutes } from '../markets/empty-lists.route.ts';
import { eventRoutes } from '../markets/event.route.ts';
import { eventsRoutes } from '../markets/events.route.ts';
import { marketRoutes } from '../markets/market.route.ts';
import { marketsRoutes } from '../markets/markets.route.ts';
import { seriesRoutes } from '../markets/series.route.ts';
import { tagRoutes } from '../markets/tags.route.ts';
import { lookUpOrdersRoute } from '../orders/look-up-orders.route.ts';
import { dataOrderRoute } from '../orders/order.route.ts';
import { orderScoringRoute, ordersScoringRoute } from '../orders/order-scoring.route.ts';
import { dataOrdersRoute } from '../orders/orders.route.ts';
import { preMigrationOrdersRoute } from '../orders/pre-migration-orders.route.ts';
import { dataTradesRoute } from '../orders/trades.route.ts';
import { balanceAllowanceRoutes } from '../positions/balance-allowance.route.ts';
import { balancesRoute } from '../positions/balances.route.ts';
import { closedPositionsRoute } from '../positions/closed-positions.route.ts';
import { holdersRoute } from '../positions/holders.route.ts';
import { marketPositionsRoute } from '../positions/market-positions.route.ts';
import { positionsRoute } from '../positions/positions.route.ts';
import { walletFigureRoutes } from '../positions/value.route.ts';
import { builderRoutes } from '../reports/builders.route.ts';
import { leaderboardRoute } from '../reports/leaderboard.route.ts';
import { liveActivityRoutes } from '../reports/live-activity.route.ts';
import { marketFigureRoutes } from '../reports/open-interest.route.ts';
import { rewardRoutes } from '../reports/rewards.route.ts';
import { ledgerRoutes } from '../reports/trades.route.ts';
import { publicSearchRoute } from '../search/public-search.route.ts';
import { commentRoute, commentsKeysetRoute, commentsRoute } from '../social/comments.route.ts';
import { commentCountRoute, commentsByUserRoute } from '../social/comments-by-user.route.ts';
import { creatorRoutes } from '../social/creators.route.ts';
import { notificationsRoute } from '../social/notifications.route.ts';
import { profileByAddressRoute, publicProfileRoute } from '../social/profiles.route.ts';
import { rateLimitsRoute } from '../status/rate-limits.route.ts';
import { statusRoute } from '../status/status.route.ts';
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
