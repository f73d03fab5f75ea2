import { type HttpApp, tableMethod } from '@pm/kit/http';
import { type HttpRoute, routes, urlsOf } from '@pm/schemas';
import type { StandingReads } from './ports.ts';
import { tellThrough } from './route.ts';

/** Answers out of the tables that no report route gives. Own orders and trades are as of the request instead. */
const furtherPaths: ReadonlySet<string> = new Set([
  '/prices-history',
  '/batch-prices-history',
  '/builder/trades',
  '/builder/volume',
  '/rebates/current',
  '/candles',
  '/markets/live-activity/:condition_id',
  '/live-activity/events/:condition_id',
]);

/**
 * Adds `X-Complete-Through` to the answers that are read from the tables: everything that happened up to this moment is in them
 * (docs/conventions.md 1.16). It is set before the tables are read, so it never says too much; a refusal does without
 * (`sendRefusal`), and a book of a past moment sets it itself. Call before adding routes.
 */
export function tellCompleteness(app: HttpApp, standing: StandingReads): void {
  const told = new Set(
    routes.filter(isFromTables).flatMap((route) => urlsOf(route).map(urlKey(route))),
  );
  app.addHook('onRoute', (route) => {
    if (!told.has(`${tableMethod(route)} ${route.url}`)) return;
    route.onRequest = [
      ...(route.onRequest === undefined ? [] : [route.onRequest].flat()),
      (_request, reply, done) => {
        tellThrough(reply, standing.completeThroughMs());
        done();
      },
    ];
  });
}

function isFromTables({ door, family, path }: HttpRoute): boolean {
  return door === 'query-api' && (family === 'data' || furtherPaths.has(path));
}

function urlKey({ method }: HttpRoute): (one: { readonly url: string }) => string {
  return ({ url }) => `${method} ${url}`;
}
