import type { HttpRoute } from './route.ts';

/** Events, markets, tags and series (docs/conventions.md 1.10). */
export const catalogRoutes = [
  { method: 'GET', path: '/events', door: 'query-api', family: 'gamma' },
  { method: 'GET', path: '/events/:id', door: 'query-api', family: 'gamma' },
  { method: 'GET', path: '/markets/slug/:slug', door: 'query-api', family: 'gamma' },
] as const satisfies readonly HttpRoute[];
