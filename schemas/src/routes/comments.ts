import type { HttpRoute } from './route.ts';

/** Comments and profiles (conventions.md 1.10 and 6.4). */
export const commentRoutes = [
  { method: 'POST', path: '/comments', door: 'ingress', family: 'gamma' },
  { method: 'DELETE', path: '/comments/:id', door: 'ingress', family: 'gamma' },
  { method: 'POST', path: '/comments/:id/reactions', door: 'ingress', family: 'gamma' },
  { method: 'DELETE', path: '/comments/:id/reactions', door: 'ingress', family: 'gamma' },
  { method: 'POST', path: '/comments/:id/reports', door: 'ingress', family: 'gamma' },
  { method: 'PUT', path: '/profile', door: 'ingress', family: 'gamma' },
  { method: 'GET', path: '/comments', door: 'query-api', family: 'gamma' },
  { method: 'GET', path: '/comments/keyset', door: 'query-api', family: 'gamma' },
  { method: 'GET', path: '/comments/:id', door: 'query-api', family: 'gamma' },
  {
    method: 'GET',
    path: '/comments/user_address/:user_address',
    door: 'query-api',
    family: 'gamma',
  },
  { method: 'GET', path: '/events/:id/comments/count', door: 'query-api', family: 'gamma' },
  { method: 'GET', path: '/series/:id/comments/count', door: 'query-api', family: 'gamma' },
  { method: 'GET', path: '/public-profile', door: 'query-api', family: 'gamma' },
  {
    method: 'GET',
    path: '/profiles/user_address/:user_address',
    door: 'query-api',
    family: 'gamma',
  },
] as const satisfies readonly HttpRoute[];
