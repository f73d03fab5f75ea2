import type { HttpRoute } from './route.ts';

/** API keys of every kind and what a wallet may do (conventions.md 1.2 and 2). */
export const keysRoutes = [
  { method: 'POST', path: '/auth/api-key', door: 'ingress', family: 'clob' },
  { method: 'GET', path: '/auth/derive-api-key', door: 'ingress', family: 'clob' },
  { method: 'GET', path: '/auth/api-keys', door: 'ingress', family: 'clob' },
  { method: 'DELETE', path: '/auth/api-key', door: 'ingress', family: 'clob' },
  { method: 'GET', path: '/auth/api-key/settings', door: 'ingress', family: 'clob' },
  { method: 'POST', path: '/auth/api-key/settings', door: 'ingress', family: 'clob' },
  { method: 'POST', path: '/auth/readonly-api-key', door: 'ingress', family: 'clob' },
  { method: 'GET', path: '/auth/readonly-api-keys', door: 'ingress', family: 'clob' },
  { method: 'DELETE', path: '/auth/readonly-api-key', door: 'ingress', family: 'clob' },
  { method: 'GET', path: '/auth/validate-readonly-api-key', door: 'ingress', family: 'clob' },
  { method: 'POST', path: '/auth/builder-api-key', door: 'ingress', family: 'clob' },
  { method: 'GET', path: '/auth/builder-api-key', door: 'ingress', family: 'clob' },
  { method: 'DELETE', path: '/auth/builder-api-key', door: 'ingress', family: 'clob' },
  { method: 'GET', path: '/auth/ban-status/closed-only', door: 'ingress', family: 'clob' },
] as const satisfies readonly HttpRoute[];
