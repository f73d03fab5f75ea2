import type { HttpRoute } from './route.ts';

/** What a caller owns and is told (conventions.md 1.7). */
export const balancesRoutes = [
  { method: 'GET', path: '/balance-allowance', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/balance-allowance/update', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/notifications', door: 'query-api', family: 'clob' },
  { method: 'DELETE', path: '/notifications', door: 'ingress', family: 'clob' },
  { method: 'GET', path: '/balances', door: 'query-api', family: 'clob' },
] as const satisfies readonly HttpRoute[];
