import { errorStyleOf, type HttpHandler } from '@pm/kit/http';
import { publicRoutes } from '@pm/schemas/routes/routes';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ConsoleFile, type ConsoleFiles, consolePage, pageHeaders } from './console-file.ts';

export interface ConsoleParts {
  readonly console: ConsoleFiles;
}

const assetHeaders = { 'cache-control': 'public, max-age=31536000, immutable' };

/** The page of the console, and its files. */
export function consoleRoutes({ console: files }: ConsoleParts): readonly HttpHandler[] {
  const { getConsole, getConsoleAsset } = publicRoutes;
  const page: HttpHandler = {
    ...getConsole,
    add(app, { url }) {
      app.get(url, (request, reply) => {
        void reply.headers({ 'cache-control': 'no-cache', ...pageHeaders });
        return sendFile(request, reply, files.get(consolePage));
      });
    },
  };
  const assets: HttpHandler = {
    ...getConsoleAsset,
    add(app, { url }) {
      app.get(url, (request, reply) => {
        const { file } = request.params as { readonly file: string };
        const found = files.get(`assets/${file}`);
        if (found !== undefined) void reply.headers(assetHeaders);
        return sendFile(request, reply, found);
      });
    },
  };
  return [page, assets];
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
