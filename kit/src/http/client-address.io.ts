import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import proxyAddress from '@fastify/proxy-addr';
import { countedAddress } from './counted-address.ts';

/** Forwarded addresses that are kept; at the limit all are dropped. */
const forwardedMax = 10_000;
/** Longer chains of proxies are not kept. */
const forwardedMaxChars = 200;

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

/**
 * The counted form of the address of the client of a request (`countedAddress`). Computed once per connection, and once
 * per forwarded address of a connection's address: to find it costs a tenth of a small response.
 */
export function countedAddressBy(trustedProxies: readonly string[]): ClientAddress {
  const addressOf = clientAddressBy(trustedProxies);
  const counted: ClientAddress = (request) => countedAddress(addressOf(request));
  const bySocket = new WeakMap<Socket, string>();
  const byForwarded = new Map<string, string>();
  return (request) => {
    const { socket } = request;
    const forwarded = request.headers['x-forwarded-for'];
    if (forwarded === undefined) {
      const known = bySocket.get(socket) ?? counted(request);
      bySocket.set(socket, known);
      return known;
    }
    if (forwarded.length > forwardedMaxChars) return counted(request);
    const name = `${socket.remoteAddress} ${forwarded}`;
    const known = byForwarded.get(name);
    if (known !== undefined) return known;
    if (byForwarded.size >= forwardedMax) byForwarded.clear();
    const found = counted(request);
    byForwarded.set(name, found);
    return found;
  };
}
