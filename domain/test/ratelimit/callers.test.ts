import { rateRules } from '@pm/schemas';
import { countedAddress, limitTable } from '../../src/ratelimit/callers.ts';

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

test('agents get the factor, all callers the scale, no limit is below one', () => {
  const table = limitTable(0.01, { agent: 3, wallet: 2, network: 4, unfunded: 0.1 });
  const book = rateRules.find((rule) => rule.field === 'book.10')?.place ?? -1;
  const health = rateRules.find((rule) => rule.field === 'health.10')?.place ?? -1;
  expect([table.address[book], table.key[book], table.agent[book]]).toEqual([2, 2, 6]);
  expect([table.wallet[book], table.network[book]]).toEqual([4, 8]);
  expect(table.address[health]).toBe(1);
});
