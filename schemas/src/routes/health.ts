import type { HttpRoute } from './route.ts';

/** Health, time and version. */
export const healthRoutes = [
  { method: 'GET', path: '/', door: 'ingress', family: 'clob', mounts: ['clob', 'data'] },
  { method: 'GET', path: '/ok', door: 'ingress', family: 'clob' },
  { method: 'GET', path: '/time', door: 'ingress', family: 'clob' },
  { method: 'GET', path: '/version', door: 'ingress', family: 'clob' },
  {
    method: 'GET',
    path: '/status',
    door: 'query-api',
    family: 'gamma',
    mounts: ['clob', 'gamma', 'data'],
  },
] as const satisfies readonly HttpRoute[];
