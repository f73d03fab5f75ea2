import { createHash } from 'node:crypto';
import { publicRoutes } from '@pm/schemas/routes/routes';
import { asyncApiDocument, openApiDocument, streamDescription } from '../openapi/index.ts';
import { descriptionScript, descriptionStyle } from './openapi-page.ts';
import type { HttpHandler } from './service-routes.io.ts';

const jsonType = 'application/json; charset=utf-8';
const pageType = 'text/html; charset=utf-8';

/**
 * GET /openapi.json, GET /asyncapi.json, GET /v1/stream without an upgrade, and GET /docs: a page that shows the first
 * and loads nothing from other servers. Made once per process: the documents take half a second.
 */
export const descriptionRoutes: () => readonly HttpHandler[] = once(() => {
  const { getOpenApi, getAsyncApi, getStream, getDocs } = publicRoutes;
  return [
    documentRoute(getOpenApi, openApiDocument()),
    documentRoute(getAsyncApi, asyncApiDocument()),
    documentRoute(getStream, streamDescription()),
    {
      ...getDocs,
      add(app, { url }) {
        app.get(url, (_request, reply) =>
          reply
            .header('content-type', pageType)
            .header('content-security-policy', policy)
            .send(page),
        );
      },
    },
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

const page = [
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>API</title>',
  '<meta name="viewport" content="width=device-width, initial-scale=1">',
  `<style>${descriptionStyle}</style></head><body><main><p>Loading openapi.json</p></main>`,
  `<script>${descriptionScript}</script></body></html>`,
].join('');

/** Nothing but this script, this style and the description itself. */
const policy = [
  "default-src 'none'",
  "connect-src 'self'",
  `script-src '${digestOf(descriptionScript)}'`,
  `style-src '${digestOf(descriptionStyle)}'`,
].join('; ');

function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
