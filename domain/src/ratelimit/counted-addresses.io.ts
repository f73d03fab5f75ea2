import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { type Caller, countedAddress } from './callers.ts';

/** What proxies said of their clients, kept; beyond that it is all forgotten. */
const forwardedMax = 10_000;
/** Longer chains of proxies are worked out each time. */
const forwardedMaxChars = 200;

/**
 * Whom requests without credentials are counted for: the address of their connection, or the one that a trusted proxy names
 * (`trustProxy` of the app). Worked out once per connection, and once for what a proxy says.
 */
export class CountedAddresses {
  readonly #bySocket = new WeakMap<Socket, Caller>();
  /** By the address of the connection and what it forwards: who is believed does not change. */
  readonly #forwarded = new Map<string, Caller>();

  of(request: FastifyRequest): Caller {
    return this.known(request.raw) ?? this.#learn(request);
  }

  /** Undefined when it was not worked out before. */
  known({ headers, socket }: IncomingMessage): Caller | undefined {
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined) return this.#bySocket.get(socket);
    return this.#forwarded.get(`${socket.remoteAddress} ${forwarded}`);
  }

  #learn({ raw: { headers, socket }, ip }: FastifyRequest): Caller {
    const caller: Caller = { kind: 'address', id: countedAddress(ip) };
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined) {
      this.#bySocket.set(socket, caller);
    } else if (forwarded.length <= forwardedMaxChars) {
      if (this.#forwarded.size >= forwardedMax) this.#forwarded.clear();
      this.#forwarded.set(`${socket.remoteAddress} ${forwarded}`, caller);
    }
    return caller;
  }
}
