import { parseWalletAddress, type WalletAddress } from '@pm/schemas/ids';
import { refusalText } from '@pm/schemas/refusals';
import { familyDomains } from '@pm/schemas/signing';
import { testDomain } from '../../../kit/test/signing-domain.ts';
import {
  call,
  type IngressUnderTest,
  market,
  nowSeconds,
  openIngress,
  owner,
  placeOne,
  signedItem,
  testOrder,
} from '../ingress-fixture.ts';
import { OwnersTopic } from '../owners-fixture.ts';
import { signedBy, walletOf } from '../wallet-fixture.ts';

let ingress: IngressUnderTest;
let topic: OwnersTopic;
beforeEach(async () => {
  topic = new OwnersTopic();
  ingress = await openIngress(topic);
});
afterEach(() => ingress.app.close());

const validate = (items: unknown, url = '/orders/validate') =>
  call(ingress, { method: 'POST', url, body: JSON.stringify(items) });
const owned = (item: object) => ({ ...item, owner: ingress.trio.apiKey });

function expectNothingDone() {
  expect([ingress.fakes.sent, ingress.fakes.reserved, topic.records, ingress.retries.size]).toEqual(
    [[], [], [], 0],
  );
}

test('a sound order gets its id, price, size, hold and rules, and nothing is done', async () => {
  const { item, hash } = signedItem(testOrder());
  const { status, body } = await validate([owned(item)]);
  expect(status).toBe(200);
  expect(body).toMatchObject([
    {
      valid: true,
      errorMsg: '',
      orderID: hash,
      known: false,
      signature: { valid: true, expected: owner.address, orderHash: hash },
      order: { side: 'BUY', price: '0.52', size: '10', budget: '0', leaves_book_at: null },
      money: { wallet: owner.address, needed: '5.2', available: '1000', sufficient: true },
      market: { mode: 'OPEN', minimum_tick_size: '0.01', min_order_size: '5', ready: true },
    },
  ]);
  expectNothingDone();
});

test('a signature of another wallet is reported with its signer, digest and domain', async () => {
  const other = walletOf(9);
  const { item } = signedItem(testOrder(), {}, other);
  const [finding] = (await validate([owned(item)])).body;
  expect(finding).toMatchObject({ valid: false, code: 'invalid_signature', orderID: '' });
  expect(finding.signature).toMatchObject({ valid: false, expected: owner.address });
  const { domains } = finding.signature;
  expect(domains).toHaveLength(1 + familyDomains.length);
  expect(domains[0]).toMatchObject({
    name: testDomain.name,
    chainId: 137,
    verifyingContract: testDomain.exchange,
    recovered: other.address,
    matches: false,
    accepted: true,
  });
  expect(domains[1].recovered).not.toBe(other.address);
  expect(domains[0].digest).toBe(domains[0].orderHash);
  expectNothingDone();
});

test('a wrapped order is read in the domain of its wallet, whose digest is not the order’s id', async () => {
  const wallet = `0x${'5a'.repeat(20)}`;
  const order = testOrder({ maker: wallet, signer: wallet, signatureType: 3 });
  const { item, hash } = signedItem(order);
  const [foreign] = (await validate([owned(item)])).body;
  expect(foreign).toMatchObject({ valid: false, code: 'signer_mismatch', orderID: hash });
  expectNothingDone();
  await ingress.bindings.bind([{ wallet: address(wallet), owner: address(owner.address) }], 'ann');
  const [finding] = (await validate([owned(item)])).body;
  expect(finding).toMatchObject({ valid: true, orderID: hash });
  const [domain] = finding.signature.domains;
  expect(domain).toMatchObject({ recovered: owner.address, matches: true, orderHash: hash });
  expect(domain.digest).not.toBe(hash);
  expect(topic.records).toHaveLength(1);
});

function address(text: string): WalletAddress {
  const parsed = parseWalletAddress(text);
  if (parsed === null) throw new Error('a wallet');
  return parsed;
}

test('money, modes, expiry and ownership are checked as placing would', async () => {
  const codeOf = async (item: object) => (await validate([owned(item)])).body[0].code;
  ingress.fakes.availableMicro = 5_199_999;
  expect(await codeOf(signedItem(testOrder()).item)).toBe('insufficient_balance_or_allowance');
  ingress.fakes.availableMicro = 5_200_000;
  expect(await codeOf(signedItem(testOrder()).item)).toBeUndefined();
  const soon = signedItem(testOrder(), { orderType: 'GTD' }).item;
  const timed = { ...soon, order: { ...soon.order, expiration: String(nowSeconds + 60) } };
  expect(await codeOf(timed)).toBe('invalid_expiration');
  expect(await codeOf(signedItem(testOrder({ makerAmount: '5250000' })).item)).toBe(
    'invalid_tick_size',
  );
  ingress.fakes.ready = false;
  expect(await codeOf(signedItem(testOrder()).item)).toBe('partition_not_ready');
  ingress.markets.take({ ...market, mode: 'HALTED' });
  expect(await codeOf(signedItem(testOrder()).item)).toBe('condition_paused');
  expectNothingDone();
});

test.each([
  ['milliseconds', nowSeconds * 1000, false],
  ['just beyond ten years', nowSeconds + 10 * 366 * 86_400 + 1, false],
  ['ten years', nowSeconds + 10 * 366 * 86_400, true],
])('an expiration of %s fits: it is in seconds', async (_title, expiration, fits) => {
  const { item } = signedItem(testOrder(), { orderType: 'GTD' });
  const timed = { ...item, order: { ...item.order, expiration: String(expiration) } };
  const [finding] = (await validate([owned(timed)])).body;
  if (fits) expect(finding.code).toBeUndefined();
  else
    expect(finding).toMatchObject({
      code: 'invalid_expiration',
      errorMsg: expect.stringMatching(/ten years after its signing, it is in Unix seconds/),
    });
});

test('an order signed too far ahead is told so, with the time of the server', async () => {
  const at = (aheadMs: number) =>
    signedItem(testOrder({ timestamp: String(ingress.fakes.nowMs + aheadMs) }));
  const [early] = (await validate([owned(at(300_001).item)])).body;
  expect(early).toMatchObject({
    code: 'order_signed_ahead',
    errorMsg: `order timestamp is too far ahead: 300.001 s, the server time is ${nowSeconds}.257`,
  });
  expect((await validate([owned(at(300_000).item)])).body[0].code).toBeUndefined();
});

test('an order of the sizes and prices of earlier rules is invalid unless it is known', async () => {
  const sold = { side: 'SELL', makerAmount: '10000000', takerAmount: '9700600' } as const;
  const { item, hash } = signedItem(testOrder(sold), { orderType: 'FAK' });
  const small = signedItem(testOrder());
  ingress.markets.take({ ...market, tick: 10, minSizeMicro: 20_000_000 });
  const findings = await validate([owned(item), owned(small.item)]);
  expect(findings.body).toMatchObject([
    { valid: false, code: 'invalid_tick_size', orderID: hash, order: null, money: null },
    { valid: false, code: 'invalid_size', order: { size: '10' }, money: { needed: '5.2' } },
  ]);
  const kept = { kind: 'placed', orderId: hash, side: 'SELL', status: 'MATCHED' } as const;
  ingress.memory.keep({ ...kept, filledMicro: 10_000_000, paidMicro: 9_700_600, trades: [] }, 1, 0);
  const [again] = (await validate([owned(item)])).body;
  expect(again).toMatchObject({ valid: true, known: true });
  expectNothingDone();
});

test('a refused order of a neg-risk market is named by the id it has there, placed or not', async () => {
  ingress.markets.take({ ...market, negRisk: true });
  const order = testOrder({ makerAmount: '5200001' });
  const { signature, hash } = signedBy(owner, order, testDomain, true);
  const item = owned({ order: { ...order, signature }, orderType: 'GTC' });
  const [finding] = (await validate([item])).body;
  const placed = await placeOne(ingress, item);
  const text = `order ${hash} is invalid. Price (0.52) breaks minimum tick size rule: 0.01`;
  expect([finding.errorMsg, placed.body.errorMsg]).toEqual([text, text]);
});

test('a full queue of signature checks is no finding about the signature', async () => {
  ingress.fakes.signaturesFull = true;
  const { body } = await validate([owned(signedItem(testOrder()).item)]);
  expect(body).toEqual([
    { valid: false, code: 'overloaded', errorMsg: refusalText('overloaded', {}) },
  ]);
});

test('a signature that cannot be explained now is reported without domains', async () => {
  ingress.fakes.explanationsFull = true;
  const [finding] = (await validate([owned(signedItem(testOrder()).item)])).body;
  expect([finding.valid, finding.signature.domains]).toEqual([true, []]);
});

test('one finding per item, also for what is no order; a single order may come alone', async () => {
  const { item } = signedItem(testOrder());
  const many = await validate([owned(item), { order: 5 }, 7]);
  expect(
    many.body.map(({ valid, code }: { valid: boolean; code?: string }) => [valid, code]),
  ).toEqual([
    [true, undefined],
    [false, 'invalid_payload'],
    [false, 'invalid_payload'],
  ]);
  expect((await validate(owned(item))).body).toHaveLength(1);
  expect((await validate([])).status).toBe(400);
  expect((await validate(Array(16).fill(owned(item)))).body.code).toBe('too_many_orders');
});

describe('an order without a signature', () => {
  const withoutSignature = (item: { readonly order: { readonly signature: string } }) => {
    const { signature: _left, ...order } = item.order;
    return owned({ ...item, order });
  };

  /** All of a finding that does not follow from the signature. */
  const restOf = ({ signature, ...rest }: { readonly signature: Record<string, unknown> }) => {
    const { signatureType, expected, structHash, likelyHash } = signature;
    return { ...rest, signatureType, expected, structHash, likelyHash };
  };

  const cases = {
    'that is sound': () => signedItem(testOrder()),
    'off the tick': () => signedItem(testOrder({ makerAmount: '5250000' })),
    'too small': () => signedItem(testOrder({ makerAmount: '520000', takerAmount: '1000000' })),
    'of another maker': () => signedItem(testOrder({ maker: walletOf(9).address })),
    'of an unknown token': () => signedItem(testOrder({ tokenId: '5' })),
    'without its money': () => {
      ingress.fakes.availableMicro = 5_199_999;
      return signedItem(testOrder());
    },
    'of a halted market': () => {
      ingress.markets.take({ ...market, mode: 'HALTED' });
      return signedItem(testOrder());
    },
    'of a neg-risk market': () => {
      ingress.markets.take({ ...market, negRisk: true });
      const order = testOrder();
      const { signature, hash } = signedBy(owner, order, testDomain, true);
      return { item: { order: { ...order, signature }, orderType: 'GTC' as const }, hash };
    },
    'that has a result': () => {
      const order = signedItem(testOrder());
      const kept = { kind: 'placed', orderId: order.hash, side: 'BUY', status: 'LIVE' } as const;
      ingress.memory.keep({ ...kept, filledMicro: 0, paidMicro: 0, trades: [] }, 1, 0);
      return order;
    },
  };

  test.each(Object.entries(cases))('%s is judged like the signed one', async (_case, make) => {
    const { item, hash } = make();
    const [signed, unsigned] = (await validate([owned(item), withoutSignature(item)])).body;
    expect(signed.orderID).toBe(hash);
    expect(restOf(unsigned)).toEqual(restOf(signed));
    expect(signed.signature).toMatchObject({ checked: true, valid: true, orderHash: hash });
    expect(unsigned.signature).toMatchObject({ checked: false, valid: false, orderHash: null });
    expectNothingDone();
  });

  test('is placed by no route', async () => {
    const item = withoutSignature(signedItem(testOrder()).item);
    for (const [url, body] of [
      ['/order', item],
      ['/orders', [item]],
      ['/orders', [owned(signedItem(testOrder()).item), item]],
    ] as const) {
      const answer = await call(ingress, { method: 'POST', url, body: JSON.stringify(body) });
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_payload']);
    }
    expectNothingDone();
  });

  test.each(['', '0x', `0x${'00'.repeat(64)}`])(
    'is none with the signature "%s"',
    async (signature) => {
      const { item } = signedItem(testOrder());
      const [finding] = (await validate([owned({ ...item, order: { ...item.order, signature } })]))
        .body;
      expect(finding).toMatchObject({ valid: false, code: 'invalid_payload' });
    },
  );
});
