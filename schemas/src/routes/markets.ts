import type { HttpRoute } from './route.ts';

/** Market lists of the order book family (docs/conventions.md 1.5). */
export const marketsRoutes = [
  { method: 'GET', path: '/sampling-markets', door: 'query-api', family: 'clob' },
] as const satisfies readonly HttpRoute[];
