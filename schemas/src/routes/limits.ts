import type { HttpRoute } from './route.ts';

/** What the caller may still ask (limits.md). */
export const limitsRoutes = [
  { method: 'GET', path: '/rate-limits', door: 'query-api', family: 'clob' },
] as const satisfies readonly HttpRoute[];
