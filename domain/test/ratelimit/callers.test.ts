import { rateRules } from '@pm/schemas/rate-limits';
import { limitTable } from '../../src/ratelimit/callers.ts';

test('agents get the factor, all callers the scale, no limit is below one', () => {
  const table = limitTable(0.01, { agent: 3, wallet: 2, network: 4, unfunded: 0.1 });
  const book = rateRules.find((rule) => rule.field === 'book.10')?.place ?? -1;
  const health = rateRules.find((rule) => rule.field === 'health.10')?.place ?? -1;
  expect([table.address[book], table.key[book], table.agent[book]]).toEqual([2, 2, 6]);
  expect([table.wallet[book], table.network[book]]).toEqual([4, 8]);
  expect(table.address[health]).toBe(1);
});
