import { AsyncApiDocument, StreamDescription } from '../http/streams.ts';
import { route } from './route.ts';

const base = {
  method: 'GET',
  service: 'query-api',
  family: 'clob',
  mounts: [],
  auth: ['none'],
  limits: ['description'],
} as const;

/** The streams as documents: what a request without an upgrade gets. */
export const streamRoutes = {
  getStream: route({
    ...base,
    path: '/v1/stream',
    summary: 'The channels of the WebSocket at this path',
    description: 'With an upgrade to WebSocket it is the stream itself (`GET /asyncapi.json`).',
    responses: { 200: { description: 'Channels, limits and codes.', schema: StreamDescription } },
    examples: [{}],
  }),
  getAsyncApi: route({
    ...base,
    path: '/asyncapi.json',
    summary: 'The description of the streams',
    responses: { 200: { description: 'AsyncAPI 3.0.', schema: AsyncApiDocument } },
    examples: [
      {
        response: {
          asyncapi: '3.0.0',
          info: {},
          defaultContentType: 'application/json',
          channels: {},
          operations: {},
          components: {},
        },
      },
    ],
  }),
} as const;
