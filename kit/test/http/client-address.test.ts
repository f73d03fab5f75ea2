import type { IncomingMessage } from 'node:http';
import { clientAddressBy } from '../../src/http/index.ts';

const request = (remoteAddress: string, forwarded?: string) =>
  ({
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    socket: { remoteAddress },
  }) as unknown as IncomingMessage;

test.each([
  ['a client without a proxy', '192.0.2.1', undefined, '192.0.2.1'],
  ['a client that claims an address', '192.0.2.1', '198.51.100.9', '192.0.2.1'],
  ['a trusted proxy', '10.1.2.3', '198.51.100.9', '198.51.100.9'],
  ['what a client wrote before the proxy', '10.1.2.3', '1.1.1.1, 198.51.100.9', '198.51.100.9'],
  ['a chain of trusted proxies', '::1', '198.51.100.9, 10.9.9.9', '198.51.100.9'],
  ['a proxy that names no address', '10.1.2.3', 'unknown', '10.1.2.3'],
  ['a proxy that adds a port', '10.1.2.3', '198.51.100.9:4711', '10.1.2.3'],
  ['a client of IPv6', '::ffff:10.1.2.3', '2001:db8::7', '2001:db8::7'],
])('%s is known by its address', (_what, remote, forwarded, address) => {
  const addressOf = clientAddressBy(['10.0.0.0/8', '::1']);
  expect(addressOf(request(remote, forwarded))).toBe(address);
});
