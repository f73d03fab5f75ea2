import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import { loopback } from '@pm/deploy/local/ports';

/** A mount of the exchange as one of the three hosts that published clients know. */
export interface RenamedHost {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A proxy of one mount that renames the headers of another exchange (`POLY_ADDRESS` becomes `SERVICE_ADDRESS`). Nothing
 * else of a request or a response is changed, so signatures stay valid.
 */
export async function openRenamedHost(baseUrl: string, mount: string): Promise<RenamedHost> {
  const target = new URL(baseUrl);
  const server = createServer((incoming, outgoing) => {
    const onward = request({
      host: target.hostname,
      port: target.port,
      method: incoming.method,
      path: mount + incoming.url,
      headers: renamed(incoming.headers, target.host),
    });
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.writeHead(502).end());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, loopback, resolve));
  return { url: `http://${loopback}:${portOf(server)}`, close: () => closed(server) };
}

function renamed(headers: IncomingHttpHeaders, host: string): IncomingHttpHeaders {
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
