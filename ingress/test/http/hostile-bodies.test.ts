import {
  call,
  type IngressUnderTest,
  openIngress,
  signedItem,
  testOrder,
} from '../ingress-fixture.ts';

let ingress: IngressUnderTest;
beforeAll(async () => {
  ingress = await openIngress();
});
afterAll(() => ingress.app.close());

const invalid = { error: 'Invalid order payload', code: 'invalid_payload' };
const one = () => ({ ...signedItem(testOrder()).item, owner: ingress.trio.apiKey });
const withOrder = (change: object) => {
  const item = one();
  return JSON.stringify([{ ...item, order: { ...item.order, ...change } }]);
};
const post = (body: string, url = '/orders') => call(ingress, { method: 'POST', url, body });

const amounts: readonly unknown[] = [
  5200000,
  5.2e6,
  -1,
  1e21,
  null,
  true,
  [],
  {},
  '',
  ' 1',
  '+1',
  '-1',
  '01',
  '1.0',
  '1e6',
  '0x10',
  '١',
  '9'.repeat(79),
  '1_000',
  'NaN',
  'Infinity',
];

test.each(['makerAmount', 'takerAmount', 'tokenId', 'timestamp'])(
  '%s takes canonical decimal text only',
  async (field) => {
    for (const value of amounts) {
      const answer = await post(withOrder({ [field]: value }));
      expect([field, value, answer.status, answer.body]).toEqual([field, value, 400, invalid]);
    }
  },
);

test('salts may be numbers, but only exact ones', async () => {
  for (const salt of [-1, 1.5, 1e21, 2 ** 53, '1e3', null, `1${'0'.repeat(77)}1`]) {
    const answer = await post(withOrder({ salt }));
    expect([salt, answer.status]).toEqual([salt, 400]);
  }
  expect((await post(withOrder({ salt: '9'.repeat(78) }))).body).toEqual(invalid);
});

test.each([
  ['maker', ['', '0x', '0xzz', `0x${'0'.repeat(41)}`, 1, null, {}]],
  ['signer', ['', `${'0'.repeat(42)}`, []]],
  ['side', ['buy', 0, 1, null, 'BUY ']],
  ['signatureType', [-1, 4, '0', 1.5, null]],
  ['metadata', ['0x', '0x00', 5, null]],
  ['builder', ['0x', 'x'.repeat(66), {}]],
  ['expiration', [-1, '-1', '1e9', 1.5, 2 ** 53, null, '9'.repeat(30)]],
  [
    'signature',
    [
      '',
      '0x',
      `0x${'1'.repeat(129)}`,
      `0x${'1'.repeat(131)}`,
      `0x${'g'.repeat(130)}`,
      5,
      null,
      `0x${'1'.repeat(2000)}`,
    ],
  ],
] as const)('%s of another shape refuses the request', async (field, values) => {
  for (const value of values) {
    const answer = await post(withOrder({ [field]: value }));
    expect([field, value, answer.status, answer.body]).toEqual([field, value, 400, invalid]);
  }
});

test.each([
  ['no JSON', '{'],
  ['two documents', '[][]'],
  ['a lone surrogate escape', '["\\ud800"]'],
  ['an object', '{}'],
  ['null', 'null'],
  ['a number', '1'],
  ['a text', '"x"'],
  ['nothing to place', '[]'],
  ['items that are no objects', '[1]'],
  ['null items', '[null]'],
  ['nested arrays', '[[[]]]'],
  ['too deep', '['.repeat(50) + ']'.repeat(50)],
  ['an item without an order', '[{}]'],
  ['an order that is a text', '[{"order":"x"}]'],
  ['a prototype key', '[{"__proto__":{"order":{}}}]'],
  ['a prototype key inside', '[{"order":{"__proto__":{"nonce":1}}}]'],
  ['a constructor key', '[{"constructor":{"prototype":{"x":1}}}]'],
])('%s is an invalid payload', async (_name, body) => {
  const answer = await post(body);
  expect([answer.status, answer.body]).toEqual([400, invalid]);
});

test('a sixteenth order, and sixteen broken ones, are too many', async () => {
  const items = Array.from({ length: 16 }, one);
  const wanted = {
    error: 'Too many orders in payload: 16, max allowed: 15',
    code: 'too_many_orders',
  };
  expect((await post(JSON.stringify(items))).body).toEqual(wanted);
  expect((await post(JSON.stringify(Array(16).fill(1)))).body).toEqual(wanted);
  expect((await post(JSON.stringify(items.slice(1)))).body).toHaveLength(15);
});

test('of repeated keys the last counts, so what was signed last is what is checked', async () => {
  const text = JSON.stringify([one()]);
  const before = text.replace('"makerAmount":', '"makerAmount":"1","makerAmount":');
  expect((await post(before)).body[0].success).toBe(true);
  const after = JSON.stringify([one()]).replace(
    '"takerAmount":',
    '"makerAmount":"5200001","takerAmount":',
  );
  expect((await post(after)).body[0].code).toBe('invalid_tick_size');
});

test('large bodies are refused by size, other content types by type, empty ones by shape', async () => {
  const big = await call(ingress, {
    method: 'POST',
    url: '/order',
    body: JSON.stringify({ x: 'y'.repeat(33 * 1024) }),
  });
  expect([big.status, big.body]).toEqual([413, { error: 'the body is too large' }]);
  const batch = await post(JSON.stringify([{ x: 'y'.repeat(40 * 1024) }]));
  expect(batch.status).toBe(400);
  const text = await call(ingress, {
    method: 'POST',
    url: '/order',
    body: '{}',
    headers: { 'content-type': 'text/plain' },
  });
  expect(text.status).toBe(415);
  for (const url of ['/order', '/orders']) {
    const empty = await call(ingress, { method: 'POST', url });
    expect([empty.status, empty.body]).toEqual([400, invalid]);
  }
});

test('unknown fields and what left-over parameters clients send are ignored', async () => {
  const item = { ...one(), params: { a: 1 }, deferExec: false, postOnly: false };
  const body = JSON.stringify({
    ...item,
    order: { ...item.order, taker: `0x${'0'.repeat(40)}`, nonce: '0', feeRateBps: '0' },
  });
  expect((await post(body, '/order')).body.success).toBe(true);
});

test('an order is not deferred, and says so', async () => {
  const { status, body } = await post(JSON.stringify({ ...one(), deferExec: true }), '/order');
  expect([status, body]).toMatchObject([
    400,
    {
      success: false,
      code: 'invalid_request',
      error: 'invalid request: deferExec is not supported, orders are executed as they are read',
    },
  ]);
});

test('random bytes in every place never fail the server', async () => {
  const seeds = [
    '\\u0000',
    '1e400',
    '-0',
    '9'.repeat(400),
    '"',
    '{}',
    '[',
    'true',
    'null',
    '"\\u202e"',
    '1E-7',
  ];
  const base = JSON.stringify([one()]);
  for (let at = 0; at < base.length; at += 37) {
    for (const seed of seeds) {
      const answer = await post(base.slice(0, at) + seed + base.slice(at + 1));
      expect([at, seed, answer.status < 500]).toEqual([at, seed, true]);
    }
  }
});
