import type { HttpRoute } from './route.ts';

/** Market lists of the order book family (conventions.md 1.5). */
export const marketsRoutes = [
  { method: 'GET', path: '/sampling-markets', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/sampling-simplified-markets', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/simplified-markets', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/markets-by-token/:token_id', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/clob-markets/:condition_id', door: 'query-api', family: 'clob' },
  {
    method: 'GET',
    path: '/markets/live-activity/:condition_id',
    door: 'query-api',
    family: 'clob',
  },
  { method: 'GET', path: '/live-activity/events/:condition_id', door: 'query-api', family: 'clob' },
] as const satisfies readonly HttpRoute[];
