import {
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { bodyMaxBytes } from '@pm/schemas/routes/route';

/** Whether a caller takes JSON and no stream of events: also one that takes anything, such as curl, or says nothing. */
export function takesJsonOnly(accept: string | undefined): boolean {
  if (accept === undefined) return true;
  return /\*\/\*|application\/(?:json|\*)/i.test(accept) && !/text\/event-stream/i.test(accept);
}

/** A request that is answered by one JSON text. */
export interface JsonExchange {
  readonly web: Request;
  readonly parsedBody: unknown;
  /** Makes the server that answers; it is closed with the answer. */
  readonly build: (web: Request) => McpServer;
}

/**
 * Answers a POST of the revisions before 2026-07-28 in JSON, for callers without streams of events; null for any other
 * request. The SDK refuses such callers with 406 in those revisions and answers them in JSON in the later one.
 * Notifications during a call are dropped, as they have no place in one JSON text.
 */
export async function answerInJson(exchange: JsonExchange): Promise<Response | null> {
  const { web, parsedBody, build } = exchange;
  const isOurs = web.method === 'POST' && parsedBody !== undefined;
  if (!isOurs || !(await isLegacyRequest(web, parsedBody))) return null;
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
    maxRequestBodySize: bodyMaxBytes.mcp,
  });
  const server = build(web);
  web.headers.set('accept', 'application/json, text/event-stream');
  web.signal.addEventListener('abort', () => void server.close(), { once: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(web, { parsedBody });
  } finally {
    await server.close();
  }
}
