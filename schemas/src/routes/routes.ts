import { accountRoutes } from './account.ts';
import { agentRoutes } from './agents.ts';
import { balanceRoutes } from './balances.ts';
import { bookRoutes } from './books.ts';
import { builderFeeRoutes, builderRoutes } from './builders.ts';
import { agentMarketRoutes, catalogMarketRoutes } from './catalog-markets.ts';
import { commentRoutes } from './comments.ts';
import { consoleRoutes } from './console.ts';
import { eventRoutes } from './events.ts';
import { descriptionRoutes, healthRoutes } from './health.ts';
import { historyRoutes } from './history.ts';
import { keyRoutes } from './keys.ts';
import { marketRoutes } from './markets.ts';
import { operatorApprovalRoutes } from './operator-approvals.ts';
import { operatorCatalogRoutes } from './operator-catalog.ts';
import { operatorWalletRoutes } from './operator-wallets.ts';
import { orderRoutes } from './orders.ts';
import { limitRoutes } from './rate-limits.ts';
import { reportRoutes } from './reports.ts';
import { rewardRoutes } from './rewards.ts';
import type {
  OperatorRouteDeclaration,
  RouteBody,
  RouteDeclaration,
  RouteResponse,
} from './route.ts';
import { sessionRoutes } from './sessions.ts';
import { streamRoutes } from './streams.ts';
import { emptyListRoutes, searchRoutes, seriesRoutes, tagRoutes } from './tags.ts';
import { tokenRuleRoutes } from './token-rules.ts';
import { tradingRoutes } from './trading.ts';

/** The type of `publicRoutes`: intersections keep declaration files small. */
type PublicRoutes = typeof healthRoutes &
  typeof keyRoutes &
  typeof agentRoutes &
  typeof tradingRoutes &
  typeof accountRoutes &
  typeof balanceRoutes &
  typeof sessionRoutes &
  typeof bookRoutes &
  typeof historyRoutes &
  typeof tokenRuleRoutes &
  typeof marketRoutes &
  typeof reportRoutes &
  typeof builderRoutes &
  typeof orderRoutes &
  typeof builderFeeRoutes &
  typeof rewardRoutes &
  typeof eventRoutes &
  typeof catalogMarketRoutes &
  typeof tagRoutes &
  typeof seriesRoutes &
  typeof searchRoutes &
  typeof agentMarketRoutes &
  typeof emptyListRoutes &
  typeof commentRoutes &
  typeof limitRoutes &
  typeof descriptionRoutes &
  typeof streamRoutes &
  typeof consoleRoutes;

/** The body of a good response of a public route by its name. */
export type ResponseOf<Name extends keyof PublicRoutes> = RouteResponse<PublicRoutes[Name]>;

/** Every public route by its name: types of its bodies follow (`ResponseOf<'getBook'>`). */
export const publicRoutes: PublicRoutes = {
  ...healthRoutes,
  ...keyRoutes,
  ...agentRoutes,
  ...tradingRoutes,
  ...accountRoutes,
  ...balanceRoutes,
  ...sessionRoutes,
  ...bookRoutes,
  ...historyRoutes,
  ...tokenRuleRoutes,
  ...marketRoutes,
  ...reportRoutes,
  ...builderRoutes,
  ...orderRoutes,
  ...builderFeeRoutes,
  ...rewardRoutes,
  ...eventRoutes,
  ...catalogMarketRoutes,
  ...tagRoutes,
  ...seriesRoutes,
  ...searchRoutes,
  ...agentMarketRoutes,
  ...emptyListRoutes,
  ...commentRoutes,
  ...limitRoutes,
  ...descriptionRoutes,
  ...streamRoutes,
  ...consoleRoutes,
};

/** Subjects of public routes, in the order of documents. */
export const routeSubjects: Readonly<Record<string, Readonly<Record<string, RouteDeclaration>>>> = {
  Service: { ...healthRoutes, ...limitRoutes, ...descriptionRoutes, ...consoleRoutes },
  Keys: keyRoutes,
  Agents: { ...agentRoutes, ...agentMarketRoutes },
  Trading: tradingRoutes,
  Orders: orderRoutes,
  Account: { ...accountRoutes, ...balanceRoutes },
  Sessions: sessionRoutes,
  Streams: streamRoutes,
  Books: { ...bookRoutes, ...tokenRuleRoutes },
  History: historyRoutes,
  Events: eventRoutes,
  Markets: { ...catalogMarketRoutes, ...marketRoutes },
  Tags: { ...tagRoutes, ...seriesRoutes, ...searchRoutes, ...emptyListRoutes },
  Reports: reportRoutes,
  Builders: { ...builderRoutes, ...builderFeeRoutes },
  Rewards: rewardRoutes,
  Comments: commentRoutes,
};

/** Routes of the operator's listener by name. */
export const operatorRoutes: typeof operatorApprovalRoutes &
  typeof operatorCatalogRoutes &
  typeof operatorWalletRoutes = {
  ...operatorApprovalRoutes,
  ...operatorCatalogRoutes,
  ...operatorWalletRoutes,
};

type OperatorRoutes = typeof operatorRoutes;

/** Actions of operators that a second person may have to approve, by the name of their route. */
export type GuardedAction = {
  [Name in keyof OperatorRoutes]: OperatorRoutes[Name]['secondPerson'] extends 'never'
    ? never
    : Name;
}[keyof OperatorRoutes];

/** The body that a route of the operator takes. */
export type OperatorBody<Name extends keyof OperatorRoutes> = RouteBody<OperatorRoutes[Name]>;

export const operatorSubjects: Readonly<
  Record<string, Readonly<Record<string, OperatorRouteDeclaration>>>
> = {
  'Two persons': operatorApprovalRoutes,
  Catalog: operatorCatalogRoutes,
  'Wallets and money': operatorWalletRoutes,
};

/** The table of public routes. */
export const routes: readonly RouteDeclaration[] = Object.values(publicRoutes);
