import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { type HttpApp, refuseUpgrade } from '@pm/kit/http';
import type { Log } from '@pm/kit/log';
import { isStreamPath } from '@pm/schemas';

/** The stream service answers an upgrade at once, or not at all; milliseconds. */
const upgradeTimeoutMs = 5_000;
/** A connection without a byte in both directions: heartbeats come each second. */
const silenceMs = 90_000;
/** Upgraded connections at the same time. */
const streamsMax = 20_000;

/**
 * Forwards upgrades of the stream paths to the stream service: the request with the address of its connection, then
 * bytes in both directions as they come. Either side ends the other one. Call it before the app listens.
 */
export function forwardStreams(app: HttpApp, serviceUrl: string, log: Log): void {
  const open = new Set<Duplex>();
  app.server.on('upgrade', (request, client, head) => {
    client.on('error', () => client.destroy());
    if (!isStreamPath((request.url ?? '').split('?', 1)[0] ?? '')) {
      refuseUpgrade(client, 404, 'not found');
      return;
    }
    if (open.size >= streamsMax) {
      refuseUpgrade(client, 503, 'too many connections');
      return;
    }
    open.add(client);
    client.on('close', () => open.delete(client));
    forwardUpgrade(request, { client, head }, { serviceUrl, log });
  });
  app.addHook('preClose', async () => {
    for (const client of open) client.destroy();
  });
}

function forwardUpgrade(
  request: IncomingMessage,
  { client, head }: { readonly client: Duplex; readonly head: Buffer },
  { serviceUrl, log }: { readonly serviceUrl: string; readonly log: Log },
): void {
  const sent = send(request, serviceUrl);
  const giveUp = () => {
    sent.destroy();
    refuseUpgrade(client, 503, 'the stream service is not reachable');
  };
  client.on('close', () => sent.destroy());
  sent.setTimeout(upgradeTimeoutMs, giveUp);
  sent.on('error', (error) => {
    log.debug({ err: error }, 'an upgrade was not forwarded');
    giveUp();
  });
  sent.on('response', (response) => {
    // The service has refused the upgrade: its response, then the end.
    client.write(headOf(response));
    response.on('error', () => client.destroy());
    response.pipe(client);
  });
  sent.on('upgrade', (response, service, serviceHead) => {
    sent.setTimeout(0);
    client.write(headOf(response));
    if (serviceHead.length > 0) client.write(serviceHead);
    if (head.length > 0) service.write(head);
    join(client, service);
  });
  sent.end();
}

function send(request: IncomingMessage, serviceUrl: string): ClientRequest {
  const { hostname, port } = new URL(serviceUrl);
  return openRequest({
    hostname,
    port,
    path: request.url ?? '/',
    method: 'GET',
    agent: false,
    headers: {
      ...request.headers,
      // The caller is the address of the connection, independent of its own headers.
      'x-forwarded-for': request.socket.remoteAddress ?? '',
    },
  });
}

/** The head of a response as it came. */
function headOf({ statusCode = 502, statusMessage = '', rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function join(client: Duplex, service: Duplex): void {
  for (const [from, to] of [
    [client, service],
    [service, client],
  ] as const) {
    if ('setTimeout' in from && typeof from.setTimeout === 'function') {
      from.setTimeout(silenceMs, () => from.destroy());
    }
    if ('setNoDelay' in from && typeof from.setNoDelay === 'function') from.setNoDelay(true);
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}
