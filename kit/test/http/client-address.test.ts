import type { IncomingMessage } from 'node:http';
import { clientAddressBy, countedAddressBy } from '../../src/http/index.ts';

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

test('the counted address is that of the client of each request, also of several over one connection', () => {
  const countedOf = countedAddressBy(trusted);
  const proxy = request('10.1.2.3');
  const over = (forwarded: string) => ({ ...request('10.1.2.3', forwarded), socket: proxy.socket });
  const asked = [
    [request('192.0.2.1'), '192.0.2.1'],
    [request('192.0.2.1', '198.51.100.9'), '192.0.2.1'],
    [over('198.51.100.9'), '198.51.100.9'],
    [proxy, '10.1.2.3'],
    [over('198.51.100.10'), '198.51.100.10'],
    [over('2001:db8::7'), '2001:db8:0:0::/64'],
    [over(`${'198.51.100.11, '.repeat(20)}198.51.100.12`), '198.51.100.12'],
    [over('unknown'), '10.1.2.3'],
    [over('198.51.100.9'), '198.51.100.9'],
  ] as const;
  for (const [one, counted] of asked) expect(countedOf(one as IncomingMessage)).toBe(counted);
});

test('the address of a connection is looked at once, and what an untrusted one forwards never', () => {
  let looks = 0;
  const socket = {
    get remoteAddress() {
      looks += 1;
      return '192.0.2.1';
    },
  };
  const countedOf = countedAddressBy(trusted);
  for (let index = 0; index < 10; index += 1) {
    const headers = { 'x-forwarded-for': `198.51.100.${index}` };
    expect(countedOf({ headers, socket } as unknown as IncomingMessage)).toBe('192.0.2.1');
  }
  expect(looks).toBe(1);
});
