import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { countedAddress } from '@pm/kit/http';
import type { FastifyRequest } from 'fastify';
import type { Caller } from './callers.ts';

/** Forwarded addresses that are cached; at the limit the cache is emptied. */
const forwardedMax = 10_000;
/** Longer chains of proxies are not cached. */
const forwardedMaxChars = 200;

/**
 * Callers of requests without credentials: the address of the connection, or the one that a trusted proxy names
 * (`trustProxy` of the app). Computed once per connection, and once per forwarded address.
 */
export class CountedAddresses {
  readonly #bySocket = new WeakMap<Socket, Caller>();
  /** By the address of the connection and its forwarded addresses: the trusted proxies do not change. */
  readonly #forwarded = new Map<string, Caller>();

  of(request: FastifyRequest): Caller {
    return this.known(request.raw) ?? this.#learn(request);
  }

  /** Undefined when it is not cached. */
  known({ headers, socket }: IncomingMessage): Caller | undefined {
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined) return this.#bySocket.get(socket);
    return this.#forwarded.get(`${socket.remoteAddress} ${forwarded}`);
  }

  /** What a trusted proxy names counts only if it is an address. */
  #learn({ raw: { headers, socket }, ip }: FastifyRequest): Caller {
    const address = isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip;
    const caller: Caller = { kind: 'address', id: countedAddress(address) };
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
