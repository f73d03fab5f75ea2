import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { type Caller, countedAddress } from '../ratelimit/index.ts';

/** Addresses that proxies named, kept; beyond that they are all forgotten. */
const namedMax = 10_000;

/**
 * Whom requests without credentials are counted for: the address of their connection, which is worked out once, or the one
 * that a trusted proxy names (`trustProxy` of the app).
 */
export class CountedAddresses {
  readonly #bySocket = new WeakMap<Socket, Caller>();
  readonly #named = new Map<string, Caller>();

  of(request: FastifyRequest): Caller {
    const { headers, socket } = request.raw;
    if (headers['x-forwarded-for'] !== undefined) return this.#namedBy(request.ip);
    const known = this.#bySocket.get(socket);
    if (known !== undefined) return known;
    const caller = callerAt(request.ip);
    this.#bySocket.set(socket, caller);
    return caller;
  }

  #namedBy(address: string): Caller {
    const known = this.#named.get(address);
    if (known !== undefined) return known;
    const caller = callerAt(address);
    if (this.#named.size >= namedMax) this.#named.clear();
    this.#named.set(address, caller);
    return caller;
  }
}

function callerAt(address: string): Caller {
  return { kind: 'address', id: countedAddress(address) };
}
