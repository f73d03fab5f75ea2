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

/** The other end of a connection, which may be a proxy. */
interface Peer {
  /** The counted form of its own address. */
  readonly own: string;
  readonly isTrusted: boolean;
}

/**
 * The counted form of the address of the client of a request (`countedAddress`). Computed once per connection, and of a
 * trusted proxy once per forwarded address.
 */
export function countedAddressBy(trustedProxies: readonly string[]): ClientAddress {
  const [isTrusted, addressOf] = [trustBy(trustedProxies), clientAddressBy(trustedProxies)];
  const peers = new WeakMap<Socket, Peer>();
  const forwardedBy = new Map<string, string>();
  const learn = (socket: Socket): Peer => {
    const from = socket.remoteAddress ?? '';
    const peer = { own: countedAddress(from), isTrusted: isTrusted(from) };
    peers.set(socket, peer);
    return peer;
  };
  return (request) => {
    const { own, isTrusted: isProxy } = peers.get(request.socket) ?? learn(request.socket);
    const forwarded = request.headers['x-forwarded-for'];
    if (forwarded === undefined || !isProxy) return own;
    if (forwarded.length > forwardedMaxChars) return countedAddress(addressOf(request));
    const name = `${own} ${forwarded}`;
    const known = forwardedBy.get(name);
    if (known !== undefined) return known;
    if (forwardedBy.size >= forwardedMax) forwardedBy.clear();
    const found = countedAddress(addressOf(request));
    forwardedBy.set(name, found);
    return found;
  };
}
