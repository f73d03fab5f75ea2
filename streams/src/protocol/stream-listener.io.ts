import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '@pm/kit/clock';
import { Fault } from '@pm/kit/fault';
import {
  type ClientAddress,
  ConnectionShares,
  countedAddressBy,
  defaultHttpLimits,
  type ShedReason,
} from '@pm/kit/http';
import { guardServer, refuseUpgrade, takeUpgrades } from '@pm/kit/listener';
import type { Log } from '@pm/kit/log';
import { streamDescription } from '@pm/kit/openapi';
import { streamOf } from '@pm/schemas/streams/channels';
import { type StreamCloseName, streamCloses } from '@pm/schemas/streams/codes';
import { streamLimits } from '@pm/schemas/streams/limits';
import { WebSocketServer } from 'ws';
import type { ConnectionCounts } from './connection-counts.ts';
import { type StreamSocket, StreamSockets } from './stream-socket.io.ts';

/** Takes an opened socket of a path. The address is counted; whoever takes the socket ends that at its close. */
export type TakeSocket = (socket: StreamSocket, address: string, path: string) => void;

export interface ListenerParts {
  readonly trustedProxies: readonly string[];
  /** Open connections of one client's address before they are upgraded. */
  readonly connectionsPerAddress?: number;
  readonly counts: ConnectionCounts;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Log;
  /** Compresses messages (`permessage-deflate`); costs memory and time for each connection. */
  readonly compresses: boolean;
  /** By path; a path without one is not found. */
  readonly take: Readonly<Record<'own' | 'family', TakeSocket | null>>;
  /** A connection beyond the limits of its address is closed at once. */
  onRefused(reason: StreamCloseName): void;
  /** A connection was ended by what its client holds. */
  readonly onShed?: (reason: ShedReason) => void;
}

/** All open connections of the process; further ones are closed at once. */
const connectionsMax = 20_000;
const headersTimeoutMs = 5_000;
const requestTimeoutMs = 10_000;
/** A refused connection is cut off after this: it counts for no limit of its address. */
const refusedForMs = 1_000;
const maxHeaderBytes = 16 * 1024;
/**
 * Fragments of a message, and pieces in which an unfinished frame comes. Each costs hundreds of bytes beside its own,
 * and a fragment keeps what came with it.
 */
const fragmentsMax = 4;
const piecesMax = 64;

/** The public listener of the stream service: upgrades to WebSocket, and a document for requests without one. */
export class StreamListener {
  readonly #parts: ListenerParts;
  readonly #server: Server;
  readonly #opened = new StreamSockets();
  readonly #sockets: WebSocketServer;
  readonly #addressOf: ClientAddress;
  readonly #shares: ConnectionShares;
  /** Resolves when it has closed; null while it listens. */
  #closed: Promise<void> | null = null;

  constructor(parts: ListenerParts) {
    this.#parts = parts;
    this.#addressOf = countedAddressBy(parts.trustedProxies);
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: streamLimits.frame_bytes,
      maxFragments: fragmentsMax,
      maxBufferedChunks: piecesMax,
      perMessageDeflate: parts.compresses,
      clientTracking: false,
      // Pings count as frames: the reader answers them.
      autoPong: false,
    });
    const headers = { 'sec-websocket-version': '13' };
    this.#sockets.on('wsClientError', ({ message: error }, socket) =>
      refuseUpgrade(socket, { status: 400, error, headers }),
    );
    this.#server = createServer({
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      maxHeaderSize: maxHeaderBytes,
      keepAliveTimeout: defaultHttpLimits.keepAliveTimeoutMs,
    });
    const { trustedProxies, onShed, connectionsPerAddress: perAddress } = parts;
    this.#shares = new ConnectionShares({ trustedProxies, onShed, perAddress });
    this.#shares.watch(this.#server);
    this.#server.maxConnections = connectionsMax;
    this.#server.on('request', (request, response) => answer(request, response));
    guardServer(this.#server);
    takeUpgrades(this.#server, (request, socket, head) => this.#upgrade(request, socket, head));
    this.#server.on('clientError', (_error, socket) => socket.destroy());
  }

  /** Resolves with the port. Throws a `Fault` `stream_port_unavailable` (stop) when it cannot listen. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', (cause) =>
        reject(new Fault('stream_port_unavailable', 'stop', { facts: { host, port }, cause })),
      );
      this.#server.listen(port, host, () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  /** Takes no further connections. */
  refuse(): void {
    this.#closed ??= new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  /** Takes no further connections and ends those that are left. */
  async close(): Promise<void> {
    this.refuse();
    this.#server.closeAllConnections();
    await this.#closed;
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const path = pathOf(request);
    const stream = streamOf(path);
    const take = this.#parts.take[stream === 'own' ? 'own' : 'family'];
    if (stream === null || take === null) {
      refuseUpgrade(socket, { status: 404, error: 'not found' });
      return;
    }
    const address = this.#addressOf(request);
    this.#sockets.handleUpgrade(request, socket, head, (opened) => {
      const { counts, clock } = this.#parts;
      if (socket instanceof Socket) this.#shares.upgraded(socket);
      if (counts.open(address, clock.monotonicMs())) {
        take(this.#opened.open(opened, socket), address, path);
        return;
      }
      this.#parts.onRefused('tooManyConnections');
      const { code, reason } = streamCloses.tooManyConnections;
      opened.on('error', () => opened.terminate());
      opened.send(JSON.stringify({ type: 'closing', code, reason, resume: [] }));
      opened.close(code, reason);
      setTimeout(() => opened.terminate(), refusedForMs).unref();
    });
  }
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '/';
}

/** Requests without an upgrade: the channels as a document, or that an upgrade is needed. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  const stream = streamOf(pathOf(request));
  if (stream === 'own' && request.method === 'GET') {
    sendJson(response, 200, streamDescription());
    return;
  }
  if (stream === null) {
    sendJson(response, 404, { error: 'not found' });
    return;
  }
  response.setHeader('upgrade', 'websocket');
  sendJson(response, 426, { error: 'this path is a WebSocket' });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
}
