import {
  type ClientRequest,
  createServer,
  type IncomingHttpHeaders,
  request,
  type Server,
} from 'node:http';
import { loopback } from '@pm/deploy/local/ports';

/** A mount of the exchange as one of the three hosts that published clients know. */
export interface RenamedHost {
  readonly url: string;
  close(): Promise<void>;
}

/** A read that the exchange cannot serve for now is sent again, as often and after as long, milliseconds. */
const readAgain = { times: 120, afterMs: 250 };

/**
 * A proxy of one mount that renames the headers of another exchange (`POLY_ADDRESS` becomes `SERVICE_ADDRESS`). Nothing
 * else of a request or a response is changed, so signatures stay valid. Reads that are 503 are sent again: published
 * clients give up at once, and on a busy machine the newest records may be late.
 */
export async function openRenamedHost(baseUrl: string, mount: string): Promise<RenamedHost> {
  const target = new URL(baseUrl);
  const server = createServer((incoming, outgoing) => {
    const { method, url } = incoming;
    const headers = renamed(incoming.headers, target.host);
    const onward = { host: target.hostname, port: target.port, method, path: mount + url, headers };
    const send = (left: number): ClientRequest => {
      const sent = request(onward);
      sent.on('response', (answer) => {
        if (method === 'GET' && answer.statusCode === 503 && left > 0) {
          answer.resume();
          setTimeout(() => send(left - 1).end(), readAgain.afterMs);
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      sent.on('error', () => outgoing.writeHead(502).end());
      return sent;
    };
    incoming.pipe(send(readAgain.times));
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
