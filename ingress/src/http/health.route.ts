import type { AcceptedDomains } from '@pm/domain/accounts/signing-domain';
import type { Clock } from '@pm/kit/clock';
import type { HttpHandler } from '@pm/kit/http';
import { orderVersion } from '@pm/schemas/signing';

/** GET /, /ok, /time, /version and /signing-domain. */
export function healthRoutes({
  clock,
  domains,
}: {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly domains: AcceptedDomains;
}): readonly HttpHandler[] {
  return [rootRoute, okRoute, timeRoute(clock), versionRoute, signingDomainRoute(domains)];
}

/** Browsers name this type, programs that check the health do not. */
const pageType = 'text/html';

/**
 * GET /: `OK` as text, unless a client asks for JSON and nothing else; JSON of the data family (conventions.md 1.6). A
 * browser at the root is sent to the console.
 */
const rootRoute: HttpHandler = {
  method: 'GET',
  path: '/',
  add(app, { url, mount }) {
    app.get(url, async (request, reply) => {
      const { accept = '' } = request.headers;
      if (mount === null) void reply.header('vary', 'accept');
      if (mount === null && accept.includes(pageType)) return await reply.redirect('/console/');
      if (mount === 'data' || accept === 'application/json') return { data: 'OK' };
      return await reply.type('text/plain; charset=utf-8').send('OK');
    });
  },
};

/** GET /ok: the JSON text `"OK"` (conventions.md 1.6). */
const okRoute: HttpHandler = {
  method: 'GET',
  path: '/ok',
  add(app, { url }) {
    app.get(url, async (_request, reply) => {
      return await reply.type('application/json; charset=utf-8').send('"OK"');
    });
  },
};

/** GET /time: Unix seconds as a bare number (conventions.md 1.6). */
function timeRoute(clock: Pick<Clock, 'nowMs'>): HttpHandler {
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
const versionRoute: HttpHandler = {
  method: 'GET',
  path: '/version',
  add(app, { url }) {
    app.get(url, async () => ({ version: orderVersion }));
  },
};

/** GET /signing-domain: what orders and wallet proofs are signed for (conventions.md 3.2). */
function signingDomainRoute({ own, family }: AcceptedDomains): HttpHandler {
  return {
    method: 'GET',
    path: '/signing-domain',
    add(app, { url }) {
      app.get(url, async () => ({ ...own, familyDomains: family }));
    },
  };
}
