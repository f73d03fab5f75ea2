import type { DoorRoute } from '@pm/kit/http';
import { cancelRoute } from './cancel-route.ts';
import { cancelAll } from './cancel-runner.ts';
import type { DoorPorts } from './ports.ts';
import { singleBodyMaxBytes } from './route.ts';

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
