import {
  createMcpHandler,
  type McpHttpHandler,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { type HttpApp, Shares } from '@pm/kit/http';
import type { Log } from '@pm/kit/log';
import { bodyMaxBytes } from '@pm/schemas/routes/route';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServerFactory } from '../server/build-server.io.ts';
import { callerOf } from './caller.ts';
import { openHttpSession } from './http-session.io.ts';
import { answerInJson, type JsonExchange, takesJsonOnly } from './json-answer.io.ts';
import { keepAliveMs, requestsAtOnce, subscriptionsMax } from './limits.ts';

export interface McpRouteOptions {
  /** Where the exchange is. */
  readonly exchangeUrl: string;
  /** Host names whose pages may call; a request without `Origin` is not from a page. */
  readonly origins: readonly string[];
  readonly log: Log;
}

/** Number of running requests of `/mcp`, and the end of the route. */
export interface McpRoute {
  readonly running: () => number;
  close(): Promise<void>;
}

const methods = ['GET', 'POST', 'DELETE'] as const;

/** Names of the header by which `handle` passes the address of the caller to the factory of servers. */
const addressHeader = 'x-caller-address';

/**
 * `/mcp`: Streamable HTTP of the revisions that the SDK serves. Nothing is kept between requests, so that any process
 * can serve any of them and no session has to be limited.
 */
export function addMcpRoute(app: HttpApp, options: McpRouteOptions): McpRoute {
  const servers = new ServerFactory(options.log);
  const build = (web: Request | undefined) => {
    const headers = Object.fromEntries(web?.headers ?? []);
    const caller = callerOf(headers) ?? { agentKey: null, reader: null };
    const address = headers[addressHeader] ?? '';
    return servers.build(openHttpSession(options.exchangeUrl, caller, address));
  };
  const handler = createMcpHandler(({ requestInfo }) => build(requestInfo), {
    keepAliveMs,
    maxSubscriptions: subscriptionsMax,
    maxRequestBodySize: bodyMaxBytes.mcp,
    onerror: (error) => options.log.warn({ err: error }, 'mcp request refused'),
  });
  const running = new Shares(requestsAtOnce);
  app.route({
    method: [...methods],
    url: '/mcp',
    // A response of GET is a stream: there is nothing that HEAD could say of it.
    exposeHeadRoute: false,
    bodyLimit: bodyMaxBytes.mcp,
    handler: async (request, reply) => {
      const address = app.countedAddress(request.raw);
      if (!running.take(address, 1)) return await refuseBusy(reply);
      reply.raw.once('close', () => running.giveBack(address, 1));
      return await handle(request, reply, { handler, build, origins: options.origins });
    },
  });
  return { running: () => running.all, close: () => handler.close() };
}

function refuseBusy(reply: FastifyReply): FastifyReply {
  return reply.code(503).header('retry-after', '1').send({ error: 'too many requests at a time' });
}

/** How requests are answered. */
interface Answering extends Pick<JsonExchange, 'build'> {
  readonly handler: McpHttpHandler;
  readonly origins: readonly string[];
}

async function handle(
  request: FastifyRequest,
  reply: FastifyReply,
  { handler, build, origins }: Answering,
): Promise<FastifyReply> {
  const web = webRequest(request, reply);
  const refused = originValidationResponse(web, [...origins]);
  if (refused !== undefined) return await reply.send(refused);
  if (callerOf(request.headers) === null) {
    const error = 'Authorization takes an agent key: Bearer pro_...';
    return await reply.code(401).header('www-authenticate', 'Bearer').send({ error });
  }
  const { body } = request;
  if (takesJsonOnly(request.headers.accept)) {
    const answer = await answerInJson({ web, parsedBody: body, build });
    if (answer !== null) return await reply.send(answer);
  }
  return await reply.send(await handler.fetch(web, body === undefined ? {} : { parsedBody: body }));
}

/** The request in the form of the SDK; it is aborted when the caller goes away. */
function webRequest(request: FastifyRequest, reply: FastifyReply): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, String(value));
  }
  headers.set(addressHeader, request.ip);
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return new Request(`http://${request.host || 'localhost'}${request.url}`, {
    method: request.method,
    headers,
    signal: gone.signal,
    ...(request.method === 'POST' ? { body: new Uint8Array(request.rawBody) } : {}),
  });
}
