import type { IncomingHttpHeaders } from 'node:http';
import {
  doorBounds,
  familyOf,
  type HttpApp,
  inWordsOf,
  openHttp,
  openToBrowsers,
  originForm,
} from '@pm/kit/http';
import { type Log, silentLog } from '@pm/kit/log';
import { type Door, type HttpRoute, routes, urlsOf } from '@pm/schemas';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Dispatcher, Pool } from 'undici';

/** Longer than any bounded wait behind a door. */
const doorTimeoutMs = 30_000;

/** Connections to each door. */
const connectionsPerDoor = 64;

/**
 * One base URL in front of both doors, made from the route table: each method and path goes to the door that owns it,
 * at the root and under its mounts. Target and body arrive there byte for byte, so signatures stay valid. A body is taken whole
 * before its door is asked: neither how slowly a client sends it nor what the door answers early concerns the other side.
 */
export function openGateway(doors: Readonly<Record<Door, string>>, log: Log = silentLog): HttpApp {
  const bounds = Object.values(doorBounds);
  const app = openHttp({
    log,
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
  const pools = { ingress: openPool(doors.ingress), 'query-api': openPool(doors['query-api']) };
  app.addHook('onClose', async () => {
    for (const pool of Object.values(pools)) await pool.destroy();
  });
  for (const route of routes) mount(app, route, pools[route.door]);
  return app;
}

function openPool(doorUrl: string): Pool {
  return new Pool(doorUrl, {
    connections: connectionsPerDoor,
    pipelining: 1,
    headersTimeout: doorTimeoutMs,
    bodyTimeout: doorTimeoutMs,
  });
}

function mount(app: HttpApp, route: HttpRoute, door: Pool): void {
  const { tooLarge } = doorBounds[route.door];
  for (const { url } of urlsOf(route)) {
    app.route({
      method: route.method,
      url,
      config: { tooLarge },
      handler: (request, reply) => forward(request, reply, door),
    });
  }
}

async function forward(
  request: FastifyRequest,
  reply: FastifyReply,
  door: Pool,
): Promise<FastifyReply> {
  const answer = await ask(request, door).catch(() => null);
  if (answer === null) return await sayUnreachable(request, reply);
  const { statusCode, headers, body } = answer;
  return await reply.code(statusCode).headers(endToEnd(headers)).send(body);
}

/** Gives the answer once its headers are there; rejects when there is none. */
function ask(request: FastifyRequest, door: Pool): Promise<Dispatcher.ResponseData> {
  const { method, url, headers, ip, id, body } = request;
  return door.request({
    method: method as Dispatcher.HttpMethod,
    path: originForm(url),
    headers: {
      ...endToEnd(headers, ['host', 'expect', 'content-length']),
      // Who is counted is who speaks to the gateway, whatever he says of himself.
      'x-forwarded-for': ip,
      'x-request-id': id,
    },
    body: Buffer.isBuffer(body) ? body : null,
  });
}

/** What concerns one connection and not the message (RFC 9110 7.6.1), besides all that begin with `proxy-`. */
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

/** A 503 in the words of the family (conventions.md 1.0). Nothing is asked twice: a 503 is for the client to see. */
function sayUnreachable(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const family = familyOf(request);
  const error = 'the service behind this route is not reachable';
  const wait = family === 'clob' ? { retry_after_seconds: 1 } : {};
  return reply
    .code(503)
    .header('retry-after', '1')
    .send(inWordsOf(family, 503, { error, ...wait }));
}
