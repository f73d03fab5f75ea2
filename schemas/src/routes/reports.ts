import type { HttpRoute } from './route.ts';

/** Reports for everybody (conventions.md 1.8 and 1.9). */
export const reportsRoutes = [
  { method: 'GET', path: '/positions', door: 'query-api', family: 'data' },
  { method: 'GET', path: '/closed-positions', door: 'query-api', family: 'data' },
  { method: 'GET', path: '/value', door: 'query-api', family: 'data' },
  { method: 'GET', path: '/traded', door: 'query-api', family: 'data' },
  { method: 'GET', path: '/activity', door: 'query-api', family: 'data' },
  { method: 'GET', path: '/trades', door: 'query-api', family: 'data' },
  { method: 'GET', path: '/oi', door: 'query-api', family: 'data' },
  { method: 'GET', path: '/live-volume', door: 'query-api', family: 'data' },
  { method: 'GET', path: '/holders', door: 'query-api', family: 'data' },
  { method: 'GET', path: '/v1/leaderboard', door: 'query-api', family: 'data' },
  { method: 'GET', path: '/v1/market-positions', door: 'query-api', family: 'data' },
  { method: 'GET', path: '/v1/builders/leaderboard', door: 'query-api', family: 'data' },
  { method: 'GET', path: '/v1/builders/volume', door: 'query-api', family: 'data' },
  { method: 'GET', path: '/builder/trades', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/builder/volume', door: 'query-api', family: 'clob' },
] as const satisfies readonly HttpRoute[];
