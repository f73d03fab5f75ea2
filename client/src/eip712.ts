import {
  depositWallet,
  l1Domain,
  l1Message,
  l1TypeText,
  type OrderId,
  orderTypeText,
  parseOrderId,
  type SigningDomain,
  wrappedOrderTypeText,
} from '@pm/schemas';
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
const l1DomainTypeHash = keccakText('EIP712Domain(string name,string version,uint256 chainId)');
const orderTypeHash = keccakText(orderTypeText);
const wrappedTypeHash = keccakText(wrappedOrderTypeText);
const l1TypeHash = keccakText(l1TypeText);
const prefix = Buffer.from('1901', 'hex');

/** Separator of an exchange contract; `negRisk` picks the contract. */
export function domainSeparator(domain: SigningDomain, negRisk: boolean): Buffer {
  return keccak(
    Buffer.concat([
      domainTypeHash,
      keccakText(domain.name),
      keccakText(domain.version),
      word(domain.chainId),
      hexWord(negRisk ? domain.negRiskExchange : domain.exchange),
    ]),
  );
}

/** Hash of the struct alone. */
export function orderStructHash(order: OrderStruct): Buffer {
  return keccak(
    Buffer.concat([
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
    ]),
  );
}

/** What an externally owned account signs; as 0x-text it is the order's id. */
export function orderDigest(order: OrderStruct, separator: Buffer): Buffer {
  return keccak(Buffer.concat([prefix, separator, orderStructHash(order)]));
}

/** The order's id: its digest as text. */
export function orderIdOf(digest: Buffer): OrderId {
  const id = parseOrderId(`0x${digest.toString('hex')}`);
  if (id === null) throw new RangeError('a digest has 32 bytes');
  return id;
}

/** What the owner of a deposit wallet signs: the order wrapped with the wallet's own domain (signature type 3). */
export function wrappedDigest(order: OrderStruct, separator: Buffer, chainId: number): Buffer {
  const wrapped = keccak(
    Buffer.concat([
      wrappedTypeHash,
      orderStructHash(order),
      keccakText(depositWallet.name),
      keccakText(depositWallet.version),
      word(chainId),
      hexWord(order.maker),
      word(0),
    ]),
  );
  return keccak(Buffer.concat([prefix, separator, wrapped]));
}

/** The inner signature and what a contract needs to check it: 317 bytes (conventions.md 3.3). */
export function wrapSignature(inner: string, order: OrderStruct, separator: Buffer): string {
  const typeText = Buffer.from(orderTypeText, 'ascii');
  const length = Buffer.from([typeText.length >> 8, typeText.length & 0xff]);
  const tail = Buffer.concat([separator, orderStructHash(order), typeText, length]);
  return `${inner}${tail.toString('hex')}`;
}

/** What a wallet signs to obtain its API key. `timestamp` is the header's text, Unix seconds. */
export function l1Digest(attestation: {
  address: string;
  timestamp: string;
  nonce: bigint;
  chainId: number;
}): Buffer {
  const separator = keccak(
    Buffer.concat([
      l1DomainTypeHash,
      keccakText(l1Domain.name),
      keccakText(l1Domain.version),
      word(attestation.chainId),
    ]),
  );
  const struct = keccak(
    Buffer.concat([
      l1TypeHash,
      hexWord(attestation.address),
      keccakText(attestation.timestamp),
      word(attestation.nonce),
      keccakText(l1Message),
    ]),
  );
  return keccak(Buffer.concat([prefix, separator, struct]));
}
