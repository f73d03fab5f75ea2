/** @jest-environment node */
import { familyDomains } from '@pm/schemas';
import { hashTypedData, type TypedDataDefinition } from 'viem';
import { testDomain } from '../../kit/test/signing-domain.ts';
import { domainSeparator, l1Digest, type OrderStruct, orderDigest } from '../src/eip712.ts';
import { base64Bytes, hmacText, randomId } from '../src/platform.ts';
import { attestationTypedData, orderTypedData, type TypedData } from '../src/typed-data.ts';

const wallet = `0x${'1a'.repeat(20)}`;
const zero32 = `0x${'0'.repeat(64)}`;
const order: OrderStruct = {
  salt: 123n,
  maker: wallet,
  signer: wallet,
  tokenId: 2n ** 250n + 7n,
  makerAmount: 5_200_000n,
  takerAmount: 10_000_000n,
  side: 'SELL',
  signatureType: 0,
  timestampMs: 1_780_000_000_000n,
  metadata: zero32,
  builder: zero32,
};
const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;
const digestShown = (data: TypedData) => hashTypedData(data as unknown as TypedDataDefinition);

test.each([false, true])(
  'a wallet that shows an order signs the digest that is its id, neg-risk %s',
  (negRisk) => {
    for (const domain of [testDomain, ...familyDomains]) {
      const digest = orderDigest(order, domainSeparator(domain, negRisk));
      expect(digestShown(orderTypedData(order, domain, negRisk))).toBe(hex(digest));
    }
  },
);

test('a wallet that shows the attestation signs the digest of the L1 header', () => {
  const attestation = {
    address: wallet,
    timestamp: '1780000000000',
    nonce: 4n,
    purpose: 'create',
    domain: testDomain,
  } as const;
  expect(digestShown(attestationTypedData(attestation))).toBe(hex(l1Digest(attestation)));
});

test('the HMAC of a browser is that of Node', async () => {
  const secret = base64Bytes('-_8AAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0=');
  const byNode = hmacText(secret, 'GET/v1/stream ä');
  const original = Object.getOwnPropertyDescriptor(globalThis, 'process');
  Object.defineProperty(globalThis, 'process', { value: undefined, configurable: true });
  try {
    jest.resetModules();
    const browser = await import('../src/platform.ts');
    expect(browser.hmacText(secret, 'GET/v1/stream ä')).toBe(byNode);
  } finally {
    if (original !== undefined) Object.defineProperty(globalThis, 'process', original);
  }
});

test('random ids are UUIDs of version 4', () => {
  const ids = new Set(Array.from({ length: 50 }, randomId));
  expect(ids.size).toBe(50);
  for (const id of ids)
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
});
