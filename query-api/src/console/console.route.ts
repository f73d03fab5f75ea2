import { errorStyleOf, type HttpHandler } from '@pm/kit/http';
import { publicRoutes } from '@pm/schemas/routes/routes';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type ConsoleFile,
  type ConsoleFiles,
  consolePage,
  docsFolder,
  docsHeaders,
  pageHeaders,
} from './console-file.ts';

export interface ConsoleParts {
  readonly console: ConsoleFiles;
}

const assetHeaders = { 'cache-control': 'public, max-age=31536000, immutable' };

/** The page of the console, the page of the API, and their files. */
export function consoleRoutes({ console: files }: ConsoleParts): readonly HttpHandler[] {
  const { getConsole, getConsoleAsset, getDocs, getDocsAsset } = publicRoutes;
  const checked = { 'cache-control': 'no-cache' };
  const fileOf = ({ params }: FastifyRequest) => (params as { readonly file: string }).file;
  return [
    fileRoute(getConsole, files, { ...checked, ...pageHeaders }, () => consolePage),
    fileRoute(getConsoleAsset, files, assetHeaders, (request) => `assets/${fileOf(request)}`),
    fileRoute(getDocs, files, { ...checked, ...docsHeaders }, () => `${docsFolder}/index.html`),
    fileRoute(getDocsAsset, files, checked, (request) => `${docsFolder}/${fileOf(request)}`),
  ];
}

function fileRoute(
  route: Pick<HttpHandler, 'method' | 'path'>,
  files: ConsoleFiles,
  headers: Readonly<Record<string, string>>,
  nameOf: (request: FastifyRequest) => string,
): HttpHandler {
  return {
    ...route,
    add(app, { url }) {
      app.get(url, (request, reply) => {
        const file = files.get(nameOf(request));
        if (file !== undefined) void reply.headers(headers);
        return sendFile(request, reply, file);
      });
    },
  };
}

function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: ConsoleFile | undefined,
): FastifyReply {
  if (file === undefined)
    return reply.code(404).send(errorStyleOf('clob', 404, { error: 'not found' }));
  void reply.headers({
    etag: file.etag,
    vary: 'accept-encoding',
  });
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  void reply.header('content-type', file.contentType);
  const isCompressed =
    file.gzip !== null && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  if (isCompressed) void reply.header('content-encoding', 'gzip');
  return reply.send(isCompressed ? file.gzip : file.bytes);
}
