import type { OrderId } from '@pm/schemas/ids';
import { openAfterCancel } from '../src/trade/open-after-cancel.ts';

test('a cancel of all orders says how many were on their way', () => {
  expect(openAfterCancel({ in_transit: [] })).toBeNull();
  const id = `0x${'1'.repeat(64)}` as OrderId;
  expect(openAfterCancel({ in_transit: [id] })).toContain('One order was on its way');
  expect(openAfterCancel({ in_transit: [id, id] })).toContain('2 orders were on their way');
});
