import type { RawHeaders } from '@pm/domain/accounts/auth-headers';
import type { RawQuery } from '@pm/domain/reading/query-reader';
import {
  internalError,
  ReadRefusal,
  refusalBody,
  refusals,
  unavailable,
} from '@pm/domain/reading/refusal';
import { Fault } from '@pm/kit/fault';
import type { Dialect, HttpApp, HttpHandler } from '@pm/kit/http';
import type { RouteFamily } from '@pm/schemas/routes/route';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ProgressWatch } from '../status/progress.io.ts';
import { refusedFilter, unservedFiltersOf } from './unserved-filters.ts';

export interface AgeParts {
  readonly progress: Pick<ProgressWatch, 'completeThroughAtMs'>;
  nowMs(): number;
}

/** A request as the routes see it. */
export interface ReadRequest {
  readonly query: RawQuery;
  readonly params: Readonly<Record<string, string>>;
  /** Parsed JSON of any shape. */
  readonly body: unknown;
  readonly raw: FastifyRequest;
  readonly dialect: Dialect;
  /** The mount it came in under; null at the root. */
  readonly mount: RouteFamily | null;
}

/** The facts of a request that prove an API key or a read-only one. */
export interface SignedFacts {
  readonly method: string;
  readonly url: string;
  readonly headers: RawHeaders;
  readonly body: Buffer;
}

/** The part of a request that its HMAC covers. `@pm/kit/http` keeps the bytes of the body. */
export function signedFacts(raw: FastifyRequest): SignedFacts {
  const { method, url, headers, rawBody } = raw;
  return { method, url, headers, body: rawBody };
}

/** A successful response with another status than 200. */
export class StatusResponse {
  readonly status: number;
  readonly body: object;

  constructor(status: number, body: object) {
    this.status = status;
    this.body = body;
  }
}

/**
 * A successful response from some time ago: `Age` says how old it is, `X-Complete-Through` up to when it was complete.
 */
export class CachedResponse {
  readonly ageSeconds: number;
  /** Unix milliseconds; null when it is not known. */
  readonly completeThroughMs: number | null;
  readonly body: object;

  /** `atMs` is when it was read or computed, by a clock that may be ahead of this one by `skewMs`. */
  constructor(atMs: number, { progress, nowMs }: AgeParts, body: object, skewMs = 0) {
    this.ageSeconds = Math.max(0, Math.floor((nowMs() - atMs) / 1000));
    this.completeThroughMs = progress.completeThroughAtMs(atMs - skewMs);
    this.body = body;
  }
}

/** Result of a route: a refusal, stored JSON bytes, or a value to be written as JSON. */
export type Answer = ReadRefusal | StatusResponse | CachedResponse | Buffer | object;

const completeThroughHeader = 'x-complete-through';

/**
 * Says before which moment everything that happened is in an answer, Unix milliseconds (conventions.md 1.5); null: not
 * known.
 */
export function setCompleteThrough(reply: FastifyReply, throughMs: number | null): void {
  if (throughMs === null) void reply.removeHeader(completeThroughHeader);
  else void reply.header(completeThroughHeader, new Date(throughMs).toISOString());
}

const jsonType = 'application/json; charset=utf-8';

const retryAfterSeconds = '1';

/** A route as `readRoute` adds it. */
export interface ReadRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly family: RouteFamily;
  /** Callers send the same body again and again: equal ones are parsed once (`@pm/kit/http`). */
  readonly repeatsBodies?: boolean;
}

/**
 * Applies `next` to a value or to the result of a promise; to a value at once: a promise costs as much as a small
 * answer.
 */
export function andThen<T, U>(value: T | Promise<T>, next: (value: T) => U): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

const noFilters: ReadonlySet<string> = new Set();

/** A route out of a function from request to answer. */
export function readRoute(
  route: ReadRoute,
  answer: (request: ReadRequest) => Answer | Promise<Answer>,
): HttpHandler {
  const { method, path, family, repeatsBodies = false } = route;
  const filters = method === 'GET' ? unservedFiltersOf(path) : noFilters;
  return {
    method,
    path,
    add(app, { url, dialect, mount }) {
      // Under a mount its family has the word.
      const words = mount ?? family;
      app.route({
        method,
        url,
        config: { repeatsBodies },
        errorHandler: (error, request, reply) => answerFailure(words, { error, request, reply }),
        handler: (request, reply) => {
          const query = request.query as RawQuery;
          const refused = refusedFilter(query, filters, words);
          if (refused !== null) return sendAnswer(reply, refused, words);
          const given = answer({
            query,
            params: request.params as Record<string, string>,
            body: request.body,
            raw: request,
            dialect,
            mount,
          });
          if (given instanceof Promise)
            return given.then((known) => sendAnswer(reply, known, words));
          sendAnswer(reply, given, words);
          return undefined;
        },
      });
    },
  };
}

export function sendAnswer(reply: FastifyReply, answer: Answer, family: RouteFamily): FastifyReply {
  if (answer instanceof ReadRefusal) return sendRefusal(reply, answer, family);
  if (answer instanceof StatusResponse)
    return sendAnswer(reply.code(answer.status), answer.body, family);
  if (answer instanceof CachedResponse) return sendAged(reply, answer, family);
  if (Buffer.isBuffer(answer)) return reply.header('content-type', jsonType).send(answer);
  return reply.header('content-type', jsonType).send(JSON.stringify(answer));
}

/** Replaces the header that the hook set for tables read now (`addCompleteness`). */
function sendAged(
  reply: FastifyReply,
  { ageSeconds, completeThroughMs, body }: CachedResponse,
  family: RouteFamily,
): FastifyReply {
  setCompleteThrough(reply, completeThroughMs);
  return sendAnswer(reply.header('age', String(ageSeconds)), body, family);
}

function sendRefusal(reply: FastifyReply, refusal: ReadRefusal, family: RouteFamily): FastifyReply {
  if (refusal.status === 503) void reply.header('retry-after', retryAfterSeconds);
  if (refusal.status === 401) void reply.header('www-authenticate', 'HMAC');
  // It says nothing of what happened.
  setCompleteThrough(reply, null);
  const body = JSON.stringify(refusalBody(family, refusal));
  return reply.code(refusal.status).header('content-type', jsonType).send(body);
}

interface Failure {
  readonly error: unknown;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Answers in the words of the family: 503 for faults that pass, 400 for what is no JSON, 500 for everything else. */
export function answerFailure(family: RouteFamily, { error, request, reply }: Failure): void {
  if (error instanceof Fault && error.reaction === 'retry') {
    sendRefusal(reply, unavailable(family), family);
    return;
  }
  const status = error instanceof Error ? Reflect.get(error, 'statusCode') : undefined;
  if (typeof status === 'number' && status >= 400 && status < 500) {
    const text = status === 413 ? refusals.payloadTooLarge.text : refusals.invalidPayload.text;
    sendRefusal(reply, new ReadRefusal(status === 413 ? 400 : status, text), family);
    return;
  }
  reportFailure(request, error);
  sendRefusal(reply, internalError(family), family);
}

type Report = (route: string, error: unknown) => void;

declare module 'fastify' {
  interface FastifyInstance {
    /** Reports failures of the routes; absent where they are answered only. */
    reportFailure?: Report;
  }
}

/** Reports the failures of an app; without it they are answered only. Call it before the app is ready. */
export function onFailure(app: HttpApp, report: Report): void {
  app.decorate('reportFailure', report);
}

function reportFailure({ server, routeOptions }: FastifyRequest, error: unknown): void {
  server.reportFailure?.(routeOptions.url ?? 'none', error);
}
