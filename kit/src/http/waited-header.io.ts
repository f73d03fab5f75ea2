import proxyAddress from '@fastify/proxy-addr';
import type { FastifyRequest } from 'fastify';

/**
 * How long a request was with the gateway before it was sent on, whole milliseconds. A duration and no time of day: the
 * clocks of two hosts may differ by more than an order has time to reach its book.
 */
export const waitedHeader = 'x-waited-ms';

/** Longer than the gateway lets a request wait, its body included; a longer time says nothing. */
const waitedMaxMs = 60_000;

/**
 * The milliseconds that requests have waited at a trusted proxy; 0 for requests of others and for what is no duration.
 * `trustedProxies`: addresses and CIDR networks.
 */
export function waitedBy(
  trustedProxies: readonly string[],
): (request: Pick<FastifyRequest, 'headers' | 'socket'>) => number {
  const isTrusted = proxyAddress.compile([...trustedProxies]);
  return ({ headers, socket }) => {
    const text = headers[waitedHeader];
    if (typeof text !== 'string' || !/^\d{1,6}$/.test(text)) return 0;
    if (!isTrusted(socket.remoteAddress ?? '', 0)) return 0;
    return Math.min(Number(text), waitedMaxMs);
  };
}
