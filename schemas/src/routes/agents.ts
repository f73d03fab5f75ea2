import type { HttpRoute } from './route.ts';

/** Agents, managed by the wallet that owns them, and what an agent sees of itself: at the root alone (conventions.md 1.11). */
export const agentsRoutes = [
  { method: 'GET', path: '/api/v1/me', door: 'ingress', family: 'clob', mounts: [] },
  { method: 'GET', path: '/api/v1/agents', door: 'ingress', family: 'clob', mounts: [] },
  { method: 'POST', path: '/api/v1/agents', door: 'ingress', family: 'clob', mounts: [] },
  { method: 'POST', path: '/api/v1/agents/:id/pause', door: 'ingress', family: 'clob', mounts: [] },
  {
    method: 'POST',
    path: '/api/v1/agents/:id/resume',
    door: 'ingress',
    family: 'clob',
    mounts: [],
  },
  {
    method: 'POST',
    path: '/api/v1/agents/:id/rotate',
    door: 'ingress',
    family: 'clob',
    mounts: [],
  },
  { method: 'DELETE', path: '/api/v1/agents/:id', door: 'ingress', family: 'clob', mounts: [] },
] as const satisfies readonly HttpRoute[];
