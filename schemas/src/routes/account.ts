import type { HttpRoute } from './route.ts';

/** What a wallet does with its tokens and money besides trading (conventions.md 1.14). */
export const accountRoutes = [
  { method: 'POST', path: '/account/split', door: 'ingress', family: 'clob' },
  { method: 'POST', path: '/account/merge', door: 'ingress', family: 'clob' },
  { method: 'POST', path: '/account/redeem', door: 'ingress', family: 'clob' },
  { method: 'POST', path: '/account/withdrawals', door: 'ingress', family: 'clob' },
] as const satisfies readonly HttpRoute[];
