import type { KeyReadings } from '@pm/domain/accounts/key-readings.io';
import { awaitNewKeys, type NewKeys } from '@pm/domain/accounts/new-keys.io';
import type { AcceptedDomains } from '@pm/domain/accounts/signing-domain';
import { markArrivals } from '@pm/domain/requests/requests.io';
import type { Clock } from '@pm/kit/clock';
import { type HttpApp, registerRoutes } from '@pm/kit/http';
import type { AccountServices, MoneyServices } from '../accounts/account-services.io.ts';
import { agentRoutes } from '../accounts/agents.route.ts';
import { keyRoutes } from '../accounts/keys.route.ts';
import { moneyRoutes } from '../accounts/money.route.ts';
import { deleteNotificationsRoute } from '../accounts/notifications.route.ts';
import { awaitRevocations } from '../accounts/revocations.io.ts';
import { type CancelRouteServices, cancelRoutes } from '../cancels/cancels.route.ts';
import { type OrderServices, orderRoutes } from '../orders/orders.route.ts';
import { heartbeatRoutes, type SessionServices } from '../sessions/heartbeats.route.ts';
import { socialRoutes } from '../social/social.route.ts';
import type { SocialServices } from '../social/social-services.io.ts';
import { refuseUncoveredQueries } from './covered-queries.io.ts';
import { healthRoutes } from './health.route.ts';
import { nameAnswers } from './name-answers.io.ts';
import { findRepetitions, type RepetitionServices } from './replayed-requests.io.ts';

/** Dependencies of the public routes, by domain. */
export interface PublicServices {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Domains for which orders and wallet proofs are signed. */
  readonly domains: AcceptedDomains;
  readonly accounts: AccountServices;
  readonly money: MoneyServices;
  readonly orders: OrderServices;
  readonly cancels: CancelRouteServices;
  readonly sessions: SessionServices;
  readonly social: SocialServices;
  readonly repetitions: RepetitionServices;
  readonly newKeys: NewKeys;
  readonly keyReadings: Pick<KeyReadings, 'behind'>;
}

/** Adds all public routes of ingress. `trustedProxies`: addresses and networks of its gateways. */
export function addPublicRoutes(
  app: HttpApp,
  services: PublicServices,
  trustedProxies: readonly string[] = [],
): void {
  markArrivals(app, services.clock, trustedProxies);
  nameAnswers(app, services.orders.readOffsets);
  awaitNewKeys(app, services.newKeys);
  findRepetitions(app, services.repetitions);
  // Before a repetition is looked for: what is refused here is refused so each time.
  refuseUncoveredQueries(app, services.repetitions);
  awaitRevocations(app, services.keyReadings);
  registerRoutes(app, 'ingress', [
    ...healthRoutes(services),
    ...keyRoutes(services.accounts),
    ...agentRoutes(services.accounts),
    deleteNotificationsRoute(services.accounts),
    ...moneyRoutes(services.money),
    ...orderRoutes(services.orders),
    ...cancelRoutes(services.cancels),
    ...heartbeatRoutes(services.sessions),
    ...socialRoutes(services.social),
  ]);
}
