import { bytesToHex, concatBytes } from '@noble/hashes/utils.js';
import { type OrderId, parseOrderId } from '@pm/schemas/ids';
import {
  depositWallet,
  type L1Purpose,
  l1Domain,
  l1Messages,
  l1TypeText,
  orderTypeText,
  type SigningDomain,
  wrappedOrderTypeText,
} from '@pm/schemas/signing';
import { hexWord, keccak, keccakText, word } from './keccak.ts';

/** The eleven signed fields of an order (conventions.md 3.2). Amounts are base units (10^-6). */
export interface OrderStruct {
  readonly salt: bigint;
  readonly maker: string;
  readonly signer: string;
  readonly tokenId: bigint;
  readonly makerAmount: bigint;
  readonly takerAmount: bigint;
  readonly side: 'BUY' | 'SELL';
  readonly signatureType: number;
  readonly timestampMs: bigint;
  readonly metadata: string;
  readonly builder: string;
}

const domainTypeHash = keccakText(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
);
const orderTypeHash = keccakText(orderTypeText);
const wrappedTypeHash = keccakText(wrappedOrderTypeText);
const l1TypeHash = keccakText(l1TypeText);
const prefix = Uint8Array.of(0x19, 0x01);

/** Separator of an exchange contract; `negRisk` picks the contract. */
export function domainSeparator(domain: SigningDomain, negRisk: boolean): Uint8Array {
  return separatorOf(domain, negRisk ? domain.negRiskExchange : domain.exchange);
}

function separatorOf(
  { name, version, chainId }: Pick<SigningDomain, 'name' | 'version' | 'chainId'>,
  contract: string,
): Uint8Array {
  return keccak(
    concatBytes(
      domainTypeHash,
      keccakText(name),
      keccakText(version),
      word(chainId),
      hexWord(contract),
    ),
  );
}

/** Hash of the struct alone. */
export function orderStructHash(order: OrderStruct): Uint8Array {
  return keccak(
    concatBytes(
      orderTypeHash,
      word(order.salt),
      hexWord(order.maker),
      hexWord(order.signer),
      word(order.tokenId),
      word(order.makerAmount),
      word(order.takerAmount),
      word(order.side === 'BUY' ? 0 : 1),
      word(order.signatureType),
      word(order.timestampMs),
      hexWord(order.metadata),
      hexWord(order.builder),
    ),
  );
}

/** Digest that an externally owned account signs; as 0x-text it is the order's id. */
export function orderDigest(order: OrderStruct, separator: Uint8Array): Uint8Array {
  return keccak(concatBytes(prefix, separator, orderStructHash(order)));
}

/** The order's id: its digest as text. */
export function orderIdOf(digest: Uint8Array): OrderId {
  const id = parseOrderId(`0x${bytesToHex(digest)}`);
  if (id === null) throw new RangeError('a digest has 32 bytes');
  return id;
}

/**
 * Digest that the owner of a deposit wallet signs: the order wrapped with the wallet's own domain (signature type 3).
 */
export function wrappedDigest(
  order: OrderStruct,
  separator: Uint8Array,
  chainId: number,
): Uint8Array {
  const wrapped = keccak(
    concatBytes(
      wrappedTypeHash,
      orderStructHash(order),
      keccakText(depositWallet.name),
      keccakText(depositWallet.version),
      word(chainId),
      hexWord(order.maker),
      word(0),
    ),
  );
  return keccak(concatBytes(prefix, separator, wrapped));
}

/** The inner signature and what a contract needs to check it: 317 bytes (conventions.md 3.3). */
export function wrapSignature(inner: string, order: OrderStruct, separator: Uint8Array): string {
  const typeText = new TextEncoder().encode(orderTypeText);
  const length = Uint8Array.of(typeText.length >> 8, typeText.length & 0xff);
  const tail = concatBytes(separator, orderStructHash(order), typeText, length);
  return `${inner}${bytesToHex(tail)}`;
}

/** Digest that a wallet signs for a purpose, such as its API key. `timestamp` is the text of the header. */
export function l1Digest(attestation: {
  readonly address: string;
  readonly timestamp: string;
  readonly nonce: bigint;
  readonly purpose: L1Purpose;
  readonly domain: SigningDomain;
}): Uint8Array {
  const { chainId, exchange } = attestation.domain;
  const separator = separatorOf({ ...l1Domain, chainId }, exchange);
  const struct = keccak(
    concatBytes(
      l1TypeHash,
      hexWord(attestation.address),
      keccakText(attestation.timestamp),
      word(attestation.nonce),
      keccakText(l1Messages[attestation.purpose]),
    ),
  );
  return keccak(concatBytes(prefix, separator, struct));
}
