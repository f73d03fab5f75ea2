import type { HttpApp } from '@pm/kit/http';
import type { RouteDeclaration } from '@pm/schemas/routes/route';
import type { FiguresWatch } from '../markets/figures.io.ts';
import type { ProgressWatch } from '../status/progress.io.ts';
import { onRequestOf } from './on-declared.io.ts';
import { setCompleteThrough } from './read-route.io.ts';

export interface CompletenessParts {
  readonly figures: Pick<FiguresWatch, 'readAtMs'>;
  readonly progress: Pick<ProgressWatch, 'completeThroughAtMs' | 'completeThroughMs'>;
}

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

/** Answers that show volume and liquidity of markets, or are sorted by them. */
const figurePaths: ReadonlySet<string> = new Set([
  ...['/events', '/events/keyset', '/events/pagination', '/events/:id', '/events/slug/:slug'],
  ...['/markets', '/markets/keyset', '/markets/:id', '/markets/slug/:slug', '/api/v1/markets'],
  '/public-search',
  ...['/rewards/markets/multi', '/rewards/markets/:condition_id'],
]);

/**
 * Adds `X-Complete-Through` to the answers that are read from the tables: everything that happened before this moment
 * is in them (conventions.md 1.5), of the catalog in its figures. It is set before anything is read, so it never says
 * too much; a refusal does without (`sendRefusal`), and a book of a past moment sets it itself. Call before adding
 * routes.
 */
export function addCompleteness(app: HttpApp, { progress, figures }: CompletenessParts): void {
  addHeaderOn(app, isFromTables, () => progress.completeThroughMs());
  addHeaderOn(app, showsFigures, () => {
    const readAtMs = figures.readAtMs();
    return readAtMs === null ? null : progress.completeThroughAtMs(readAtMs);
  });
}

function addHeaderOn(
  app: HttpApp,
  isMeant: (route: RouteDeclaration) => boolean,
  throughMs: () => number | null,
): void {
  onRequestOf(app, isMeant, (_request, reply, done) => {
    setCompleteThrough(reply, throughMs());
    done();
  });
}

function isFromTables({ service, family, path }: RouteDeclaration): boolean {
  return service === 'query-api' && (family === 'data' || furtherPaths.has(path));
}

function showsFigures({ service, path }: RouteDeclaration): boolean {
  return service === 'query-api' && figurePaths.has(path);
}
