import { createHash } from 'node:crypto';
import { asyncApiDocument, openApiDocument, publicRoutes, streamDescription } from '@pm/schemas';
import type { DoorRoute } from './door-routes.io.ts';
import { descriptionScript, descriptionStyle } from './openapi-page.ts';

const jsonType = 'application/json; charset=utf-8';
const pageType = 'text/html; charset=utf-8';

/**
 * GET /openapi.json, GET /asyncapi.json, GET /v1/stream without an upgrade, and GET /docs: a page that shows the first
 * and loads nothing from other servers.
 */
export function descriptionRoutes(): readonly DoorRoute[] {
  const { getOpenApi, getAsyncApi, getStream, getDocs } = publicRoutes;
  return [
    documentRoute(getOpenApi, openApi()),
    documentRoute(getAsyncApi, asyncApi()),
    documentRoute(getStream, stream()),
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
}

interface Document {
  readonly bytes: Buffer;
  readonly etag: string;
}

/** A document that is the same as long as the process lives, made once: the first takes half a second. */
function lasting(contentOf: () => object): () => Document {
  let made: Document | null = null;
  return () => {
    if (made !== null) return made;
    const bytes = Buffer.from(JSON.stringify(contentOf()));
    made = { bytes, etag: `"${createHash('sha256').update(bytes).digest('hex')}"` };
    return made;
  };
}

const openApi = lasting(openApiDocument);
const asyncApi = lasting(asyncApiDocument);
const stream = lasting(streamDescription);

function documentRoute(
  route: Pick<DoorRoute, 'method' | 'path'>,
  { bytes, etag }: Document,
): DoorRoute {
  return {
    ...route,
    add(app, { url }) {
      app.get(url, (request, reply) => {
        void reply.header('etag', etag);
        if (request.headers['if-none-match'] === etag) return reply.code(304).send();
        return reply.header('content-type', jsonType).send(bytes);
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
