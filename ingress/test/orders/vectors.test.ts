import type { SignatureResult } from '@pm/domain/orders/signature';
import { familyDomains } from '@pm/schemas/signing';
import { type OrderVector, readPublishedVectors } from '../../../kit/test/published-vectors.ts';
import { bytesOf, jobFor, openRule, structOf } from '../signing-fixture.ts';
import type { TestOrder } from '../wallet-fixture.ts';

const vectors = readPublishedVectors();
const given = vectors === null ? test.skip : test;
const version2 = (list: readonly OrderVector[] | undefined) =>
  (list ?? []).filter((vector) => vector.struct === 'order_v2');

const hexOf = (verdict: SignatureResult) =>
  Buffer.isBuffer(verdict) ? verdict.toString('hex') : verdict;

function orderOf({ order }: OrderVector): TestOrder {
  return { ...order, side: order.side === 0 ? 'BUY' : 'SELL' };
}

const contractOf = ({ domain }: OrderVector) => domain.verifyingContract.toLowerCase();

function isNegRisk(vector: OrderVector): boolean {
  const contract = contractOf(vector);
  return familyDomains.some((one) => one.negRiskExchange === contract);
}

describe('published signature vectors', () => {
  given('the file has what it had', () => {
    expect(version2(vectors?.orders)).toHaveLength(4);
    expect(version2(vectors?.erc1271_orders)).toHaveLength(2);
    expect(version2(vectors?.real_wallet_orders)).toHaveLength(1);
  });

  given('every plain order of version 2 is proven, and has its published hash as id', () => {
    for (const vector of [...version2(vectors?.orders), ...version2(vectors?.real_wallet_orders)]) {
      const { hasher, rule } = openRule();
      const order = orderOf(vector);
      const structHash = hasher.structHash(structOf(order));
      const signer = vector.recovered_address ?? order.signer;
      const job = { ...jobFor(order, vector.signature, signer, isNegRisk(vector)), structHash };
      expect([vector.id, hexOf(rule.check(job))]).toEqual([vector.id, vector.order_hash.slice(2)]);
      expect(rule.check({ ...job, negRisk: !job.negRisk })).toBeNull();
    }
  });

  given('every wrapped order is proven by its inner owner', () => {
    for (const vector of version2(vectors?.erc1271_orders)) {
      const { hasher, rule } = openRule();
      const order = orderOf(vector);
      const structHash = hasher.structHash(structOf(order));
      const job = { ...jobFor(order, vector.signature, vector.owner_recovered ?? ''), structHash };
      expect(hexOf(rule.check(job))).toBe(vector.order_hash.slice(2));
      const domain = hasher.domains.find(
        ({ domain: one }) =>
          one.exchange === contractOf(vector) && one.chainId === vector.domain.chainId,
      );
      if (domain === undefined) throw new Error('the chain is accepted');
      const at = { separator: domain.separator, chainId: vector.domain.chainId };
      const digest = hasher.wrappedHash(at, structHash, job.maker);
      expect(digest.toString('hex')).toBe(vector.signed_digest?.slice(2));
      expect(rule.check({ ...job, maker: Buffer.alloc(20, 9) })).toBeNull();
    }
  });

  given('every wallet attestation is proven', () => {
    for (const { message, digest, signature } of vectors?.l1_clob_auth ?? []) {
      const { hasher, rule } = openRule();
      const address = bytesOf(message.address);
      const nonce = String(message.nonce);
      const purpose = 'create' as const;
      const claim = { address, timestamp: message.timestamp, nonce, purpose };
      const hashes = hasher.attestationHashes(claim);
      expect(hashes.family.map((hash) => `0x${hexOf(hash)}`)).toContain(digest);
      expect(rule.attest(bytesOf(signature), hashes, address)).toBe('family');
      const others = hasher.attestationHashes({ ...claim, nonce: '24' });
      expect(rule.attest(bytesOf(signature), others, address)).toBe('invalid');
    }
  });
});
