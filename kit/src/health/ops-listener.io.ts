import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Fault } from '../fault/index.ts';
import { guardServer } from '../listener/before-routing.io.ts';
import type { Metrics } from '../metrics/index.ts';

/** Whether a process can do its work now, and otherwise the reasons (short names, e.g. `kafka`, `restoring:3`). */
export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

/** Whether a process can answer something now, and the parts that are away meanwhile (short names). */
export interface Serving {
  readonly serving: boolean;
  readonly reasons: readonly string[];
}

/** State of a process, for its operations port. */
export interface Health {
  /** Facts for people and for the stack command; JSON values only. */
  status(): object;
  /** Whether everything is well: for operators, and for what starts processes one after the other. */
  ready(): Readiness;
  /** Whether a balancer is to send it requests. */
  serving(): Serving;
}

export interface OpsListenerOptions {
  readonly host: string;
  /** TCP port; 0 chooses a free one. */
  readonly port: number;
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  readonly health: Health;
}

export interface OpsListener {
  /** The port it listens on. */
  readonly port: number;
  /** Stops listening and closes open connections. */
  close(): Promise<void>;
}

/** Scrapes and probes are few and short; more load is a mistake or an attack. */
const maxConnections = 64;
const requestTimeoutMs = 5_000;
const headersTimeoutMs = 2_000;
const keepAliveTimeoutMs = 5_000;

/**
 * Opens the operator's listener, separate from the public one: `GET /live` 200 as long as the event loop runs, `GET
 * /ready` and `GET /serving` 200 or 503 with reasons, `GET /metrics` for Prometheus, `GET /status` in JSON. Throws a
 * `Fault` `ops_port_unavailable` (stop) when it cannot listen.
 */
export async function openOpsListener(options: OpsListenerOptions): Promise<OpsListener> {
  const server = createServer({
    requestTimeout: requestTimeoutMs,
    headersTimeout: headersTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
  });
  server.maxConnections = maxConnections;
  server.on('request', (request, response) => void answer(options, request, response));
  guardServer(server);
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  return { port, close: () => closeServer(server) };
}

async function answer(
  options: OpsListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  request.resume();
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    sendJson(response, 405, { error: 'only GET' });
    return;
  }
  try {
    await answerPath(options, pathOf(request), response);
  } catch {
    // A status or gauge that throws must not end the listener; its message is not sent.
    sendJson(response, 500, { error: 'internal error' });
  }
}

/** Without the query and a slash at the end. */
function pathOf({ url = '/' }: IncomingMessage): string {
  const [path = '/'] = url.split('?', 1);
  return path.replace(/(.)\/$/, '$1');
}

async function answerPath(
  options: OpsListenerOptions,
  path: string,
  response: ServerResponse,
): Promise<void> {
  switch (path) {
    case '/live':
      sendJson(response, 200, { live: true });
      return;
    case '/ready': {
      const readiness = options.health.ready();
      sendJson(response, readiness.ready ? 200 : 503, readiness);
      return;
    }
    case '/serving': {
      const serving = options.health.serving();
      sendJson(response, serving.serving ? 200 : 503, serving);
      return;
    }
    case '/status':
      sendJson(response, 200, options.health.status());
      return;
    case '/metrics': {
      const text = await options.metrics.text();
      response.writeHead(200, { 'content-type': options.metrics.contentType }).end(text);
      return;
    }
    default:
      sendJson(response, 404, { error: 'not found' });
  }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  };
  response.writeHead(status, headers).end(JSON.stringify(body));
}

function listen(server: Server, { host, port }: OpsListenerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new Fault('ops_port_unavailable', 'stop', { facts: { host, port }, cause })),
    );
    server.listen(port, host, resolve);
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
