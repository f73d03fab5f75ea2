import type { IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ClientAddress, defaultHttpLimits, type HttpApp, Shares } from '@pm/kit/http';
import type { Lifecycle } from '@pm/kit/lifecycle';
import { endSocket, refuseUpgrade, takeUpgrades } from '@pm/kit/listener';
import type { Log } from '@pm/kit/log';
import { isStreamPath } from '@pm/schemas/streams/channels';
import { ClientStream, restarting } from './client-stream.ts';
import { type ServiceProcess, ServiceProcesses } from './service-processes.ts';

/** The stream service answers an upgrade at once, or not at all; milliseconds. */
const upgradeTimeoutMs = 5_000;
/** A connection without a byte in both directions: heartbeats come each second. */
const silenceMs = 90_000;
/**
 * Open streams (limits.md). An address has more at each process of the stream service than that takes, so that the
 * service refuses first and names the limit.
 */
export const streamShares = {
  ofEach: defaultHttpLimits.connections.perAddress,
  inAll: 20_000,
} as const;

const forwardedFor = 'x-forwarded-for';

interface StreamOptions {
  readonly log: Log;
  readonly addressOf: ClientAddress;
  /** Proxies that hide the addresses of their clients: their streams count in all only. */
  readonly isTrusted: (address: string) => boolean;
  /** Upgraded connections of one client's address at each process; default that of `streamShares`. */
  readonly connectionsPerAddress?: number | undefined;
  readonly letLeave?: LetLeave | undefined;
}

/** The streams that are open, and whether no process of their service could be reached. */
export interface ForwardedStreams {
  readonly size: number;
  readonly isAway: boolean;
}

/** Ends streams when the gateway closes, each by its function; all at once without it. */
export type LetLeave = Lifecycle['letLeave'];

/**
 * Forwards upgrades of the stream paths to the stream service: the request with the address of its client, then
 * bytes in both directions as they come. Either side ends the other one. Of several processes that with the fewest
 * connections gets the next one. Call it before the app listens. Returns the number of connections that are open.
 */
export function forwardStreams(
  app: HttpApp,
  serviceUrls: readonly string[],
  options: StreamOptions,
): ForwardedStreams {
  const { log, addressOf, isTrusted, connectionsPerAddress = streamShares.ofEach } = options;
  const open = new Set<ClientStream>();
  let isClosing = false;
  const ofEach = connectionsPerAddress * serviceUrls.length;
  const shares = new Shares({ ...streamShares, ofEach });
  const service = new ServiceProcesses(serviceUrls, (): Connections => ({ open: 0 }));
  takeUpgrades(app.server, (request, client, head) => {
    if (!isStreamPath((request.url ?? '').split('?', 1)[0] ?? '')) {
      refuseUpgrade(client, { status: 404, error: 'not found' });
      return;
    }
    if (isClosing) {
      refuseUpgrade(client, restarting);
      return;
    }
    const address = addressOf(request);
    const holder = isTrusted(address) ? null : app.countedAddress(request);
    if (open.size >= streamShares.inAll || (holder !== null && !shares.take(holder, 1))) {
      refuseUpgrade(client, { status: 503, error: 'too many connections' });
      return;
    }
    if (client instanceof Socket) app.upgraded(client);
    const stream = new ClientStream(client);
    open.add(stream);
    client.on('close', () => {
      open.delete(stream);
      if (holder !== null) shares.giveBack(holder, 1);
    });
    const lines = headOf(request, address);
    const processes = service.inOrder(({ connection }) => -connection.open);
    forwardUpgrade({ stream, head, lines }, { service, log }, processes);
  });
  // The app accepts no connection once this hook is over, and has closed when the last stream has ended.
  app.addHook('preClose', async () => {
    isClosing = true;
    const leaving = [...open].map((stream) => () => stream.leave());
    if (options.letLeave !== undefined) void options.letLeave(leaving);
    else for (const leave of leaving) leave();
  });
  return {
    get size() {
      return open.size;
    },
    get isAway() {
      return service.isAway;
    },
  };
}

/** Bytes of a service as they are read; each read is copied before the next one. */
const received = Buffer.allocUnsafe(64 * 1024);

/** Beginning of the response that accepts an upgrade; any other one is forwarded and ends the connection. */
const accepted = Buffer.from('HTTP/1.1 101 ');

/** The upgraded connections of one process. */
interface Connections {
  open: number;
}

interface Service {
  readonly service: ServiceProcesses<Connections>;
  readonly log: Log;
}

/** A client that asks for an upgrade, and the lines that the service gets for it. */
interface Upgrade {
  readonly stream: ClientStream;
  /** Its bytes after the request. */
  readonly head: Buffer;
  readonly lines: string;
}

/**
 * The bytes of the service are read into one buffer that all connections share, as thousands of connections get a
 * message each at the same moment, and orders wait for it. Until the service has accepted the upgrade nothing of the
 * client is sent after its request: it would reach the service as a request of its own. A process that cannot be
 * reached has got nothing, so the next one gets the request.
 */
function forwardUpgrade(
  upgrade: Upgrade,
  parts: Service,
  [process, ...others]: readonly ServiceProcess<Connections>[],
): void {
  const { stream, head, lines } = upgrade;
  const client = stream.socket;
  if (process === undefined) {
    refuseUpgrade(client, { status: 503, error: 'the stream service is not reachable' });
    return;
  }
  const { connection, url } = process;
  const { hostname: host, port } = new URL(url);
  let isReached = false;
  let isAnswered = false;
  const take = (count: number): boolean => {
    const bytes = Buffer.from(received.subarray(0, count));
    if (!isAnswered) {
      isAnswered = true;
      if (bytes.subarray(0, accepted.length).equals(accepted)) {
        stream.joined();
        join(client, service, head);
      }
    }
    return stream.write(bytes);
  };
  const onread = { buffer: received, callback: take };
  const service = connect({ host, port: Number(port), noDelay: true, onread });
  connection.open += 1;
  service.on('connect', () => {
    isReached = true;
  });
  // The parser decodes heads byte by byte.
  service.write(lines, 'latin1');
  service.setTimeout(upgradeTimeoutMs, () => service.destroy());
  service.on('error', (error) => parts.log.debug({ err: error }, 'a connection to a stream ended'));
  service.on('end', () => client.end());
  service.on('close', () => {
    connection.open -= 1;
    // Bytes that were read from the service are still being written to the client.
    if (isAnswered) endSocket(client);
    else {
      // A client that went away says nothing about the process.
      if (!client.destroyed) parts.service.rest(process);
      forwardUpgrade(upgrade, parts, isReached || client.destroyed ? [] : others);
    }
  });
  timeOut(client);
  client.on('drain', () => service.resume());
  client.on('close', () => service.destroy());
}

function timeOut(client: Duplex): void {
  if (!(client instanceof Socket)) return;
  client.setNoDelay(true);
  client.setTimeout(silenceMs, () => client.destroy());
}

/** The request as it came, with the address of its client instead of what it says itself. */
function headOf(
  { method = 'GET', url = '/', rawHeaders }: IncomingMessage,
  address: string,
): string {
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.toLowerCase() !== forwardedFor) lines.push(`${name}: ${rawHeaders[index + 1]}`);
  }
  lines.push(`${forwardedFor}: ${address}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** After the upgrade: bytes in both directions. */
function join(client: Duplex, service: Socket, head: Buffer): void {
  service.setTimeout(silenceMs, () => service.destroy());
  if (head.length > 0) service.write(head);
  client.pipe(service);
}
