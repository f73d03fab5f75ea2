import { walletFromBytes } from '@pm/schemas/ids';
import type { SigningDomain } from '@pm/schemas/signing';
import {
  type OrderVector,
  readPublishedVectors,
  type VectorOrder,
} from '../../kit/test/published-vectors.ts';
import {
  domainSeparator,
  type OrderStruct,
  orderDigest,
  orderStructHash,
  wrappedDigest,
  wrapSignature,
} from '../src/eip712.ts';
import { l2Headers } from '../src/http.ts';
import { walletFromPrivateKey } from '../src/wallet.ts';

const vectors = readPublishedVectors();
const version2 = (vectors?.orders ?? []).filter((vector) => vector.struct === 'order_v2');

function structOf(order: VectorOrder): OrderStruct {
  return {
    salt: BigInt(order.salt),
    maker: order.maker.toLowerCase(),
    signer: order.signer.toLowerCase(),
    tokenId: BigInt(order.tokenId),
    makerAmount: BigInt(order.makerAmount),
    takerAmount: BigInt(order.takerAmount),
    side: order.side === 0 ? 'BUY' : 'SELL',
    signatureType: order.signatureType,
    timestampMs: BigInt(order.timestamp),
    metadata: order.metadata,
    builder: order.builder,
  };
}

function domainOf(vector: OrderVector): SigningDomain {
  const exchange = vector.domain.verifyingContract.toLowerCase();
  return { ...vector.domain, exchange, negRiskExchange: exchange };
}

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;

const suite = vectors !== null ? describe : describe.skip;

suite('published vectors', () => {
  const wallet = () => walletFromPrivateKey(vectors?.public_test_key ?? '');

  test('the public test key has the published address', () => {
    expect(wallet().checksummed).toBe(vectors?.public_test_address);
  });

  test.each(version2)('$id hashes and signs as published', (vector) => {
    const digest = orderDigest(structOf(vector.order), domainSeparator(domainOf(vector), false));
    expect(hex(digest)).toBe(vector.order_hash);
    expect(wallet().sign(digest)).toBe(vector.signature);
  });

  test.each(vectors?.erc1271_orders ?? [])('$id wraps as published', (vector) => {
    const order = structOf(vector.order);
    const separator = domainSeparator(domainOf(vector), false);
    const digest = wrappedDigest(order, separator, vector.domain.chainId);
    expect(hex(orderDigest(order, separator))).toBe(vector.order_hash);
    expect(hex(digest)).toBe(vector.signed_digest);
    expect(wrapSignature(wallet().sign(digest), order, separator)).toBe(vector.signature);
  });
});

test('the L2 signature covers timestamp, method, path and the very bytes of the body', () => {
  const key = { apiKey: 'k', passphrase: 'p', secret: `${'A'.repeat(43)}=`, address: '0x' };
  const one = l2Headers(key, { method: 'POST', path: '/order', body: { a: 1 } }, 1_000_000_000);
  const other = l2Headers(key, { method: 'POST', path: '/order', body: { a: 2 } }, 1_000_000_000);
  expect(one['SERVICE_TIMESTAMP']).toBe('1000000000');
  expect(one['SERVICE_SIGNATURE']).toMatch(/^[\w-]{43}=$/);
  expect(one['SERVICE_SIGNATURE']).not.toBe(other['SERVICE_SIGNATURE']);
});

test('the struct hash depends on every signed field', () => {
  const order: OrderStruct = {
    salt: 1n,
    maker: walletFromBytes(Buffer.alloc(20, 1)),
    signer: walletFromBytes(Buffer.alloc(20, 2)),
    tokenId: 3n,
    makerAmount: 4n,
    takerAmount: 5n,
    side: 'BUY',
    signatureType: 0,
    timestampMs: 6n,
    metadata: hex(Buffer.alloc(32)),
    builder: hex(Buffer.alloc(32)),
  };
  const changes: Partial<OrderStruct>[] = [
    { salt: 2n },
    { maker: order.signer },
    { signer: order.maker },
    { tokenId: 4n },
    { makerAmount: 5n },
    { takerAmount: 6n },
    { side: 'SELL' },
    { signatureType: 1 },
    { timestampMs: 7n },
    { metadata: hex(Buffer.alloc(32, 1)) },
    { builder: hex(Buffer.alloc(32, 1)) },
  ];
  const hashes = [order, ...changes.map((change) => ({ ...order, ...change }))].map((one) =>
    hex(orderStructHash(one)),
  );
  expect(new Set(hashes).size).toBe(changes.length + 1);
});
