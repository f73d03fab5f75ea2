import { clientAddressBy, type HttpApp, listenerBounds, openHttp, trustBy } from '@pm/kit/http';
import { type Log, silentLog } from '@pm/kit/log';
import type { Metrics } from '@pm/kit/metrics';
import type { Traces } from '@pm/kit/traces';
import { rateGroupOf } from '@pm/schemas/rate-limits';
import { bodyMaxBytes, type HttpRoute, type HttpService, urlsOf } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';
import { AnsweredPlaces } from './answered-places.ts';
import { ClientConcurrencyLimit, type SlotLimits } from './client-concurrency-limit.ts';
import {
  closePools,
  forward,
  listOf,
  openPools,
  type Refusal,
  type ServiceUrls,
  type Target,
} from './forward.ts';
import { gatewayStreamReadings, measureGateway, type SlotGroups, type Slots } from './metrics.ts';
import { pictureOf, pictureRoute } from './pictures.ts';
import { type ForwardedStreams, forwardStreams, type LetLeave } from './streams.ts';

const waits = { waiting: 1_024, waitMs: 2_000 };

/** Slots of requests (limits.md). */
export const slotLimits = {
  /**
   * Requests that one address may have open at ingress; cancels and heartbeats have as many slots of their own. The
   * client library sends as many requests at once. A service processes them one after the other, so more would only
   * delay those of other addresses.
   */
  ingress: { atOnce: 32, ...waits },
  /**
   * Requests that one address may have open at query-api, where requests wait for the tables rather than for a thread.
   */
  reads: { atOnce: 64, ...waits },
  /**
   * Requests that all addresses together may have open at one process: as many as sixteen addresses may have at
   * ingress, eight at query-api.
   */
  process: { atOnce: 512, ...waits },
} as const satisfies Readonly<Record<string, SlotLimits>>;

/**
 * Base URLs of what the gateway forwards to. Without `streams` upgrades are refused; without `mcp`, which is at `/mcp`
 * alone, there is no such path.
 */
export type GatewayServices = Readonly<Record<HttpService, ServiceUrls>> & {
  readonly streams?: ServiceUrls;
  readonly mcp?: string;
};

/**
 * One base URL for all public services, made from the route table: each method and path goes to the service that owns
 * it, at the root and under its mounts. Target and body arrive there byte for byte, so signatures stay valid. A body is
 * read whole before the service gets the request: a slow client does not occupy the service, and an early response does
 * not cut the client off. The services get the address of the client, from `X-Forwarded-For` only where a trusted proxy
 * wrote it. Of several processes of a service all requests of one caller reach the same one while it can be reached.
 */
export function openGateway(services: GatewayServices, options: GatewayOptions = {}): Gateway {
  const { log = silentLog, trustedProxies = [], metrics, traces = null } = options;
  const { connectionsPerAddress } = options;
  const bounds = Object.values(listenerBounds);
  const app = openHttp({
    log,
    ...(metrics === undefined ? {} : { metrics }),
    traces,
    trustedProxies,
    ...(connectionsPerAddress === undefined ? {} : { connectionsPerAddress }),
    bodyLimitBytes: bodyMaxBytes.ingress,
    opensToPages: true,
    limits: { maxHeaderBytes: Math.max(...bounds.map((of) => of.maxHeaderBytes)) },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (_request: unknown, bytes: Buffer) => bytes,
  );
  const pools = {
    ingress: openPools(services.ingress),
    'query-api': openPools(services['query-api']),
  };
  const mcp = services.mcp === undefined ? null : openPools(services.mcp);
  app.addHook('onClose', async () => {
    for (const service of [pools.ingress, pools['query-api'], mcp]) await closePools(service);
  });
  const addressOf = clientAddressBy(trustedProxies);
  const groups = openSlots();
  const refused = metrics === undefined ? null : measureGateway(metrics, groups);
  const countsOf = (target: string) => (reason: Refusal) => refused?.add(1, { target, reason });
  const answered = new AnsweredPlaces();
  const shared = { addressOf, answered };
  for (const route of routes as readonly HttpRoute[]) {
    const { service } = route;
    const slots = slotsOf(route, groups);
    mount(app, route, {
      ...slots,
      ...shared,
      service: pools[service],
      onRefused: countsOf(service),
    });
  }
  if (mcp !== null) {
    const processSlots = new ClientConcurrencyLimit(slotLimits.process);
    mountMcp(app, { service: mcp, addressOf, processSlots, onRefused: countsOf('mcp') });
  }
  servePictures(app);
  let streams: ForwardedStreams | null = null;
  if (services.streams !== undefined) {
    const isTrusted = trustBy(trustedProxies);
    const { letLeave } = options;
    const streamOptions = { log, addressOf, isTrusted, connectionsPerAddress, letLeave };
    const opened = forwardStreams(app, listOf(services.streams), streamOptions);
    metrics?.gauge({ ...gatewayStreamReadings.streams, read: () => opened.size });
    streams = opened;
  }
  const forwarded = Object.entries({ ...pools, mcp, streams });
  const away = () => forwarded.flatMap(([name, service]) => (service?.isAway ? [name] : []));
  return Object.assign(app, { away });
}

/** Settings of the gateway. */
export interface GatewayOptions {
  readonly log?: Log;
  /** Counts requests and their durations when given; once per process. */
  readonly metrics?: Metrics;
  /** Takes the spans of requests; null or absent for none. */
  readonly traces?: Traces | null;
  /** Addresses and networks of proxies before it, whose `X-Forwarded-For` is used; default none. */
  readonly trustedProxies?: readonly string[];
  /** Open connections of one client's address, and as many streams; default that of every listener. */
  readonly connectionsPerAddress?: number;
  /** How streams end when it closes; default all at once. */
  readonly letLeave?: LetLeave;
}

/** The gateway, which does not listen yet. */
export type Gateway = HttpApp & {
  /** Services of which no process could be reached within the last second. */
  away(): readonly string[];
};

function openSlots(): SlotGroups {
  const slotsFor = (limits: SlotLimits): Slots => ({
    slots: new ClientConcurrencyLimit(limits),
    processSlots: new ClientConcurrencyLimit(slotLimits.process),
  });
  return {
    orders: slotsFor(slotLimits.ingress),
    reserve: slotsFor(slotLimits.ingress),
    reads: slotsFor(slotLimits.reads),
  };
}

/** The slots of requests of a route. */
function slotsOf(route: HttpRoute, { orders, reserve, reads }: SlotGroups): Slots {
  if (route.service === 'query-api') return reads;
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

function mount(app: HttpApp, route: HttpRoute, target: Target): void {
  const { tooLarge } = listenerBounds[route.service];
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
    bodyLimit: bodyMaxBytes.mcp,
    config: { tooLarge: listenerBounds.ingress.tooLarge },
    handler: (request, reply) => forward(request, reply, target),
  });
}
