import { type Static, Type } from 'typebox';
import { StreamLimits } from '../streams/server-frames.ts';
import { count, seconds } from './forms.ts';

/** Body of GET /rate-limits. */
export const RateLimitsResponse = Type.Object({
  caller: Type.Enum(['address', 'key', 'agent'], { description: 'What the caller is counted by.' }),
  enabled: Type.Boolean({
    description: 'False when this installation limits no caller; the list is empty then.',
  }),
  limits: Type.Array(
    Type.Object({
      scope: Type.String({ examples: ['book'] }),
      routes: Type.Array(Type.String({ examples: ['GET /book'] })),
      unit: Type.Enum(['requests', 'items', 'hundreds of items']),
      window_seconds: Type.Integer({ minimum: 1, examples: [10] }),
      limit: Type.Integer({ minimum: 1, examples: [200] }),
      remaining: count,
      resets_at: seconds,
    }),
  ),
  streams: StreamLimits,
});
export type RateLimitsResponse = Static<typeof RateLimitsResponse>;
