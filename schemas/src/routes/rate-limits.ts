import { RateLimitsResponse } from '../http/rate-limits.ts';
import { route } from './route.ts';

/** Route for the limits of the caller and the units that are left of them (limits.md). */
export const limitRoutes = {
  getRateLimits: route({
    method: 'GET',
    path: '/rate-limits',
    service: 'query-api',
    family: 'clob',
    auth: ['none', 'l2', 'readOnlyKey'],
    summary: 'Every limit of the caller, and what is left of it',
    responses: { 200: { description: 'By scope and window.', schema: RateLimitsResponse } },
    examples: [{}],
  }),
} as const;
