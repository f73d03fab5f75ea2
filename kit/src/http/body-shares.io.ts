import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ClientAddress } from './client-address.io.ts';
import { type ShareLimits, Shares } from './shares.ts';

/**
 * Bounds the bytes of bodies that are being read or worked on, of one address and of all. A body counts before its
 * first byte is read, as large as its headers announce it, and until the response is taken or its client has gone: one
 * that never ends costs as much as one that does.
 */
export class BodyShares {
  readonly #shares: Shares;
  readonly #addressOf: ClientAddress;

  /** `addressOf`: the counted address of a request. */
  constructor(limits: ShareLimits, addressOf: ClientAddress) {
    this.#shares = new Shares(limits);
    this.#addressOf = addressOf;
  }

  /** Bytes of all bodies together. */
  get bytes(): number {
    return this.#shares.all;
  }

  /** Counts the body of a request; false, with nothing counted, where there is no room for it. */
  take(request: FastifyRequest, reply: FastifyReply): boolean {
    const bytes = announcedBytes(request);
    if (bytes === 0) return true;
    const address = this.#addressOf(request.raw);
    if (!this.#shares.take(address, bytes)) return false;
    reply.raw.once('close', () => this.#shares.giveBack(address, bytes));
    return true;
  }
}

/** At most the limit of the route: more is refused by the headers, or not read. */
function announcedBytes({ headers, routeOptions }: FastifyRequest): number {
  const most = routeOptions.bodyLimit ?? 0;
  if (headers['transfer-encoding'] !== undefined) return most;
  return Math.min(Number(headers['content-length'] ?? 0), most);
}
