import { readFileSync } from 'node:fs';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import type { Certificates } from './certificates.ts';

export interface TlsFront {
  /** https://127.0.0.1:port */
  readonly url: string;
  close(): Promise<void>;
}

/** Status of a refusal; null lets a request through, and a name lets it through as the one of that user. */
export type Judge = (request: IncomingMessage) => number | string | null;

/** TLS in front of an engine that has none: the same requests go on to it, those that `judge` lets through. */
export async function openTlsFront(
  target: string,
  certificates: Certificates,
  judge: Judge = () => null,
): Promise<TlsFront> {
  const key = readFileSync(certificates.keyFile);
  const cert = readFileSync(certificates.certFile);
  const server = createServer({ key, cert }, (incoming, response) => {
    const judged = judge(incoming);
    if (typeof judged !== 'number')
      forward(incoming, response, headersAs(judged, incoming), target);
    else response.writeHead(judged, { connection: 'close' }).end('{"message":"refused"}');
  });
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}

function headersAs(user: string | null, { headers }: IncomingMessage): IncomingHttpHeaders {
  const { host: _, ...passed } = headers;
  if (user === null) return passed;
  const { authorization: _given, 'x-clickhouse-key': _key, ...others } = passed;
  return { ...others, 'x-clickhouse-user': user };
}

function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  headers: IncomingHttpHeaders,
  target: string,
): void {
  const { hostname, port } = new URL(target);
  const passed = request(
    { hostname, port, method: incoming.method, path: incoming.url, headers },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      // An engine that ends in the middle of its answer ends this one: its caller would wait for the rest.
      pipeline(answer, response, () => undefined);
    },
  );
  passed.on('error', () => response.destroy());
  // The caller was killed: the engine would wait for the rest of its request, and others for the engine.
  response.once('close', () => {
    if (!response.writableFinished) passed.destroy();
  });
  incoming.pipe(passed);
}

/** User and password of a request, by Basic authentication or as clients of ClickHouse name them; empty without any. */
export function callerOf({ headers }: IncomingMessage): { user: string; password: string } {
  const basic = /^Basic (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  const [user = '', password = ''] = Buffer.from(basic, 'base64').toString('utf8').split(':');
  return {
    user: String(headers['x-clickhouse-user'] ?? user),
    password: String(headers['x-clickhouse-key'] ?? password),
  };
}
