import type { IncomingHttpHeaders } from 'node:http';
import { countedAddress } from '@pm/domain/ratelimit/callers';
import {
  type ClientAddress,
  clientAddressBy,
  doorBounds,
  familyOf,
  type HttpApp,
  inWordsOf,
  openHttp,
  openToBrowsers,
  originForm,
} from '@pm/kit/http';
import { type Log, silentLog } from '@pm/kit/log';
import type { Metrics } from '@pm/kit/metrics';
import { type Door, type HttpRoute, rateGroupOf, refusalText, routes, urlsOf } from '@pm/schemas';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Dispatcher, Pool } from 'undici';
import { pictureOf, pictureRoute } from '../demo/pictures.ts';
import { ClientTurns, type TurnLimits } from './client-turns.ts';
import { gatewayStreamReadings, measureGateway, type TurnGroups } from './metrics.ts';
import { forwardStreams } from './streams.ts';

/** Longer than any bounded wait of a service. */
const serviceTimeoutMs = 30_000;

/** Connections to each service: for sixteen clients that have as many requests there as they may. */
const connectionsPerService = 512;

/**
 * Requests of one address with ingress at once, twice: cancels and heartbeats have places of their own. As many as the
 * client library sends. A service works on them one after the other, so more would only delay those of others.
 */
const ingressLimits: TurnLimits = { atOnce: 32, waiting: 1_024, waitMs: 2_000 };
/** Those with query-api, where they wait for the tables rather than for a thread. */
const readLimits: TurnLimits = { atOnce: 64, waiting: 1_024, waitMs: 2_000 };

/**
 * Base URLs of what the gateway forwards to. Without `streams` upgrades are refused; without `mcp`, which is at `/mcp`
 * alone, there is no such path.
 */
export type GatewayServices = Readonly<Record<Door, string>> & {
  readonly streams?: string;
  readonly mcp?: string;
};

/**
 * One base URL for all public services, made from the route table: each method and path goes to the service that owns
 * it, at the root and under its mounts. Target and body arrive there byte for byte, so signatures stay valid. A body is
 * read whole before the service gets the request: a slow client does not occupy the service, and an early response does
 * not cut the client off. The services get the address of the client, from `X-Forwarded-For` only where a trusted proxy
 * wrote it.
 */
export function openGateway(
  services: GatewayServices,
  { log = silentLog, trustedProxies = [], metrics }: GatewayOptions = {},
): HttpApp {
  const bounds = Object.values(doorBounds);
  const app = openHttp({
    log,
    ...(metrics === undefined ? {} : { metrics }),
    bodyLimitBytes: Math.max(...bounds.map((of) => of.bodyLimitBytes)),
    limits: { maxHeaderBytes: Math.max(...bounds.map((of) => of.maxHeaderBytes)) },
  });
  openToBrowsers(app);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (_request: unknown, bytes: Buffer) => bytes,
  );
  const pools = {
    ingress: openPool(services.ingress),
    'query-api': openPool(services['query-api']),
  };
  const mcp = services.mcp === undefined ? null : openPool(services.mcp);
  app.addHook('onClose', async () => {
    for (const pool of [pools.ingress, pools['query-api'], mcp]) await pool?.destroy();
  });
  const addressOf = clientAddressBy(trustedProxies);
  const groups = openTurns();
  const refused = metrics === undefined ? null : measureGateway(metrics, groups);
  const countsOf = (target: string) => (reason: Refusal) => refused?.add(1, { target, reason });
  for (const route of routes as readonly HttpRoute[]) {
    const { door } = route;
    const turns = turnsOf(route, groups);
    mount(app, route, { service: pools[door], addressOf, turns, onRefused: countsOf(door) });
  }
  if (mcp !== null) mountMcp(app, { service: mcp, addressOf, onRefused: countsOf('mcp') });
  servePictures(app);
  if (services.streams !== undefined) {
    const streams = forwardStreams(app, services.streams, { log, addressOf });
    metrics?.gauge({ ...gatewayStreamReadings.streams, read: () => streams.size });
  }
  return app;
}

/** Settings of the gateway. */
export interface GatewayOptions {
  readonly log?: Log;
  /** Counts requests and their durations when given; once per process. */
  readonly metrics?: Metrics;
  /** Addresses and networks of proxies before it, whose `X-Forwarded-For` is used; default none. */
  readonly trustedProxies?: readonly string[];
}

function openTurns(): TurnGroups {
  return {
    orders: new ClientTurns(ingressLimits),
    reserve: new ClientTurns(ingressLimits),
    reads: new ClientTurns(readLimits),
  };
}

/** The turns of clients on a route. */
function turnsOf(route: HttpRoute, { orders, reserve, reads }: TurnGroups): ClientTurns {
  if (route.door === 'query-api') return reads;
  return rateGroupOf(route) === 'reserve' ? reserve : orders;
}

/** Pictures of the demo's events: their URLs work without a network. */
function servePictures(app: HttpApp): void {
  app.get(pictureRoute, async (request, reply) => {
    const { tag } = request.params as { readonly tag: string };
    const picture = pictureOf(tag);
    if (picture === null) return await reply.code(404).send({ error: 'no such picture' });
    return await reply
      .header('cache-control', 'public, max-age=86400')
      .type('image/svg+xml')
      .send(picture);
  });
}

function openPool(serviceUrl: string): Pool {
  return new Pool(serviceUrl, {
    connections: connectionsPerService,
    pipelining: 1,
    headersTimeout: serviceTimeoutMs,
    bodyTimeout: serviceTimeoutMs,
  });
}

/** A service, the address that it gets of a client, and the turns of clients, where they are bounded. */
interface Target {
  readonly service: Pool;
  readonly addressOf: ClientAddress;
  readonly turns?: ClientTurns;
  /** The gateway answers 503 itself. */
  onRefused(reason: Refusal): void;
}

/** Why the gateway answers 503 itself. */
type Refusal = 'unreachable' | 'overloaded';

function mount(app: HttpApp, route: HttpRoute, target: Target): void {
  const { tooLarge } = doorBounds[route.door];
  for (const { url } of urlsOf(route)) {
    app.route({
      method: route.method,
      url,
      config: { tooLarge },
      handler: (request, reply) => forward(request, reply, target),
    });
  }
}

/** The protocol of agents; its responses may be streams of events, which pass through as they come. */
function mountMcp(app: HttpApp, target: Target): void {
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    config: { tooLarge: doorBounds.ingress.tooLarge },
    handler: (request, reply) => forward(request, reply, target),
  });
}

async function forward(
  request: FastifyRequest,
  reply: FastifyReply,
  target: Target,
): Promise<FastifyReply> {
  const { turns, addressOf, onRefused } = target;
  const ask = () => send(request, target).catch(() => 'unreachable' as const);
  const client = countedAddress(addressOf(request.raw));
  const response = turns === undefined ? await ask() : await turns.run(client, ask);
  if (response === null || response === 'unreachable') {
    const reason = response ?? 'overloaded';
    onRefused(reason);
    return await replyUnavailable(request, reply, refusals[reason]);
  }
  const { statusCode, headers, body } = response;
  return await reply.code(statusCode).headers(endToEnd(headers)).send(body);
}

/** Resolves with the response once its headers have arrived; rejects when there is none. */
function send(
  request: FastifyRequest,
  { service, addressOf }: Target,
): Promise<Dispatcher.ResponseData> {
  const { method, url, headers, id, body } = request;
  return service.request({
    method: method as Dispatcher.HttpMethod,
    path: originForm(url),
    headers: {
      ...endToEnd(headers, ['host', 'expect', 'content-length']),
      // Clients' own headers do not name them.
      'x-forwarded-for': addressOf(request.raw),
      'x-request-id': id,
    },
    body: Buffer.isBuffer(body) ? body : null,
  });
}

/** Headers of one connection and not of the message (RFC 9110 7.6.1), besides all that begin with `proxy-`. */
const hopByHop = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

/** The headers of a message without those of its connection, without those that these name, and without `others`. */
function endToEnd(
  headers: IncomingHttpHeaders,
  others: readonly string[] = [],
): IncomingHttpHeaders {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...hopByHop, ...named, ...others]);
  const kept = Object.entries(headers).filter(
    ([name]) => !(dropped.has(name) || name.startsWith('proxy-')),
  );
  return Object.fromEntries(kept);
}

const refusals: Readonly<Record<Refusal, { readonly error: string; readonly code?: string }>> = {
  unreachable: { error: 'the service behind this route is not reachable' },
  /** Too many requests of the address of the client wait. */
  overloaded: { error: refusalText('overloaded'), code: 'overloaded' },
};

/** A 503 in the format of the route family (conventions.md 1.2). The gateway does not retry; the client does. */
function replyUnavailable(
  request: FastifyRequest,
  reply: FastifyReply,
  words: { readonly error: string; readonly code?: string },
): FastifyReply {
  const family = familyOf(request);
  const wait = family === 'clob' ? { retry_after_seconds: 1 } : {};
  return reply
    .code(503)
    .header('retry-after', '1')
    .send(inWordsOf(family, 503, { ...words, ...wait }));
}
