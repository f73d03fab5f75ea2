import type { HttpRoute } from './route.ts';

/** Orders and trades of the caller, read back (conventions.md 1.6). */
export const ordersRoutes = [
  { method: 'GET', path: '/data/order/:id', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/data/orders', door: 'query-api', family: 'clob' },
  { method: 'POST', path: '/data/orders', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/data/pre-migration-orders', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/order-scoring', door: 'query-api', family: 'clob' },
  { method: 'POST', path: '/orders-scoring', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/data/trades', door: 'query-api', family: 'clob' },
] as const satisfies readonly HttpRoute[];
