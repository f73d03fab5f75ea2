import { accountRoutes } from './account.ts';
import { agentsRoutes } from './agents.ts';
import { balancesRoutes } from './balances.ts';
import { booksRoutes } from './books.ts';
import { catalogRoutes } from './catalog.ts';
import { commentRoutes } from './comments.ts';
import { healthRoutes } from './health.ts';
import { keysRoutes } from './keys.ts';
import { limitsRoutes } from './limits.ts';
import { marketsRoutes } from './markets.ts';
import { ordersRoutes } from './orders.ts';
import { reportsRoutes } from './reports.ts';
import { rewardsRoutes } from './rewards.ts';
import type { HttpRoute } from './route.ts';
import { sessionsRoutes } from './sessions.ts';
import { tradingRoutes } from './trading.ts';

export * from './route.ts';

/** All public routes, in the files of their subjects. */
export const routes: readonly HttpRoute[] = [
  ...healthRoutes,
  ...keysRoutes,
  ...agentsRoutes,
  ...tradingRoutes,
  ...accountRoutes,
  ...ordersRoutes,
  ...balancesRoutes,
  ...sessionsRoutes,
  ...booksRoutes,
  ...marketsRoutes,
  ...reportsRoutes,
  ...rewardsRoutes,
  ...catalogRoutes,
  ...commentRoutes,
  ...limitsRoutes,
];
