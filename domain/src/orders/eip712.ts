import { type OrderId, orderIdFromBytes } from '@pm/schemas/ids';
import type { Side } from '@pm/schemas/log/types';
import {
  depositWallet,
  familyDomains,
  type L1Purpose,
  l1Domain,
  l1Message,
  l1Messages,
  l1TypeText,
  orderTypeText,
  type SignatureType,
  type SigningDomain,
  wrappedOrderTypeText,
} from '@pm/schemas/signing';
import type { AcceptedDomains } from '../accounts/signing-domain.ts';

/** Keccak-256 in a new buffer. */
export type Keccak = (bytes: Buffer) => Buffer;

/** The eleven signed fields of an order (conventions.md 3.1, 3.2); addresses 20 bytes, the rest 32 or a number. */
export interface OrderStruct {
  readonly salt: bigint;
  readonly maker: Buffer;
  readonly signer: Buffer;
  readonly token: Buffer;
  readonly makerAmount: bigint;
  readonly takerAmount: bigint;
  readonly side: Side;
  readonly signatureType: SignatureType;
  readonly timestamp: bigint;
  readonly metadata: Buffer;
  readonly builder: Buffer;
}

/** A signing domain with its separators computed once. */
export interface HashedDomain {
  readonly domain: SigningDomain;
  readonly separator: Buffer;
  readonly negRiskSeparator: Buffer;
}

/** Hashes that a wallet must have signed for an attestation, by domain. */
export interface AttestationHashes {
  /** In the domain of the installation: it names its purpose. */
  readonly own: Buffer;
  /** In the accepted domains of the family: it names none. */
  readonly family: readonly Buffer[];
  refused(): readonly Buffer[];
}

const wordBytes = 32;
const addressPad = 12;
const orderWords = 12;
const domainText =
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)';
const l1DomainText = 'EIP712Domain(string name,string version,uint256 chainId)';

/**
 * EIP-712 hashes of orders and of wallet attestations. The layout is fixed, so a struct is written into one reused
 * buffer and hashed at once; what the type and domain contribute is computed when this is opened.
 */
export class OrderHasher {
  /** The accepted domains, that of the installation first. */
  readonly domains: readonly HashedDomain[];
  /** Known domains of other exchanges: what is signed for them is refused by its name. */
  readonly refused: readonly HashedDomain[];
  readonly keccak: Keccak;
  readonly #own: HashedDomain;
  readonly #order = Buffer.alloc(orderWords * wordBytes);
  readonly #wrapped = Buffer.alloc(7 * wordBytes);
  readonly #digest = Buffer.alloc(2 + 2 * wordBytes);
  readonly #l1: {
    readonly type: Buffer;
    readonly own: Buffer;
    readonly family: readonly Buffer[];
    readonly refused: readonly Buffer[];
  };

  constructor(keccak: Keccak, { own, family }: AcceptedDomains) {
    this.keccak = keccak;
    this.#own = this.#hashed(own);
    this.domains = [this.#own, ...family.map((domain) => this.#hashed(domain))];
    this.refused = familyDomains
      .map((domain) => this.#hashed(domain))
      .filter((known) => !isAmong(this.domains, known));
    this.#hashText(orderTypeText).copy(this.#order, 0);
    this.#hashText(wrappedOrderTypeText).copy(this.#wrapped, 0);
    this.#hashText(depositWallet.name).copy(this.#wrapped, 2 * wordBytes);
    this.#hashText(depositWallet.version).copy(this.#wrapped, 3 * wordBytes);
    this.#digest.writeUInt16BE(0x1901, 0);
    this.#l1 = {
      type: this.#hashText(l1TypeText),
      own: this.#separator({ ...l1Domain, chainId: own.chainId }, own.exchange),
      family: this.#l1Separators(family),
      refused: this.#l1Separators(this.refused.map(({ domain }) => domain)),
    };
  }

  /** Hash of the order's fields; the same under every domain. */
  structHash(order: OrderStruct): Buffer {
    const into = this.#order;
    writeWord(into, 1, order.salt);
    order.maker.copy(into, 2 * wordBytes + addressPad);
    order.signer.copy(into, 3 * wordBytes + addressPad);
    order.token.copy(into, 4 * wordBytes);
    writeWord(into, 5, order.makerAmount);
    writeWord(into, 6, order.takerAmount);
    writeWord(into, 7, order.side === 'BUY' ? 0n : 1n);
    writeWord(into, 8, BigInt(order.signatureType));
    writeWord(into, 9, order.timestamp);
    order.metadata.copy(into, 10 * wordBytes);
    order.builder.copy(into, 11 * wordBytes);
    return this.keccak(into);
  }

  /** The order's hash under a domain: what signature types 0 to 2 sign, and the order's id. */
  orderHash(separator: Buffer, structHash: Buffer): Buffer {
    separator.copy(this.#digest, 2);
    structHash.copy(this.#digest, 2 + wordBytes);
    return this.keccak(this.#digest);
  }

  /** The id an order has under the installation's domain, for texts about orders whose signature was not checked. */
  likelyId(structHash: Buffer, negRisk: boolean): OrderId {
    const { separator, negRiskSeparator } = this.#own;
    return orderIdFromBytes(this.orderHash(negRisk ? negRiskSeparator : separator, structHash));
  }

  /**
   * The hash that the owner of a deposit wallet signs (type 3): the order inside the wallet's own domain
   * (conventions.md 3.3).
   */
  wrappedHash(
    domain: { readonly separator: Buffer; readonly chainId: number },
    structHash: Buffer,
    wallet: Buffer,
  ): Buffer {
    structHash.copy(this.#wrapped, wordBytes);
    writeWord(this.#wrapped, 4, BigInt(domain.chainId));
    wallet.copy(this.#wrapped, 5 * wordBytes + addressPad);
    return this.orderHash(domain.separator, this.keccak(this.#wrapped));
  }

  /** The hashes of which a wallet signs one for a purpose (conventions.md 2.1). */
  attestationHashes(claim: {
    readonly address: Buffer;
    readonly timestamp: string;
    readonly nonce: string;
    readonly purpose: L1Purpose;
  }): AttestationHashes {
    const own = this.#attestationStruct(claim, l1Messages[claim.purpose]);
    const ofFamily = this.#attestationStruct(claim, l1Message);
    const hashed = (separators: readonly Buffer[]) =>
      separators.map((separator) => this.orderHash(separator, ofFamily));
    return {
      own: this.orderHash(this.#l1.own, own),
      family: hashed(this.#l1.family),
      refused: () => hashed(this.#l1.refused),
    };
  }

  #attestationStruct(
    claim: { readonly address: Buffer; readonly timestamp: string; readonly nonce: string },
    message: string,
  ): Buffer {
    const struct = Buffer.alloc(5 * wordBytes);
    this.#l1.type.copy(struct, 0);
    claim.address.copy(struct, wordBytes + addressPad);
    this.#hashText(claim.timestamp).copy(struct, 2 * wordBytes);
    writeWord(struct, 3, BigInt(claim.nonce));
    this.#hashText(message).copy(struct, 4 * wordBytes);
    return this.keccak(struct);
  }

  #hashed(domain: SigningDomain): HashedDomain {
    return {
      domain,
      separator: this.#separator(domain, domain.exchange),
      negRiskSeparator: this.#separator(domain, domain.negRiskExchange),
    };
  }

  #separator(
    domain: Pick<SigningDomain, 'name' | 'version' | 'chainId'>,
    contract: string,
  ): Buffer {
    const into = Buffer.alloc(5 * wordBytes);
    this.#hashText(domainText).copy(into, 0);
    this.#hashText(domain.name).copy(into, wordBytes);
    this.#hashText(domain.version).copy(into, 2 * wordBytes);
    writeWord(into, 3, BigInt(domain.chainId));
    Buffer.from(contract.slice(2), 'hex').copy(into, 4 * wordBytes + addressPad);
    return this.keccak(into);
  }

  /** The L1 separators of the family, which name a chain and no contract. */
  #l1Separators(domains: readonly SigningDomain[]): readonly Buffer[] {
    const chainIds = new Set(domains.map(({ chainId }) => chainId));
    return [...chainIds].map((chainId) => this.#l1Separator(chainId));
  }

  #l1Separator(chainId: number): Buffer {
    const into = Buffer.alloc(4 * wordBytes);
    this.#hashText(l1DomainText).copy(into, 0);
    this.#hashText(l1Domain.name).copy(into, wordBytes);
    this.#hashText(l1Domain.version).copy(into, 2 * wordBytes);
    writeWord(into, 3, BigInt(chainId));
    return this.keccak(into);
  }

  #hashText(text: string): Buffer {
    return this.keccak(Buffer.from(text, 'utf8'));
  }
}

/** Compared by value: a thread has copies of the domains. */
function isAmong(domains: readonly HashedDomain[], { separator }: HashedDomain): boolean {
  return domains.some((one) => one.separator.equals(separator));
}

const limbMask = (1n << 64n) - 1n;

/** A uint256 as a big-endian word; nearly all values fit its last eight bytes. */
function writeWord(into: Buffer, word: number, value: bigint): void {
  const at = word * wordBytes;
  if (value <= limbMask) {
    into.fill(0, at, at + 24);
    into.writeBigUInt64BE(value, at + 24);
    return;
  }
  into.writeBigUInt64BE((value >> 192n) & limbMask, at);
  into.writeBigUInt64BE((value >> 128n) & limbMask, at + 8);
  into.writeBigUInt64BE((value >> 64n) & limbMask, at + 16);
  into.writeBigUInt64BE(value & limbMask, at + 24);
}
