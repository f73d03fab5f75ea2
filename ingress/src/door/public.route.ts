import { type HttpApp, openToBrowsers, registerRoutes } from '@pm/kit/http';
import {
  CancelMarketBody,
  CancelOrderBody,
  HeartbeatBody,
  OrderSubmission,
  PositionActionBody,
  WithdrawalBody,
} from '@pm/schemas';
import { agentRoutes } from '../accounts/agents.route.ts';
import { keyRoutes } from '../accounts/keys.route.ts';
import { deleteNotificationsRoute } from '../accounts/notifications.route.ts';
import { positionActionRoute } from '../accounts/post-account-position.route.ts';
import { withdrawalRoute } from '../accounts/post-account-withdrawals.route.ts';
import {
  cancelAllRoute,
  cancelMarketOrdersRoute,
  deleteOrderRoute,
  deleteOrdersRoute,
} from '../cancels/cancels.route.ts';
import { postOrderRoute, postOrdersRoute, validateOrdersRoute } from '../orders/orders.route.ts';
import { Placements } from '../orders/placements.io.ts';
import { OrderRunner } from '../orders/submit.io.ts';
import { bareHeartbeatRoute, heartbeatRoute } from '../sessions/heartbeats.route.ts';
import { socialRoutes } from '../social/social.route.ts';
import { markArrivals } from './arrival.io.ts';
import { okRoute, rootRoute, timeRoute, versionRoute } from './health.route.ts';
import type { DoorPorts } from './ports.io.ts';
import { checkerOf } from './request-checks.io.ts';

/** Adds all public routes of the write door. */
export function addDoorRoutes(app: HttpApp, ports: DoorPorts): void {
  openToBrowsers(app);
  markArrivals(app, ports.clock);
  const runner = new OrderRunner(ports);
  const placements = new Placements(ports, runner, checkerOf(OrderSubmission));
  const isPositionAction = checkerOf(PositionActionBody);
  registerRoutes(app, 'ingress', [
    rootRoute,
    okRoute,
    timeRoute(ports),
    versionRoute,
    ...keyRoutes(ports),
    ...agentRoutes(ports),
    postOrderRoute(ports, placements),
    postOrdersRoute(ports, placements),
    validateOrdersRoute(ports, checkerOf(OrderSubmission)),
    deleteOrderRoute(ports, checkerOf(CancelOrderBody)),
    deleteOrdersRoute(ports),
    cancelAllRoute(ports),
    deleteNotificationsRoute(ports),
    cancelMarketOrdersRoute(ports, checkerOf(CancelMarketBody)),
    positionActionRoute(ports, 'split', isPositionAction),
    positionActionRoute(ports, 'merge', isPositionAction),
    positionActionRoute(ports, 'redeem', isPositionAction),
    withdrawalRoute(ports, checkerOf(WithdrawalBody)),
    heartbeatRoute(ports, checkerOf(HeartbeatBody)),
    bareHeartbeatRoute(ports),
    ...socialRoutes({ ...ports, ...ports.social }),
  ]);
}
