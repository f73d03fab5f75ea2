import type { IncomingMessage } from 'node:http';
import { clientAddressBy, countedAddress, countedAddressBy } from '../../src/http/index.ts';

const trusted = ['10.0.0.0/8', '::1'];

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
  const addressOf = clientAddressBy(trusted);
  expect(addressOf(request(remote, forwarded))).toBe(address);
});

test('the counted address of a request is that of its client, found again for the connection and for what it forwards', () => {
  const [addressOf, countedOf] = [clientAddressBy(trusted), countedAddressBy(trusted)];
  const requests = [
    request('192.0.2.1'),
    request('192.0.2.1', '198.51.100.9'),
    request('10.1.2.3', '198.51.100.9'),
    request('10.1.2.3', '198.51.100.10'),
    request('10.1.2.3', '2001:db8::7'),
    request('10.1.2.3', `${'198.51.100.11, '.repeat(20)}198.51.100.12`),
    request('10.1.2.3'),
  ];
  const expected = requests.map((one) => countedAddress(addressOf(one)));
  expect(new Set(expected).size).toBe(6);
  expect(requests.map((one) => countedOf(one))).toEqual(expected);
  expect(requests.map((one) => countedOf(one))).toEqual(expected);
});

test('more forwarded addresses than are kept are found all the same', () => {
  const countedOf = countedAddressBy(trusted);
  for (let index = 0; index < 20_100; index += 1) {
    const forwarded = `198.51.${index >> 8}.${index & 255}`;
    expect(countedOf(request('10.1.2.3', forwarded))).toBe(forwarded);
  }
});
