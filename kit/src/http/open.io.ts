import type { Socket } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { type Judge, refuseBeforeRouting } from '../listener/before-routing.io.ts';
import { errorBytes } from '../listener/refusal.io.ts';
import type { Log } from '../log/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { Traces } from '../traces/index.ts';
import type { HttpApp, LimitsAtHand, RequestLimits } from './app.io.ts';
import { noBytes, takeJsonBodies } from './body.io.ts';
import { BodyShares } from './body-shares.io.ts';
import { countedAddressBy } from './client-address.io.ts';
import { endBusyConnections } from './closing.io.ts';
import { compressResponses } from './compress.io.ts';
import { ConnectionShares, type ShedReason } from './connection-shares.io.ts';
import { errorAnswerer } from './errors.io.ts';
import { ExpressLane } from './express-lane.io.ts';
import { defaultHttpLimits, type HttpLimits, timeoutCheckMs } from './listener-bounds.ts';
import { type AnswerCount, countShed, observeRequests } from './observe.io.ts';
import { answerOtherMethods } from './other-methods.io.ts';
import { refuse } from './refuse.io.ts';
import { openAnswer, openRequestIds, putAnswerHeaders } from './response-headers.io.ts';
import { errorStyleOf, familyOfTarget } from './route-family.ts';
import { declareRoutes } from './service-routes.io.ts';
import { traceRequests } from './trace-requests.io.ts';

export interface HttpOptions {
  readonly log: Log;
  /** The largest body of routes that name none, bytes; those of the table of routes do (`bodyMaxBytesOf`). */
  readonly bodyLimitBytes: number;
  /** Counts requests and their durations when given; once per process. */
  readonly metrics?: Metrics;
  readonly limits?: Partial<HttpLimits>;
  /** Open connections of one client's address; default that of `defaultHttpLimits`. */
  readonly connectionsPerAddress?: number;
  /** Takes the spans of requests; null or absent for none. */
  readonly traces?: Traces | null;
  /** Limits the public routes when given. */
  readonly rateLimits?: RequestLimits;
  /** Addresses of proxies whose `X-Forwarded-For` and `traceparent` are trusted; default none. */
  readonly trustedProxies?: readonly string[];
  /** Lets pages of any origin call routes that take requests without credentials (conventions.md 1.2). */
  readonly opensToPages?: boolean;
  /** Compresses long JSON responses for clients that accept it (`compressResponses`). */
  readonly compresses?: boolean;
  /** Refuses requests before routing, whatever their method and path; absent for none. */
  readonly judge?: Judge;
}

/**
 * Opens an app that does not listen yet (`app.listen({ host, port })`). Input is validated unchanged: no coercion, no
 * silent removal, no defaults filled in (architecture.md). Every response is JSON and carries `X-Request-Id`;
 * refusals are `{"error": text}`. Bodies: JSON or 415, kept as `request.rawBody`. Query strings: text, repeated keys
 * are arrays.
 */
export function openHttp(options: HttpOptions): HttpApp {
  const limits = { ...defaultHttpLimits, ...options.limits };
  const answerError = errorAnswerer(options.log);
  const requestId = openRequestIds();
  const { opensToPages = false } = options;
  const app = fastify({
    ...serverOptions(options, limits),
    genReqId: requestId,
    // No hooks run for requests that the router refuses.
    frameworkErrors: (error, request, raw) => {
      const reply = raw as FastifyReply;
      request.verdict = null;
      putAnswerHeaders(request, reply);
      if (opensToPages) openAnswer(request, reply);
      answerError(error, request, reply);
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
  const shed = countShed(options.metrics);
  const shares = watchConnections(app, { limits, shed, options });
  // Expectations other than 100-continue may be ignored (RFC 9110 10.1.1); Node would refuse them with an empty
  // response.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  takeJsonBodies(app as unknown as FastifyInstance, limits.maxJsonDepth);
  declareRoutes(app);
  app.setErrorHandler<Error>(answerError);
  // One hook with a callback, and no decorators of requests: each further hook, promise or property that fastify copies
  // onto a request costs a hundredth or more of the response with a book.
  const counted = countedAddressBy(options.trustedProxies ?? []);
  app.decorate('countedAddress', counted);
  const bodies = new BodyShares(limits.bodies, counted);
  app.addHook('onRequest', (request, reply, done) => {
    request.rawBody = noBytes;
    request.beganAtMs = performance.now();
    request.verdict = null;
    if (opensToPages) openAnswer(request, reply);
    if (bodies.take(request, reply)) {
      done();
      return;
    }
    shed('body');
    void refuse(reply, 'overloaded');
  });
  if (options.traces) traceRequests(app, options.traces, options.trustedProxies ?? []);
  const sayIfClosing = endBusyConnections(app, () => shares.sockets());
  app.addHook('onSend', (request, reply, _payload, done) => {
    putAnswerHeaders(request, reply);
    sayIfClosing(request, reply);
    done();
  });
  if (options.compresses === true) compressResponses(app);
  // Fastify closes the connection with each body it refuses, so that a client that is still sending is reset before
  // it reads the response. On an open connection Node reads the rest of the body within the time limit of a request.
  app.addHook('onError', (_request, reply, _error, done) => {
    void reply.removeHeader('connection');
    done();
  });
  const count = options.metrics === undefined ? null : observeRequests(app, options.metrics);
  const limited =
    options.rateLimits === undefined ? null : options.rateLimits.attach(app, options.metrics);
  openExpressLane(app, new ExpressLane(requestId, opensToPages), { count, limited });
  refuseBeforeRouting(app.server, options.judge ?? null);
  answerOtherMethods(app, { count, isOpen: opensToPages });
  return app;
}

/** Bounds what the connections of clients hold (`ConnectionShares`). */
function watchConnections(
  app: HttpApp,
  parts: {
    readonly limits: HttpLimits;
    readonly shed: (reason: ShedReason) => void;
    readonly options: HttpOptions;
  },
): ConnectionShares {
  const { limits, shed, options } = parts;
  const shares = new ConnectionShares({
    limits: limits.connections,
    perAddress: options.connectionsPerAddress,
    trustedProxies: options.trustedProxies ?? [],
    onShed: shed,
  });
  shares.watch(app.server);
  app.decorate('upgraded', (socket: Socket) => shares.upgraded(socket));
  return shares;
}

/** Routes declare by `app.answerAtHand` which of their responses may be in memory. */
function openExpressLane(
  app: HttpApp,
  lane: ExpressLane,
  { count, limited }: { count: AnswerCount | null; limited: LimitsAtHand | null },
): void {
  lane.open(app.server);
  app.decorate('answerAtHand', (url, { prefix, find }) => {
    lane.add({
      prefix,
      find,
      ...(limited === null ? {} : { pass: limited.of('GET', url) }),
      ...(count === null ? {} : { count: count.of('GET', url) }),
    });
  });
}

function serverOptions(options: HttpOptions, limits: HttpLimits) {
  return {
    logger: false,
    bodyLimit: options.bodyLimitBytes,
    // A request on an open connection while the listener closes is answered like any other, and ends its connection.
    return503OnClosing: false,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: options.trustedProxies?.length
      ? limits.proxyKeepAliveTimeoutMs
      : limits.keepAliveTimeoutMs,
    http: {
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: timeoutCheckMs,
      maxHeaderSize: limits.maxHeaderBytes,
    },
    // Frameworks of clients put a slash behind each path. What is signed is the path as it was sent.
    routerOptions: { maxParamLength: limits.maxParamChars, ignoreTrailingSlash: true },
    trustProxy: options.trustedProxies?.length ? [...options.trustedProxies] : false,
    clientErrorHandler: answerBrokenRequest,
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        allErrors: false,
        useDefaults: false,
      },
    },
  } as const;
}

/** Bytes that are not HTTP, or are too late: there is no request yet, so the response is written by hand. */
const brokenRequests = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', { status: 408, error: 'the request took too long' }],
  ['HPE_HEADER_OVERFLOW', { status: 431, error: 'the headers are too large' }],
]);

/**
 * A request that Node's parser could not read. `rawPacket` has the newest bytes, mostly all of them; absent without
 * bytes.
 */
type BrokenRequest = Error & { readonly code?: string; readonly rawPacket?: unknown };

function answerBrokenRequest(error: BrokenRequest, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, error: text } = brokenRequests.get(error.code ?? '') ?? badRequest;
  const family = familyOfTarget(targetIn(error.rawPacket));
  socket.end(errorBytes(status, errorStyleOf(family, status, { error: text })));
}

const badRequest = { status: 400, error: 'bad request' };

/** Bytes of a request target that decide its family. */
const targetMaxBytes = 256;

/** The request target in the bytes; empty when they do not look like a request. */
function targetIn(bytes: unknown): string {
  if (!Buffer.isBuffer(bytes)) return '';
  return /^\S+ (\S+)/.exec(bytes.toString('latin1', 0, targetMaxBytes))?.[1] ?? '';
}
