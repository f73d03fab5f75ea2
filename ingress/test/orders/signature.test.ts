import { secp256k1 } from '@noble/curves/secp256k1.js';
import { recoveryOf } from '@pm/domain/orders/signature';
import { familyDomains } from '@pm/schemas/signing';
import { testDomain } from '../../../kit/test/signing-domain.ts';
import { accepted, bytesOf, crypto, jobFor, openRule, structOf } from '../signing-fixture.ts';
import {
  digestOf,
  hexOf,
  keccak,
  separatorOf,
  signedBy,
  structHashOf,
  type TestOrder,
  walletOf,
  withHighS,
  zero32,
} from '../wallet-fixture.ts';

const owner = walletOf(7);
const other = walletOf(8);
const domain = testDomain;

const order: TestOrder = {
  salt: '479249096354',
  maker: owner.address,
  signer: owner.address,
  tokenId: (2n ** 255n + 12345n).toString(),
  makerAmount: '5200000',
  takerAmount: '10000000',
  side: 'BUY',
  signatureType: 0,
  timestamp: '1782753357257',
  metadata: zero32,
  builder: `0x${'ab'.repeat(32)}`,
};
const wrapped: TestOrder = {
  ...order,
  signatureType: 3,
  maker: `0x${'22'.repeat(20)}`,
  signer: `0x${'22'.repeat(20)}`,
};

function verdict(sent: TestOrder, signature: string, by = owner.address, negRisk = false) {
  const { hasher, rule } = openRule();
  const structHash = hasher.structHash(structOf(sent));
  const result = rule.check({ ...jobFor(sent, signature, by, negRisk), structHash });
  return Buffer.isBuffer(result) ? hexOf(result) : result;
}

const mutations: readonly [string, Partial<TestOrder>][] = [
  ['salt', { salt: '479249096355' }],
  ['maker', { maker: other.address }],
  ['signer', { signer: other.address }],
  ['tokenId', { tokenId: '12346' }],
  ['makerAmount', { makerAmount: '5200001' }],
  ['takerAmount', { takerAmount: '10000001' }],
  ['side', { side: 'SELL' }],
  ['signatureType', { signatureType: 1 }],
  ['timestamp', { timestamp: '1782753357258' }],
  ['metadata', { metadata: `0x${'01'.repeat(32)}` }],
  ['builder', { builder: zero32 }],
];

test('hashes equal those of an independent library, over values of every width', () => {
  const { hasher } = openRule();
  for (let bits = 0; bits < 256; bits += 5) {
    const value = ((1n << BigInt(bits)) + 3n).toString();
    const sent = { ...order, salt: value, tokenId: value, makerAmount: value, takerAmount: value };
    expect(hexOf(hasher.structHash(structOf(sent)))).toBe(hexOf(structHashOf(sent)));
  }
  for (const { domain: known, separator, negRiskSeparator } of hasher.domains) {
    const contract = (verifyingContract: string) => separatorOf({ ...known, verifyingContract });
    expect(hexOf(separator)).toBe(hexOf(contract(known.exchange)));
    expect(hexOf(negRiskSeparator)).toBe(hexOf(contract(known.negRiskExchange)));
  }
});

test('a domain is accepted or refused by its value, so copies of accepted ones are not refused', () => {
  expect(openRule(structuredClone(accepted)).hasher.refused).toEqual([]);
  const one = structuredClone(familyDomains.slice(0, 1));
  const { refused } = openRule({ own: testDomain, family: one }).hasher;
  expect(refused.map((known) => known.domain)).toEqual(familyDomains.slice(1));
});

test('proves orders under every accepted domain and both contracts, plain and wrapped', () => {
  for (const sent of [
    order,
    { ...order, signatureType: 1 },
    { ...order, signatureType: 2 },
    wrapped,
  ]) {
    for (const known of [testDomain, ...familyDomains]) {
      for (const negRisk of [false, true]) {
        const { signature, hash } = signedBy(owner, sent, known, negRisk);
        expect(verdict(sent, signature, owner.address, negRisk)).toBe(hash);
        expect(verdict(sent, signature, owner.address, !negRisk)).toBeNull();
      }
    }
  }
});

test.each(mutations)('refuses an order whose %s was changed after signing', (_field, change) => {
  for (const sent of [order, wrapped]) {
    const { signature } = signedBy(owner, sent, domain);
    const changed = { ...sent, ...change };
    if (changed.signatureType === 3 && 'maker' in change) return;
    const { hasher, rule } = openRule();
    const structHash = hasher.structHash(
      structOf({
        ...changed,
        signatureType:
          sent.signatureType === 3 && 'signatureType' in change ? 1 : changed.signatureType,
      }),
    );
    const job = { ...jobFor(sent, signature, owner.address), structHash };
    expect(rule.check(job)).toBeNull();
  }
});

test.each([
  ['name', { name: 'CTF Exchangf' }],
  ['version', { version: '1' }],
  ['chainId', { chainId: 1 }],
  ['contract', { exchange: `0x${'33'.repeat(20)}` }],
])('refuses an order signed for another domain %s', (_member, change) => {
  for (const sent of [order, wrapped]) {
    const { signature } = signedBy(owner, sent, { ...domain, ...change });
    // A wrapped signature says what it is for; a plain one for an unknown domain has an unknown signer.
    expect(verdict(sent, signature)).toBe(sent === wrapped ? 'other_domain' : null);
  }
});

test('refuses another signer, before and after a good signature', () => {
  const { signature } = signedBy(owner, order, domain);
  expect(verdict(order, signature, other.address)).toBeNull();
  const { hasher, rule } = openRule();
  const structHash = hasher.structHash(structOf(order));
  const good = { ...jobFor(order, signature, owner.address), structHash };
  const bad = { ...good, signature: bytesOf(signedBy(other, order, domain).signature) };
  expect(rule.check(bad)).toBeNull();
  expect(rule.check(good)).not.toBeNull();
  expect(rule.check(bad)).toBeNull();
  expect(rule.check(good)).not.toBeNull();
});

test('refuses high s, before and after a good signature', () => {
  const { signature, hash } = signedBy(owner, order, domain);
  const high = withHighS(signature);
  expect(verdict(order, high)).toBeNull();
  const { hasher, rule } = openRule();
  const structHash = hasher.structHash(structOf(order));
  const jobOf = (text: string) => ({ ...jobFor(order, text, owner.address), structHash });
  expect(rule.check(jobOf(signature))?.toString('hex')).toBe(hash.slice(2));
  expect(rule.check(jobOf(high))).toBeNull();
});

test('takes v as 27, 28, 0 or 1 and nothing else', () => {
  const { signature, hash } = signedBy(owner, order, domain);
  const last = Number.parseInt(signature.slice(-2), 16);
  const withV = (v: number) => `${signature.slice(0, -2)}${v.toString(16).padStart(2, '0')}`;
  expect(verdict(order, withV(last - 27))).toBe(hash);
  for (const v of [2, 3, 26, 29, 35, 36, 255]) expect(verdict(order, withV(v))).toBeNull();
  expect(verdict(order, withV(last === 27 ? 28 : 27))).toBeNull();
});

test('refuses the other v, also after a good signature', () => {
  for (const sent of [order, wrapped]) {
    const { signature } = signedBy(owner, sent, domain);
    const { hasher, rule } = openRule();
    const structHash = hasher.structHash(structOf(sent));
    const good = { ...jobFor(sent, signature, owner.address), structHash };
    expect(rule.check(good)).not.toBeNull();
    const other = Buffer.from(good.signature);
    other[64] = other[64] === 27 ? 28 : 27;
    expect(rule.check({ ...good, signature: other })).toBeNull();
    expect(rule.check(good)).not.toBeNull();
  }
});

test('refuses r and s outside of the group, and signatures of any other length', () => {
  const { signature } = signedBy(owner, order, domain);
  const group = secp256k1.Point.Fn.ORDER.toString(16).padStart(64, '0');
  const zero = '0'.repeat(64);
  const r = signature.slice(2, 66);
  const s = signature.slice(66, 130);
  for (const [badR, badS] of [
    [zero, s],
    [r, zero],
    [group, s],
    [r, group],
    [zero, zero],
  ]) {
    expect(verdict(order, `0x${badR}${badS}1b`)).toBeNull();
  }
  for (const bytes of [0, 64, 66, 316, 317, 318]) {
    expect(verdict(order, `0x${'11'.repeat(bytes)}`)).toBeNull();
    expect(verdict(wrapped, `0x${'11'.repeat(bytes)}`)).toBeNull();
  }
});

test('refuses a wrapped signature of which any byte after the inner one was changed', () => {
  const { signature } = signedBy(owner, wrapped, domain);
  const bytes = bytesOf(signature);
  for (let at = 65; at < bytes.length; at += 9) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const namesDomain = at < 65 + 32;
    expect(verdict(wrapped, hexOf(changed))).toBe(namesDomain ? 'other_domain' : null);
  }
});

test('native recovery finds the key that the independent library signs with', () => {
  for (let byte = 1; byte < 40; byte += 1) {
    const wallet = walletOf(byte);
    const digest = digestOf(keccak(Buffer.from([byte])), keccak(Buffer.from([byte, 1])));
    const signature = bytesOf(wallet.sign(digest));
    const recovery = recoveryOf(signature[64] ?? 255);
    if (recovery === null) throw new Error('a wallet gives 27 or 28');
    const key = crypto.curve.recoverKey(signature.subarray(0, 64), recovery, digest);
    expect(key === null ? null : hexOf(crypto.curve.addressOf(key))).toBe(wallet.address);
  }
});
