import { headers as names } from '@pm/schemas/signing';
import { readPublishedVectors } from '../../../kit/test/published-vectors.ts';
import { coverageOf } from '../../src/accounts/request-hmac.ts';
import { readWalletClaim } from '../../src/accounts/wallet-claim.ts';

const vectors = readPublishedVectors();
const given = vectors === null ? it.skip : it;

describe('published vectors', () => {
  given('every HMAC of a request is proven, and of no other body', () => {
    expect(vectors?.l2_hmac.length).toBeGreaterThan(0);
    for (const vector of vectors?.l2_hmac ?? []) {
      const digest = Buffer.from(vector.signature, 'base64url');
      const claim = { timestamp: vector.timestamp, digest };
      const body = Buffer.from(vector.body);
      const request = { method: vector.method, url: vector.path, body, idempotencyKey: '' };
      const secret = Buffer.from(vector.secret, 'base64url');
      expect(coverageOf(secret, claim, request)).not.toBeNull();
      const other = { ...request, body: Buffer.from(`${vector.body} `) };
      expect(coverageOf(secret, claim, other)).toBeNull();
    }
  });

  given('every request for a key is read', () => {
    for (const { message, signature } of vectors?.l1_clob_auth ?? []) {
      const claim = readWalletClaim({
        [names.address.toLowerCase()]: message.address,
        [names.signature.toLowerCase()]: signature,
        [names.timestamp.toLowerCase()]: message.timestamp,
        [names.nonce.toLowerCase()]: String(message.nonce),
      });
      expect(claim).toEqual({
        address: message.address.toLowerCase(),
        signature: Buffer.from(signature.slice(2), 'hex'),
        timestamp: message.timestamp,
        timestampMs: Number(message.timestamp) * 1000,
        nonce: String(message.nonce),
      });
    }
  });
});
