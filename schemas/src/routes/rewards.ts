import type { HttpRoute } from './route.ts';

/** Fees of builders, rewards of makers and rebates (conventions.md 1.8). */
export const rewardsRoutes = [
  { method: 'GET', path: '/fees/builder-fees/:code', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/rewards/markets/current', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/rewards/markets/multi', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/rewards/markets/:condition_id', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/rewards/user', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/rewards/user/total', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/rewards/user/percentages', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/rewards/user/markets', door: 'query-api', family: 'clob' },
  { method: 'GET', path: '/rebates/current', door: 'query-api', family: 'clob' },
] as const satisfies readonly HttpRoute[];
