import { RateLimitsAnswer } from '../http/rate-limits.ts';
import { route } from './route.ts';

/** What the caller may still ask (limits.md). */
export const limitRoutes = {
  getRateLimits: route({
    method: 'GET',
    path: '/rate-limits',
    door: 'query-api',
    family: 'clob',
    auth: ['none', 'l2', 'readOnlyKey'],
    summary: 'Every limit of the caller, and what is left of it',
    responses: { 200: { description: 'By scope and window.', schema: RateLimitsAnswer } },
    examples: [{}],
  }),
} as const;
