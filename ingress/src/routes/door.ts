import { type HttpApp, openToBrowsers, registerRoutes } from '@pm/kit/http';
import {
  CancelMarketBody,
  CancelOrderBody,
  HeartbeatBody,
  OrderSubmission,
  PositionActionBody,
  WithdrawalBody,
} from '@pm/schemas';
import { agentRoutes } from './agents/agent-routes.ts';
import { markArrivals } from './arrival.ts';
import { checkerOf } from './checker.ts';
import { socialRoutes } from './comments/social-routes.ts';
import { cancelAllRoute } from './delete-cancel-all.ts';
import { cancelMarketOrdersRoute } from './delete-cancel-market-orders.ts';
import { deleteNotificationsRoute } from './delete-notifications.ts';
import { deleteOrderRoute } from './delete-order.ts';
import { deleteOrdersRoute } from './delete-orders.ts';
import { keyRoutes } from './keys/key-routes.ts';
import { okRoute } from './ok.ts';
import { OrderRunner } from './order-runner.ts';
import { Placements } from './place-orders.ts';
import type { DoorPorts } from './ports.ts';
import { positionActionRoute } from './post-account-position.ts';
import { withdrawalRoute } from './post-account-withdrawals.ts';
import { bareHeartbeatRoute, heartbeatRoute } from './post-heartbeats.ts';
import { postOrderRoute } from './post-order.ts';
import { postOrdersRoute } from './post-orders.ts';
import { validateOrdersRoute } from './post-orders-validate.ts';
import { rootRoute } from './root.ts';
import { timeRoute } from './time.ts';
import { versionRoute } from './version.ts';

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
