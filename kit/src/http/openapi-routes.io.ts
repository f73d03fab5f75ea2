import { createHash } from 'node:crypto';
import { publicRoutes } from '@pm/schemas/routes/routes';
import { asyncApiDocument, openApiDocument, streamDescription } from '../openapi/index.ts';
import type { HttpHandler } from './service-routes.io.ts';

const jsonType = 'application/json; charset=utf-8';

/**
 * GET /openapi.json, GET /asyncapi.json and GET /v1/stream without an upgrade. Made once per process: the documents
 * take half a second.
 */
export const descriptionRoutes: () => readonly HttpHandler[] = once(() => {
  const { getOpenApi, getAsyncApi, getStream } = publicRoutes;
  return [
    documentRoute(getOpenApi, openApiDocument()),
    documentRoute(getAsyncApi, asyncApiDocument()),
    documentRoute(getStream, streamDescription()),
  ];
});

function once<T extends object>(make: () => T): () => T {
  let made: T | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

/** A document that is the same as long as the process lives. */
function documentRoute(route: Pick<HttpHandler, 'method' | 'path'>, content: object): HttpHandler {
  const document = Buffer.from(JSON.stringify(content));
  const etag = `"${createHash('sha256').update(document).digest('hex')}"`;
  return {
    ...route,
    add(app, { url }) {
      app.get(url, (request, reply) => {
        void reply.header('etag', etag);
        if (request.headers['if-none-match'] === etag) return reply.code(304).send();
        return reply.header('content-type', jsonType).send(document);
      });
    },
  };
}
