import { readOrderForm } from '../../src/orders/form.ts';
import { submissionOf } from '../signing-fixture.ts';
import { type TestOrder, zero32 } from '../wallet-fixture.ts';

const order: TestOrder = {
  salt: 479249096354,
  maker: `0x${'AB'.repeat(20)}`,
  signer: `0x${'ab'.repeat(20)}`,
  tokenId: '1234',
  makerAmount: '1',
  takerAmount: '2',
  side: 'SELL',
  signatureType: 3,
  timestamp: '1710000000000',
  metadata: '',
  builder: zero32,
};
const signature = `0x${'11'.repeat(65)}`;
const any = (value: unknown): value is never => value !== undefined;

test('reads an order as clients send it: salt of either type, empty bytes as zero, defaults', () => {
  for (const salt of [479249096354, '479249096354']) {
    const read = readOrderForm(submissionOf({ ...order, salt }, signature), any);
    expect(read).toMatchObject({
      maker: order.signer,
      conditionId: '',
      timeInForce: 'GTC',
      postOnly: false,
      expirationSeconds: 0,
      signedAtMs: 1_710_000_000_000,
      struct: { salt: 479249096354n, side: 'SELL', metadata: Buffer.alloc(32) },
    });
  }
});

test.each([
  [{ order: { nonce: '0' } }, 'order_version_mismatch'],
  [{ order: { feeRateBps: '0', taker: '' } }, 'order_version_mismatch'],
  [submissionOf(order, signature, { orderType: 'IOC' }), 'invalid_order_type'],
  [submissionOf(order, signature, { deferExec: true }), 'invalid_request'],
  [submissionOf({ ...order, tokenId: (2n ** 256n).toString() }, signature), 'invalid_payload'],
  [submissionOf({ ...order, timestamp: '9'.repeat(30) }, signature), 'invalid_payload'],
  [submissionOf(order, `${signature}1`), 'invalid_payload'],
])('reads %j as %j', (item, wanted) => {
  expect(readOrderForm(item, any)).toEqual(wanted);
});

test('a version 1 order is recognised even among the keys of a prototype', () => {
  const item = { order: Object.create({ nonce: '1' }) as object };
  expect(readOrderForm(item, (_value): _value is never => false)).toBe('invalid_payload');
});
