import { type Static, Type } from 'typebox';
import { flag, text } from './forms.ts';

/** GET /v1/stream without an upgrade: what the WebSocket of the path offers. */
export const StreamDescription = Type.Object({
  path: Type.String({ examples: ['/v1/stream'] }),
  description: Type.String({ examples: ['/asyncapi.json'] }),
  channels: Type.Array(
    Type.Object({
      channel: Type.String({ examples: ['book'] }),
      key: Type.Enum(['token', 'market', 'event', 'wallet']),
      private: flag,
      message: Type.String({ description: 'What one message stands for.' }),
      snapshot: Type.String({ description: 'What a subscription begins with.' }),
    }),
  ),
  limits: Type.Array(
    Type.Object({
      name: Type.String({ examples: ['connections_per_address'] }),
      limit: Type.Integer({ minimum: 1, examples: [200] }),
      meaning: text,
    }),
  ),
  errors: Type.Array(Type.Object({ code: text, message: text, retryable: flag })),
  close_codes: Type.Array(
    Type.Object({
      code: Type.Integer({ examples: [4008] }),
      reason: text,
      resumable: flag,
    }),
  ),
});
export type StreamDescription = Static<typeof StreamDescription>;

/** GET /asyncapi.json. */
export const AsyncApiDocument = Type.Object(
  {
    asyncapi: text,
    defaultContentType: text,
    info: Type.Object({}),
    channels: Type.Object({}),
    operations: Type.Object({}),
    components: Type.Object({}),
  },
  { description: 'An AsyncAPI 3.0 document.' },
);
