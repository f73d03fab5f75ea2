import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { loopback } from '@pm/deploy/local/ports';
import { routes } from '@pm/schemas/routes/routes';

/** A mount of the exchange as one of the three hosts that published clients know. */
export interface RenamedHost {
  readonly url: string;
  close(): Promise<void>;
}

/** A read that the exchange cannot serve for now is sent again, as often and after as long, milliseconds. */
const readAgain = { times: 120, afterMs: 250 };

/** Paths of the reads that are sent by POST. */
const postedReads: ReadonlySet<string> = new Set(
  routes.flatMap(({ method, path, service }) =>
    method === 'POST' && service === 'query-api' ? [path] : [],
  ),
);

/** A request as it goes to the exchange. */
interface Onward {
  readonly host: string;
  readonly port: string;
  readonly method: string;
  readonly path: string;
  readonly headers: NodeJS.Dict<string | string[]>;
}

/**
 * A proxy of one mount that renames the headers of another exchange (`POLY_ADDRESS` becomes `SERVICE_ADDRESS`). Nothing
 * else of a request or a response is changed, so signatures stay valid. Reads that are 503 are sent again, those by
 * POST too: published clients give up at once, and on a busy machine the newest records may be late.
 */
export async function openRenamedHost(baseUrl: string, mount: string): Promise<RenamedHost> {
  const target = new URL(baseUrl);
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/' } = incoming;
    const headers = renamed(incoming.headers, target.host);
    const onward = { host: target.hostname, port: target.port, method, path: mount + url, headers };
    const again = isRead(method, url) ? readAgain.times : 0;
    buffer(incoming).then(
      (body) => pass({ onward, body, outgoing }, again),
      () => outgoing.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, loopback, resolve));
  return { url: `http://${loopback}:${portOf(server)}`, close: () => closed(server) };
}

function isRead(method: string, url: string): boolean {
  const [path = '/'] = url.split('?', 1);
  return method === 'GET' || (method === 'POST' && postedReads.has(path));
}

interface Passed {
  readonly onward: Onward;
  readonly body: Buffer;
  readonly outgoing: ServerResponse;
}

/** Sends a request, and again `left` times at most while it is 503 and the client waits. */
function pass({ onward, body, outgoing }: Passed, left: number): void {
  if (outgoing.destroyed) return;
  const sent = request(onward);
  sent.on('response', (answer: IncomingMessage) => {
    if (answer.statusCode === 503 && left > 0) {
      answer.resume();
      setTimeout(() => pass({ onward, body, outgoing }, left - 1), readAgain.afterMs);
      return;
    }
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  sent.on('error', () => {
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(502).end();
  });
  sent.end(body);
}

function renamed(headers: IncomingHttpHeaders, host: string): NodeJS.Dict<string | string[]> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name.replace(/^(poly|kuest)_/, 'service_'),
    value,
  ]);
  return { ...Object.fromEntries(entries), host };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return address.port;
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
