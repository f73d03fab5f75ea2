import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SigningDomain, walletFromBytes } from '@pm/schemas';
import {
  domainSeparator,
  l1Digest,
  type OrderStruct,
  orderDigest,
  orderStructHash,
  wrappedDigest,
  wrapSignature,
} from '../src/eip712.ts';
import { l2Headers } from '../src/http.ts';
import { walletFromPrivateKey } from '../src/wallet.ts';

const file = join(__dirname, '../../../shared/data/signature-vectors.json');
const present = existsSync(file);
if (!present) {
  process.stdout.write(`SKIPPED client/vectors: ${file} is not here, its licence forbids a copy\n`);
}

interface Vector {
  readonly id: string;
  readonly struct: string;
  readonly domain: { name: string; version: string; chainId: number; verifyingContract: string };
  readonly order: Record<string, string | number>;
  readonly order_hash: string;
  readonly signature: string;
  readonly signed_digest?: string;
}

interface Vectors {
  readonly public_test_key: string;
  readonly public_test_address: string;
  readonly orders: readonly Vector[];
  readonly erc1271_orders: readonly Vector[];
  readonly l1_clob_auth: readonly {
    readonly domain: { chainId: number };
    readonly message: { address: string; timestamp: string; nonce: number };
    readonly digest: string;
    readonly signature: string;
  }[];
  readonly l2_hmac: readonly {
    readonly secret: string;
    readonly timestamp: string;
    readonly method: string;
    readonly path: string;
    readonly body: string;
    readonly signature: string;
  }[];
}

const vectors: Vectors = present
  ? JSON.parse(readFileSync(file, 'utf8'))
  : {
      public_test_key: '',
      public_test_address: '',
      orders: [],
      erc1271_orders: [],
      l1_clob_auth: [],
      l2_hmac: [],
    };

const version2 = vectors.orders.filter((vector) => vector.struct === 'order_v2');

function structOf(order: Record<string, string | number>): OrderStruct {
  const field = (name: string) => String(order[name]);
  return {
    salt: BigInt(field('salt')),
    maker: field('maker').toLowerCase(),
    signer: field('signer').toLowerCase(),
    tokenId: BigInt(field('tokenId')),
    makerAmount: BigInt(field('makerAmount')),
    takerAmount: BigInt(field('takerAmount')),
    side: order['side'] === 0 ? 'BUY' : 'SELL',
    signatureType: Number(order['signatureType']),
    timestampMs: BigInt(field('timestamp')),
    metadata: field('metadata'),
    builder: field('builder'),
  };
}

function domainOf(vector: Vector): SigningDomain {
  const exchange = vector.domain.verifyingContract.toLowerCase();
  return { ...vector.domain, exchange, negRiskExchange: exchange };
}

const hex = (bytes: Buffer) => `0x${bytes.toString('hex')}`;

const suite = present ? describe : describe.skip;

suite('published vectors', () => {
  const wallet = () => walletFromPrivateKey(vectors.public_test_key);

  test('the public test key has the published address', () => {
    expect(wallet().checksummed).toBe(vectors.public_test_address);
  });

  test.each(version2)('$id hashes and signs as published', (vector) => {
    const digest = orderDigest(structOf(vector.order), domainSeparator(domainOf(vector), false));
    expect(hex(digest)).toBe(vector.order_hash);
    expect(wallet().sign(digest)).toBe(vector.signature);
  });

  test.each(vectors.erc1271_orders)('$id wraps as published', (vector) => {
    const order = structOf(vector.order);
    const separator = domainSeparator(domainOf(vector), false);
    const digest = wrappedDigest(order, separator, vector.domain.chainId);
    expect(hex(orderDigest(order, separator))).toBe(vector.order_hash);
    expect(hex(digest)).toBe(vector.signed_digest);
    expect(wrapSignature(wallet().sign(digest), order, separator)).toBe(vector.signature);
  });

  test.each(vectors.l1_clob_auth)('the L1 attestation signs as published', (vector) => {
    const digest = l1Digest({
      address: vector.message.address.toLowerCase(),
      timestamp: vector.message.timestamp,
      nonce: BigInt(vector.message.nonce),
      chainId: vector.domain.chainId,
    });
    expect(hex(digest)).toBe(vector.digest);
    expect(wallet().sign(digest)).toBe(vector.signature);
  });
});

test('the L2 signature covers timestamp, method, path and the very bytes of the body', () => {
  const key = { apiKey: 'k', passphrase: 'p', secret: `${'A'.repeat(43)}=`, address: '0x' };
  const one = l2Headers(key, { method: 'POST', path: '/order', body: { a: 1 } }, 1_000_000_000);
  const other = l2Headers(key, { method: 'POST', path: '/order', body: { a: 2 } }, 1_000_000_000);
  expect(one['SERVICE_TIMESTAMP']).toBe('1000000');
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
