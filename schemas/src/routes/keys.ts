import type { HttpRoute } from './route.ts';

/** API keys of every kind and what a wallet may do (docs/conventions.md 1.2 and 2). */
export const keysRoutes = [
  { method: 'POST', path: '/auth/api-key', door: 'ingress', family: 'clob' },
  { method: 'GET', path: '/auth/derive-api-key', door: 'ingress', family: 'clob' },
] as const satisfies readonly HttpRoute[];
