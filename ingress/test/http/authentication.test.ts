import type { WalletAddress } from '@pm/schemas/ids';
import { headers as names } from '@pm/schemas/signing';
import {
  answered,
  call,
  type IngressUnderTest,
  nowSeconds,
  openIngress,
  owner,
  signedItem,
  testOrder,
  trioIn,
} from '../ingress-fixture.ts';
import { l2Signature, walletOf } from '../wallet-fixture.ts';

let ingress: IngressUnderTest;
beforeAll(async () => {
  ingress = await openIngress();
  ingress.fakes.answer = () => answered([]);
});
afterAll(() => ingress.app.close());

const refused = { error: 'Unauthorized/Invalid api key', code: 'invalid_l2' };
const body = JSON.stringify({ orderID: `0x${'00'.repeat(32)}` });
const cancel = { method: 'DELETE', url: '/order', body } as const;

function digestOf(message: string): Buffer {
  return Buffer.from(l2Signature(ingress.trio.secret, message), 'base64url');
}
const message = (time: string | number, path = '/order', sent = body) =>
  `${time}DELETE${path}${sent}`;

test('takes seconds and milliseconds, and every encoding of the digest', async () => {
  for (const time of [
    nowSeconds,
    nowSeconds - 299,
    nowSeconds + 299,
    nowSeconds * 1000,
    `${nowSeconds}123`,
  ]) {
    const digest = digestOf(message(time));
    const forms = [
      digest.toString('base64url'),
      `${digest.toString('base64url')}=`,
      digest.toString('base64'),
      digest.toString('hex'),
      digest.toString('hex').toUpperCase(),
    ];
    for (const form of forms) {
      const headers = { [names.timestamp]: String(time), [names.signature]: form };
      expect((await call(ingress, { ...cancel, headers })).status).toBe(200);
    }
  }
});

test.each([
  ['the path as it arrived', '/clob/order', '/clob/order'],
  ['the route alone, under the mount', '/clob/order', '/order'],
  ['the path without its query', '/order?geo_block_token=x', '/order'],
  ['the path with a slash at its end', '/order/', '/order/'],
  ['the route with that, under the mount', '/clob/order/', '/order/'],
  ['the path with its query', '/order?geo_block_token=x', '/order?geo_block_token=x'],
])('takes a signature over %s', async (_name, url, signedPath) => {
  expect((await call(ingress, { ...cancel, url, signedPath })).status).toBe(200);
});

test.each([
  ['/order/', '/order'],
  ['/order', '/order/'],
])('refuses %s with a signature over %s', async (url, signedPath) => {
  expect(await call(ingress, { ...cancel, url, signedPath })).toMatchObject({ status: 401 });
});

test('takes a body with single quotes that was signed with double ones, and only that', async () => {
  const quoted = JSON.stringify({ orderID: `0x${'00'.repeat(32)}`, note: "it's" });
  const signed = quoted.replaceAll("'", '"');
  const headers = {
    [names.signature]: l2Signature(ingress.trio.secret, message(nowSeconds, '/order', signed)),
  };
  const timestamp = String(nowSeconds);
  expect((await call(ingress, { ...cancel, body: quoted, headers, timestamp })).status).toBe(200);
  const other = {
    [names.signature]: l2Signature(
      ingress.trio.secret,
      message(nowSeconds, '/order', signed.replaceAll('0', '1')),
    ),
  };
  expect((await call(ingress, { ...cancel, body: quoted, headers: other, timestamp })).status).toBe(
    401,
  );
});

const fields = [names.address, names.apiKey, names.passphrase, names.timestamp, names.signature];
const bad = [
  '',
  ' ',
  'x',
  '0x',
  '0'.repeat(200),
  '-1',
  '1e9',
  '9'.repeat(30),
  'null',
  '__proto__',
  '%00',
  'a'.repeat(44),
];

test.each(fields)(
  'refuses a missing or ill-formed %s, always with the same answer',
  async (name) => {
    for (const value of bad) {
      const answer = await call(ingress, { ...cancel, headers: { [name]: value } });
      expect([name, value, answer.status, answer.body]).toEqual([name, value, 401, refused]);
    }
  },
);

test.each<[string, Record<string, string>]>([
  ['another address', { [names.address]: walletOf(9).address }],
  ['an unknown key', { [names.apiKey]: '00000000-0000-4000-8000-000000000000' }],
  ['a wrong passphrase', { [names.passphrase]: 'f'.repeat(64) }],
  ['a wrong digest', { [names.signature]: 'A'.repeat(43) }],
])('refuses %s', async (_name, headers) => {
  const time = headers[names.timestamp] ?? String(nowSeconds);
  const signature = l2Signature(ingress.trio.secret, message(time));
  const answer = await call(ingress, {
    ...cancel,
    headers: { [names.signature]: signature, ...headers },
  });
  expect([answer.status, answer.body]).toEqual([401, refused]);
});

test('refuses a signature over another method, path or body', async () => {
  for (const signed of [
    `${nowSeconds}POST/order${body}`,
    message(nowSeconds, '/orders'),
    message(nowSeconds, '/order', '{}'),
  ]) {
    const headers = { [names.signature]: l2Signature(ingress.trio.secret, signed) };
    expect((await call(ingress, { ...cancel, headers })).status).toBe(401);
  }
});

test('a revoked key stays refused, and its nonce gets another one', async () => {
  const wallet = owner.address as WalletAddress;
  expect(await ingress.keys.revokeNonce(wallet, '0')).toBe(true);
  expect((await call(ingress, cancel)).status).toBe(401);
  expect(ingress.keys.derive(wallet, '0')).toBeNull();
  const trio = trioIn(await ingress.keys.create(wallet, '0'));
  expect(new Set([...Object.values(trio), ...Object.values(ingress.trio)]).size).toBe(6);
  expect((await call(ingress, { ...cancel, trio })).status).toBe(200);
  expect((await call(ingress, cancel)).status).toBe(401);
});

test('a request for an order is refused as a whole before anything in it is read', async () => {
  const { item } = signedItem(testOrder());
  const answer = await call(ingress, {
    method: 'POST',
    url: '/orders',
    body: JSON.stringify([item]),
    headers: { [names.passphrase]: 'f'.repeat(64) },
  });
  expect([answer.status, answer.body]).toEqual([401, refused]);
  expect(ingress.fakes.reserved).toHaveLength(0);
});
