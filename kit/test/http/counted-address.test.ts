import { countedAddress } from '../../src/http/counted-address.ts';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:0DB8:0:42:aaaa:bbbb:cccc:dddd', '2001:db8:0:42::/64'],
  ['2001:db8:0:42::9', '2001:db8:0:42::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('%s is counted as %s', (address, counted) => {
  expect(countedAddress(address)).toBe(counted);
});
