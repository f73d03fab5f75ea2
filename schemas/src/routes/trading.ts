import type { HttpRoute } from './route.ts';

/** Orders and cancels (conventions.md 1.6). */
export const tradingRoutes = [
  { method: 'POST', path: '/order', door: 'ingress', family: 'clob' },
  { method: 'POST', path: '/orders', door: 'ingress', family: 'clob' },
  { method: 'POST', path: '/orders/validate', door: 'ingress', family: 'clob' },
  { method: 'DELETE', path: '/order', door: 'ingress', family: 'clob' },
  { method: 'DELETE', path: '/orders', door: 'ingress', family: 'clob' },
  { method: 'DELETE', path: '/cancel-all', door: 'ingress', family: 'clob' },
  { method: 'DELETE', path: '/cancel-market-orders', door: 'ingress', family: 'clob' },
] as const satisfies readonly HttpRoute[];
