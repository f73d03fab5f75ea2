import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { familyDomains } from '@pm/schemas/signing';
import { testDomain } from '../../kit/test/signing-domain.ts';
import { domainSeparator, l1Digest, type OrderStruct, orderDigest } from '../src/eip712.ts';
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

const textHash = (text: string) => keccak_256(utf8ToBytes(text));

/** A word of 32 bytes: EIP-712 has text and bytes as their hash, and numbers, addresses and fixed bytes as numbers. */
function wordOf(type: string, value: unknown): Uint8Array {
  if (type === 'string') return textHash(String(value));
  return hexToBytes(
    BigInt(value as string | number | bigint)
      .toString(16)
      .padStart(64, '0'),
  );
}

/** The hash of a struct without others in it, written from the text of EIP-712. */
function structHash(
  name: string,
  fields: readonly { readonly name: string; readonly type: string }[],
  values: Readonly<Record<string, unknown>>,
): Uint8Array {
  const type = `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`;
  const words = fields.map((field) => wordOf(field.type, values[field.name]));
  return keccak_256(concatBytes(textHash(type), ...words));
}

/**
 * Digest that a wallet signs for typed data that it is shown (viem gives the same:
 * acceptance/clients/test/typed-data.test.mjs).
 */
function digestShown({ domain, types, primaryType, message }: TypedData): Uint8Array {
  const hashOf = (name: string, values: TypedData['message']) =>
    structHash(name, types[name] ?? [], values);
  const hashes = [hashOf('EIP712Domain', domain), hashOf(primaryType, message)];
  return keccak_256(concatBytes(Uint8Array.of(0x19, 0x01), ...hashes));
}

test.each([false, true])(
  'a wallet that shows an order signs the digest that is its id, neg-risk %s',
  (negRisk) => {
    for (const domain of [testDomain, ...familyDomains]) {
      const digest = orderDigest(order, domainSeparator(domain, negRisk));
      expect(digestShown(orderTypedData(order, domain, negRisk))).toEqual(new Uint8Array(digest));
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
  const digest = l1Digest(attestation);
  expect(digestShown(attestationTypedData(attestation))).toEqual(new Uint8Array(digest));
});
