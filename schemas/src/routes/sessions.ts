import type { HttpRoute } from './route.ts';

/** Heartbeats (conventions.md 1.7 and part 5). */
export const sessionsRoutes = [
  { method: 'POST', path: '/v1/heartbeats', door: 'ingress', family: 'clob' },
  { method: 'POST', path: '/heartbeats', door: 'ingress', family: 'clob' },
] as const satisfies readonly HttpRoute[];
