import replyFrom from '@fastify/reply-from';
import { type Door, type HttpRoute, type RouteFamily, routes, urlsOf } from '@pm/schemas';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';

/** Larger than any body a door takes; the doors have limits of their own. */
const bodyLimitBytes = 1 << 20;

/** Longer than any bounded wait behind a door. */
const upstreamTimeoutMs = 30_000;

/** Connections to each door. */
const connectionsPerDoor = 64;

/**
 * One base URL in front of both doors, made from the route table: each method and path goes to the door that owns it,
 * at the root and under its mounts. Bytes pass through unread and unchanged, so signatures stay valid.
 */
export async function openGateway(doors: Readonly<Record<Door, string>>): Promise<FastifyInstance> {
  const app = fastify({ bodyLimit: bodyLimitBytes, exposeHeadRoutes: false });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  await app.register(replyFrom, {
    undici: {
      connections: connectionsPerDoor,
      pipelining: 1,
      headersTimeout: upstreamTimeoutMs,
      bodyTimeout: upstreamTimeoutMs,
    },
  });
  for (const route of routes) mount(app, route, doors[route.door]);
  // Any door answers these alike (`openToBrowsers`); the table has no rows for what no client asks for by itself.
  const preflight = { method: 'OPTIONS', url: '/api/v1/*' } as const;
  const behind = { doorUrl: doors.ingress, body: unreachable('gamma') };
  app.route({ ...preflight, handler: (request, reply) => forward(request, reply, behind) });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not found' }));
  return app;
}

function mount(app: FastifyInstance, route: HttpRoute, doorUrl: string): void {
  for (const { url, mount: words } of urlsOf(route)) {
    const body = unreachable(words ?? route.family);
    app.route({
      method: route.method,
      url,
      handler: (request, reply) => forward(request, reply, { doorUrl, body }),
    });
  }
}

/** The body of a 503 in the words of a family (docs/conventions.md 1.0). */
function unreachable(family: RouteFamily): object {
  const error = 'the service behind this route is not reachable';
  if (family === 'gamma') return { type: 'service unavailable', error };
  if (family === 'data') return { error: `unavailable: ${error}` };
  return { error, retry_after_seconds: 1 };
}

interface Behind {
  readonly doorUrl: string;
  /** What is said while the door does not answer. */
  readonly body: object;
}

function forward(
  request: FastifyRequest,
  reply: FastifyReply,
  { doorUrl, body }: Behind,
): FastifyReply {
  return reply.from(doorUrl + request.raw.url, {
    // Who is counted is who speaks to the gateway, whatever he says of himself.
    rewriteRequestHeaders: (_request, headers) => ({ ...headers, 'x-forwarded-for': request.ip }),
    // A 503 is for the client to see. Asking ten times more, as reply-from does, hides it and loads what is away.
    retryDelay: () => null,
    onError: (failed) => void failed.code(503).header('retry-after', '1').send(body),
  });
}
