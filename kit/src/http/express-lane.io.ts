import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { beforeRouting } from '../listener/before-routing.io.ts';
import { nosniff } from '../listener/refusal.io.ts';
import type { Verdict } from './listener-bounds.ts';
import { openToPages } from './response-headers.io.ts';

/** Counts a response of one route when it is sent; `beganAtMs` of `performance.now()`. */
export type CountResponse = (status: number, beganAtMs: number) => void;

/** A route whose responses may be in memory. */
export interface ExpressRoute {
  /** The part of the URL before the key, such as `/book?token_id=`. */
  readonly prefix: string;
  /**
   * The JSON of the current response to this request; undefined when the route must compute it or wait for it, also for
   * a text that is no key.
   */
  find(key: string, request: IncomingMessage): Buffer | undefined;
  /**
   * Admits an anonymous request by the rate limits; null when only the hooks of the route can decide. Absent without
   * limits.
   */
  readonly pass?: (request: IncomingMessage) => Verdict | null;
  readonly count?: CountResponse;
}

/**
 * Responds to the most frequent reads before the framework. Routing, request and reply objects, hooks and a table of
 * headers cost several times as much as finding the bytes of a book and counting the request against its limits. The
 * lane takes a request only when it is anonymous, within the units this process has leased, and its response is in
 * memory. Any other request goes through the framework, with nothing taken or counted before. Responses of the lane
 * have the headers and metrics of the route's other responses.
 */
export class ExpressLane {
  readonly #routes: ExpressRoute[] = [];
  readonly #requestId: (request: IncomingMessage) => string;
  readonly #opened: readonly string[];

  /** `opensToPages`: pages of any origin may read its responses. */
  constructor(requestId: (request: IncomingMessage) => string, opensToPages: boolean) {
    this.#requestId = requestId;
    this.#opened = opensToPages ? openToPages : [];
  }

  add(route: ExpressRoute): void {
    this.#routes.push(route);
  }

  /** Puts the lane before the server's present listeners of requests. */
  open(server: Server): void {
    // While the server closes, the framework ends its connections.
    beforeRouting(
      server,
      (request, response) => server.listening && this.#answers(request, response),
    );
  }

  #answers(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, url, headers } = request;
    if (method !== 'GET' || url === undefined || headers.authorization !== undefined) return false;
    for (const route of this.#routes) {
      if (!url.startsWith(route.prefix)) continue;
      const json = route.find(url.slice(route.prefix.length), request);
      if (json === undefined) return false;
      const beganAtMs = performance.now();
      const verdict = route.pass?.(request) ?? null;
      if (verdict === null && route.pass !== undefined) return false;
      const head = headOf(this.#requestId(request), json.length, verdict);
      response.writeHead(200, [...head, ...this.#opened]);
      response.end(json);
      route.count?.(200, beganAtMs);
      return true;
    }
    return false;
  }
}

/** Names and values alternately: one write sends the head. */
function headOf(id: string, bytes: number, verdict: Verdict | null): string[] {
  const head = ['content-type', jsonType, 'content-length', String(bytes), 'x-request-id', id];
  head.push(...nosniff);
  if (verdict === null) return head;
  const { limit, remaining, resetSeconds } = verdict;
  head.push('ratelimit-limit', String(limit), 'ratelimit-remaining', String(remaining));
  head.push('ratelimit-reset', String(resetSeconds));
  return head;
}

const jsonType = 'application/json; charset=utf-8';
