import type { HttpRoute } from './route.ts';

/** Orders and trades of the caller, read back (docs/conventions.md 1.6). */
export const ordersRoutes = [
  { method: 'GET', path: '/data/order/:id', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/data/trades', door: 'query-api', family: 'clob' },
] as const satisfies readonly HttpRoute[];
