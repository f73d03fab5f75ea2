import type { HttpRoute } from './route.ts';

/** Reports for everybody (docs/conventions.md 1.9). */
export const reportsRoutes = [
  { method: 'GET', path: '/positions', door: 'query-api', family: 'data' },
  { method: 'GET', path: '/holders', door: 'query-api', family: 'data' },
] as const satisfies readonly HttpRoute[];
