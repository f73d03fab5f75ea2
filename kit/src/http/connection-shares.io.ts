import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { trustBy } from './client-address.io.ts';
import { responseOf } from './closing.io.ts';
import { countedAddress } from './counted-address.ts';
import { type ConnectionLimits, defaultHttpLimits, evictFrom } from './listener-bounds.ts';
import { OpeningRates, openingLimitOf } from './opening-rates.ts';

/** Why a connection was ended, or a request was refused, by what its client has already. */
export type ShedReason = 'address' | 'rate' | 'all' | 'idle' | 'unread' | 'body';

export interface ConnectionSharesOptions {
  /** Default those of every listener. */
  readonly limits?: ConnectionLimits;
  /** Connections of one address, in place of the number in `limits` (`PM_CONNECTIONS_PER_ADDRESS`). */
  readonly perAddress?: number | undefined;
  /** Their connections are those of many clients: they count in all only, and bound their clients themselves. */
  readonly trustedProxies: readonly string[];
  readonly onShed?: ((reason: ShedReason) => void) | undefined;
}

/** An address with connections. */
interface Holder {
  readonly address: string;
  readonly sockets: Set<Socket>;
}

/**
 * Bounds the connections of a listener by what they hold: each address has a share of them, and opens twice as many
 * at once and as many again in `renewMs`, so that no client shuts out the others by holding connections or by opening
 * them; a client that takes nothing of its response for `stallMs` is cut off. For one beyond the share of its address
 * a connection of that address makes room, and when most are in use one of the address with the most: an idle one or,
 * when all are in use, one on which no whole head of a request waits for its response. So a program that asks nothing,
 * and opens connections no faster than its address may, keeps no other client of its address out. An upgraded
 * connection is bounded by what upgraded it, and counts here no more.
 *
 *   accept --- faster than its address may open them ---------------------> ended
 *     |    \-- beyond its share or all, and none makes room --------------> ended
 *     |
 *   counted -- makes room ------------------------------------------------> ended
 *     |    \-- `stallMs` without a byte while bytes wait for the client ---> ended
 *     |    \-- idle between requests for longer than keep-alive -----------> ended
 *   upgraded or closed: counted no more
 */
export class ConnectionShares {
  readonly #limits: ConnectionLimits;
  readonly #onShed: (reason: ShedReason) => void;
  readonly #isTrusted: (address: string) => boolean;
  readonly #byAddress = new Map<string, Holder>();
  readonly #rates: OpeningRates;
  /** Null for connections of trusted proxies. */
  readonly #holders = new Map<Socket, Holder | null>();

  constructor({
    limits = defaultHttpLimits.connections,
    perAddress = limits.perAddress,
    trustedProxies,
    onShed = () => {},
  }: ConnectionSharesOptions) {
    this.#limits = { ...limits, perAddress };
    this.#rates = new OpeningRates(openingLimitOf(this.#limits));
    this.#onShed = onShed;
    this.#isTrusted = trustBy(trustedProxies);
  }

  /** Connections that are counted. */
  get size(): number {
    return this.#holders.size;
  }

  /** The connections that are counted. */
  sockets(): Iterable<Socket> {
    return this.#holders.keys();
  }

  /** Bounds the connections of a server that does not listen yet, whose keep-alive is longer than `stallMs`. */
  watch(server: Server): void {
    const { stallMs } = this.#limits;
    if (server.keepAliveTimeout <= stallMs) throw new RangeError('keep-alive shorter than a stall');
    server.timeout = stallMs;
    server.on('connection', (socket: Socket) => this.#accept(socket));
    server.on('timeout', (socket: Socket) => this.#timedOut(socket));
  }

  /** The connection is no HTTP connection any more. */
  upgraded(socket: Socket): void {
    this.#forget(socket);
  }

  #accept(socket: Socket): void {
    const { perAddress, inAll } = this.#limits;
    const address = this.#countedOf(socket.remoteAddress ?? '');
    if (address !== null && !this.#rates.take(address, performance.now())) {
      this.#end(socket, 'rate');
      return;
    }
    if (this.size >= inAll * evictFrom) this.#makeRoom(this.#greediest(), this.size >= inAll);
    if (this.size >= inAll) {
      this.#end(socket, 'all');
      return;
    }
    const holder = address === null ? null : this.#holderOf(address);
    if (holder !== null) {
      if (holder.sockets.size >= perAddress && !this.#makeRoom(holder.sockets, true)) {
        this.#end(socket, 'address');
        return;
      }
      holder.sockets.add(socket);
      // Also where the one that made room was the last one of its holder.
      this.#byAddress.set(holder.address, holder);
    }
    this.#holders.set(socket, holder);
    socket.once('close', () => this.#forget(socket));
  }

  /** Null for a trusted proxy, whose connections are those of many clients. */
  #countedOf(from: string): string | null {
    return this.#isTrusted(from) ? null : countedAddress(from);
  }

  #holderOf(address: string): Holder {
    return this.#byAddress.get(address) ?? { address, sockets: new Set() };
  }

  /** The connections of the address with the most. */
  #greediest(): ReadonlySet<Socket> {
    let greediest: ReadonlySet<Socket> = new Set();
    for (const { sockets } of this.#byAddress.values())
      if (sockets.size > greediest.size) greediest = sockets;
    return greediest;
  }

  /** Ends the oldest of these connections that is idle, else, if it is full, the oldest that is not answering. */
  #makeRoom(sockets: ReadonlySet<Socket>, isFull: boolean): boolean {
    const socket =
      firstOf(sockets, (each) => this.#isIdle(each)) ??
      (isFull ? firstOf(sockets, (each) => !isAnswering(each)) : undefined);
    if (socket === undefined) return false;
    this.#forget(socket);
    this.#end(socket, 'idle');
    return true;
  }

  /**
   * Node sets the timeout of a connection without a request to that of keep-alive, and back at the next request. A
   * connection that was just opened has the one of requests: it must send one within the limit of its headers.
   */
  #isIdle(socket: Socket): boolean {
    return (socket.timeout ?? 0) > this.#limits.stallMs;
  }

  /** Node calls it when no byte has come or gone for the timeout of the connection. */
  #timedOut(socket: Socket): void {
    if (this.#isIdle(socket)) {
      socket.destroy();
      return;
    }
    const isUnread = socket.writableLength > 0 && this.#holders.get(socket) !== null;
    if (isUnread) this.#end(socket, 'unread');
    // The client waits for its response, or sends a body, for which it has a time of its own.
    else socket.setTimeout(this.#limits.stallMs);
  }

  #end(socket: Socket, reason: ShedReason): void {
    socket.destroy();
    this.#onShed(reason);
  }

  #forget(socket: Socket): void {
    const holder = this.#holders.get(socket);
    this.#holders.delete(socket);
    if (holder === undefined || holder === null) return;
    holder.sockets.delete(socket);
    if (holder.sockets.size === 0) this.#byAddress.delete(holder.address);
  }
}

function firstOf(
  sockets: ReadonlySet<Socket>,
  holds: (socket: Socket) => boolean,
): Socket | undefined {
  for (const socket of sockets) if (holds(socket)) return socket;
  return undefined;
}

/** A request with a whole head waits for its response. A count of our own would cost each request. */
function isAnswering(socket: Socket): boolean {
  return responseOf(socket) !== null;
}
