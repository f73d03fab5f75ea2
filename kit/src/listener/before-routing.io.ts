import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errorHeaders, nosniff, type Refusal } from './refusal.io.ts';
import { webPageProblem } from './web-pages.ts';

/** Judges a request by its head, before routing. */
export type Judge = (request: IncomingMessage) => Refusal | null;

/** Refuses what a web page may have sent, with 403; `names` of the listener as in `webPageProblem`. */
export function refuseWebPages(names: readonly string[]): Judge {
  return (request) => {
    const error = webPageProblem(request, names);
    return error === null ? null : { status: 403, error };
  };
}

/**
 * Refuses `Transfer-Encoding` in a request of an earlier version than HTTP/1.1, which does not know it: a proxy in
 * front may have seen another end of the request (RFC 9112 6.1).
 */
export function framingProblem({
  httpVersion,
  headers,
}: Pick<IncomingMessage, 'httpVersion' | 'headers'>): Refusal | null {
  if (httpVersion === '1.1' || headers['transfer-encoding'] === undefined) return null;
  return { status: 400, error: 'Transfer-Encoding takes HTTP/1.1' };
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
 * Refuses requests by their head, before the present listeners of requests: those with a `framingProblem`, and those
 * that `judge` refuses. They get JSON and the end of the connection. Further requests on such a connection, which may
 * have been read already, are not answered.
 */
export function refuseBeforeRouting(server: Server, judge: Judge | null): void {
  const ended = new WeakSet<Socket>();
  beforeRouting(server, (request, response) => {
    const { socket } = request;
    if (ended.has(socket)) return true;
    const refusal = framingProblem(request) ?? judge?.(request) ?? null;
    if (refusal === null) return false;
    ended.add(socket);
    const { status, error } = refusal;
    const json = JSON.stringify({ error });
    response.writeHead(status, errorHeaders(json));
    response.end(json);
    return true;
  });
}

/** For a server without a framework: what every response has, and `refuseBeforeRouting`. */
export function guardServer(server: Server): void {
  beforeRouting(server, (_request, response) => {
    response.setHeader(...nosniff);
    return false;
  });
  refuseBeforeRouting(server, null);
}
