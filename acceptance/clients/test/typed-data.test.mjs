// viem, by which wallets hash what they show: the digests of our client are the same.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashTypedData } from 'viem';
import { domainSeparator, l1Digest, orderDigest } from '../../../client/dist/eip712.js';
import { attestationTypedData, orderTypedData } from '../../../client/dist/typed-data.js';
import { familyDomains } from '../../../schemas/dist/signing.js';

const wallet = `0x${'1a'.repeat(20)}`;
const zero32 = `0x${'0'.repeat(64)}`;
/** The domain of an installation, which is none of the family's. */
const ownDomain = {
  name: 'Prediction Exchange',
  version: '2',
  chainId: 137,
  exchange: `0x${'e5a1'.repeat(10)}`,
  negRiskExchange: `0x${'e5a2'.repeat(10)}`,
};
const order = {
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
const hex = (bytes) => `0x${Buffer.from(bytes).toString('hex')}`;

for (const negRisk of [false, true]) {
  test(`a wallet that shows an order signs the digest that is its id, neg-risk ${negRisk}`, () => {
    for (const domain of [ownDomain, ...familyDomains]) {
      const digest = orderDigest(order, domainSeparator(domain, negRisk));
      assert.equal(hashTypedData(orderTypedData(order, domain, negRisk)), hex(digest));
    }
  });
}

test('a wallet that shows the attestation signs the digest of the L1 header', () => {
  const attestation = {
    address: wallet,
    timestamp: '1780000000000',
    nonce: 4n,
    purpose: 'create',
    domain: ownDomain,
  };
  assert.equal(hashTypedData(attestationTypedData(attestation)), hex(l1Digest(attestation)));
});
