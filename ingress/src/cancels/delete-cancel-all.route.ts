import type { DoorRoute } from '@pm/kit/http';
import type { DoorPorts } from '../door/ports.io.ts';
import { singleBodyMaxBytes } from '../door/request-checks.io.ts';
import { cancelAll } from './cancel-orders.io.ts';
import { cancelRoute } from './cancels.route.ts';

/**
 * DELETE /cancel-all: every order of the caller in every market. Orders of his that arrived before it and are still on
 * their way are refused as `fenced`; those that arrive later are not touched. A body is ignored (conventions.md 1.6).
 */
export function cancelAllRoute(ports: DoorPorts): DoorRoute {
  return cancelRoute(ports, {
    path: '/cancel-all',
    bodyLimit: singleBodyMaxBytes,
    read: () => (canceler) => cancelAll(canceler, ports),
  });
}
