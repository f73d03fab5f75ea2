import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddress from '@fastify/proxy-addr';

/** Whether an address is that of a trusted proxy. Throws a `TypeError` for an entry that is no address or network. */
export function trustBy(trustedProxies: readonly string[]): (address: string) => boolean {
  const isTrusted = proxyAddress.compile([...trustedProxies]);
  return (address) => isTrusted(address, 0);
}

/** The address of the client of a request. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * The address of the connection; of a connection of a trusted proxy the right-most address of `X-Forwarded-For` that is
 * no trusted proxy. What is no address counts for the connection. `trustedProxies`: addresses and CIDR networks. Throws
 * a `TypeError` for an entry that is neither.
 */
export function clientAddressBy(trustedProxies: readonly string[]): ClientAddress {
  const isTrusted = trustBy(trustedProxies);
  return (request) => {
    const named = proxyAddress(request, isTrusted);
    return isIP(named) === 0 ? (request.socket.remoteAddress ?? '') : named;
  };
}
