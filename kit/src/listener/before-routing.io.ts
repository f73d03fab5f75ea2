import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { webPageProblem } from './web-pages.ts';

/** Why a listener does not take a request, whatever its method and path. */
export interface EarlyRefusal {
  readonly status: 400 | 403;
  readonly error: string;
}

/** Judges a request by its head, before routing. */
export type Judge = (request: IncomingMessage) => EarlyRefusal | null;

/** Refuses what a web page may have sent, with 403; `names` of the listener as in `webPageProblem`. */
export function refuseWebPages(names: readonly string[]): Judge {
  return (request) => {
    const error = webPageProblem(request, names);
    return error === null ? null : { status: 403, error };
  };
}

/** Puts `takes` before the present listeners of requests; they do not get a request of which it says true. */
export function beforeRouting(
  server: Server,
  takes: (request: IncomingMessage, response: ServerResponse) => boolean,
): void {
  const next = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (takes(request, response)) return;
    for (const listener of next) listener.call(server, request, response);
  });
}

/**
 * Refuses requests by their head, before the present listeners of requests: with JSON, and the end of the connection.
 * Further requests on such a connection, which may have been read already, are not answered.
 */
export function refuseBeforeRouting(server: Server, judge: Judge): void {
  const ended = new WeakSet<Socket>();
  beforeRouting(server, (request, response) => {
    const { socket } = request;
    if (ended.has(socket)) return true;
    const refusal = judge(request);
    if (refusal === null) return false;
    ended.add(socket);
    const body = JSON.stringify({ error: refusal.error });
    response.writeHead(refusal.status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    });
    response.end(body);
    return true;
  });
}
