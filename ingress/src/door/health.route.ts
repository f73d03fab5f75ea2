import type { Clock } from '@pm/kit/clock';
import type { DoorRoute } from '@pm/kit/http';
import { orderVersion } from '@pm/schemas';

/** GET /, /ok, /time and /version. */
export function healthRoutes(clock: Pick<Clock, 'nowMs'>): readonly DoorRoute[] {
  return [rootRoute, okRoute, timeRoute(clock), versionRoute];
}

/**
 * GET /: `OK` as text, unless a client asks for JSON and nothing else; JSON of the data family (conventions.md 1.6).
 */
const rootRoute: DoorRoute = {
  method: 'GET',
  path: '/',
  add(app, { url, mount }) {
    app.get(url, async (request, reply) => {
      if (mount === 'data' || request.headers.accept === 'application/json') return { data: 'OK' };
      return await reply.type('text/plain; charset=utf-8').send('OK');
    });
  },
};

/** GET /ok: the JSON text `"OK"` (conventions.md 1.6). */
const okRoute: DoorRoute = {
  method: 'GET',
  path: '/ok',
  add(app, { url }) {
    app.get(url, async (_request, reply) => {
      return await reply.type('application/json; charset=utf-8').send('"OK"');
    });
  },
};

/** GET /time: Unix seconds as a bare number (conventions.md 1.6). */
function timeRoute(clock: Pick<Clock, 'nowMs'>): DoorRoute {
  return {
    method: 'GET',
    path: '/time',
    add(app, { url }) {
      app.get(url, async (_request, reply) => {
        const seconds = String(Math.floor(clock.nowMs() / 1000));
        return await reply.type('application/json; charset=utf-8').send(seconds);
      });
    },
  };
}

/** GET /version: the version of the order struct, which clients read before they sign (conventions.md 1.6). */
const versionRoute: DoorRoute = {
  method: 'GET',
  path: '/version',
  add(app, { url }) {
    app.get(url, async () => ({ version: orderVersion }));
  },
};
