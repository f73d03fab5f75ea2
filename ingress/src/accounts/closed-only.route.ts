import type { DoorRoute } from '@pm/kit/http';
import { type AuthPorts, authenticateReader } from '../door/authentication.io.ts';

/** GET /auth/ban-status/closed-only: whether the wallet may only sell, in both spellings (conventions.md 1.2). */
export function closedOnlyRoute(ports: AuthPorts): DoorRoute {
  return {
    method: 'GET',
    path: '/auth/ban-status/closed-only',
    add(app, { url }) {
      app.get(url, async (request, reply) => {
        const reader = authenticateReader(request, reply, ports);
        if (reader === null) return reply;
        const closedOnly = ports.walletStatus.of(reader.wallet) !== 'NORMAL';
        return { closedOnly, closed_only: closedOnly };
      });
    },
  };
}
