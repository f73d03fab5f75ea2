import { orderTypeText } from '@pm/schemas/signing';
import type { AttestationHashes, HashedDomain, OrderHasher } from './eip712.ts';

/** One order to be proven; bytes only, so that it can cross to a worker thread. */
export interface SignatureJob {
  /** 65 bytes, or 317 of a wrapped order. */
  readonly signature: Buffer;
  readonly structHash: Buffer;
  readonly wrapped: boolean;
  readonly negRisk: boolean;
  /** Who must have signed, 20 bytes: the wallet of the API key. */
  readonly owner: Buffer;
  /** The deposit wallet of a wrapped order, 20 bytes. */
  readonly maker: Buffer;
}

/**
 * The order's hash under the accepted domain that its signature matches, which is its id; `other_domain` when it is
 * signed for another exchange; null when it matches no known domain.
 */
export type SignatureResult = Buffer | 'other_domain' | null;

/**
 * Result of the check of a wallet's own signature: valid for the domain of the installation, valid for a domain of the
 * family, for another domain, or invalid.
 */
export type AttestationResult = 'own' | 'family' | 'other_domain' | 'invalid';

/** The last byte of a signature as the parity of the signer's point. */
export type Recovery = 0 | 1;

/** The functions of secp256k1 that ingress needs. `signature` is r and s, 64 bytes; a high s is not refused by them. */
export interface Curve {
  /** Public key of the signer, 65 bytes; null when no key could have signed. */
  recoverKey(signature: Buffer, recovery: Recovery, hash: Buffer): Buffer | null;
  addressOf(publicKey: Buffer): Buffer;
}

const plainBytes = 65;
const typeBytes = Buffer.from(orderTypeText, 'ascii');
const separatorAt = plainBytes;
const structAt = separatorAt + 32;
const typeAt = structAt + 32;
const lengthAt = typeAt + typeBytes.length;
const wrappedBytes = lengthAt + 2;

/** s of a signature may be at most half of the curve's order, so that no second signature can be made out of it. */
const halfOrder = Buffer.from(
  '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0',
  'hex',
);

/** Proves the signer of an order or an attestation. Pure; the native parts come as arguments. */
export class SignatureRule {
  readonly #hasher: OrderHasher;
  readonly #curve: Curve;

  constructor(hasher: OrderHasher, curve: Curve) {
    this.#hasher = hasher;
    this.#curve = curve;
  }

  /** Tries the accepted domains, the likeliest first (conventions.md 3.2, 3.3). */
  check(job: SignatureJob): SignatureResult {
    return job.wrapped ? this.#checkWrapped(job) : this.#checkPlain(job);
  }

  /** Whether the owner signed the attestation, and for this installation. */
  attest(signature: Buffer, hashes: AttestationHashes, owner: Buffer): AttestationResult {
    const isSigned = (hash: Buffer) => this.#isSignedBy(signature, hash, owner);
    if (isSigned(hashes.own)) return 'own';
    if (hashes.family.some(isSigned)) return 'family';
    return hashes.refused().some(isSigned) ? 'other_domain' : 'invalid';
  }

  #checkPlain(job: SignatureJob): SignatureResult {
    if (job.signature.length !== plainBytes) return null;
    const hash = this.#findPlain(job, this.#hasher.domains);
    if (hash !== null) return hash;
    return this.#findPlain(job, this.#hasher.refused) === null ? null : 'other_domain';
  }

  #findPlain(job: SignatureJob, domains: readonly HashedDomain[]): Buffer | null {
    for (const domain of domains) {
      const separator = job.negRisk ? domain.negRiskSeparator : domain.separator;
      const hash = this.#hasher.orderHash(separator, job.structHash);
      if (this.#isSignedBy(job.signature, hash, job.owner)) return hash;
    }
    return null;
  }

  /** The signature names its domain, so only that one is tried, and one that is not accepted is known as such. */
  #checkWrapped(job: SignatureJob): SignatureResult {
    const { signature, structHash } = job;
    if (signature.length !== wrappedBytes) return null;
    if (!structHash.equals(signature.subarray(structAt, typeAt))) return null;
    if (!typeBytes.equals(signature.subarray(typeAt, lengthAt))) return null;
    if (signature.readUInt16BE(lengthAt) !== typeBytes.length) return null;
    const named = signature.subarray(separatorAt, structAt);
    const domain = this.#hasher.domains.find((one) =>
      named.equals(job.negRisk ? one.negRiskSeparator : one.separator),
    );
    if (domain === undefined) return this.#isOtherContract(job, named) ? null : 'other_domain';
    const at = { separator: named, chainId: domain.domain.chainId };
    const hash = this.#hasher.wrappedHash(at, structHash, job.maker);
    if (!this.#isSignedBy(signature.subarray(0, plainBytes), hash, job.owner)) return null;
    return this.#hasher.orderHash(named, structHash);
  }

  /** Whether the domain is accepted for the other kind of market. */
  #isOtherContract({ negRisk }: SignatureJob, named: Uint8Array): boolean {
    return this.#hasher.domains.some((one) =>
      (negRisk ? one.separator : one.negRiskSeparator).equals(named),
    );
  }

  /**
   * The last byte (27, 28, 0 or 1) must name the key that signed. A check of r and s under a known key is 10
   * microseconds shorter but accepts either value of that byte, so the key is recovered from every signature.
   */
  #isSignedBy(signature: Buffer, hash: Buffer, owner: Buffer): boolean {
    const recovery = recoveryOf(signature[64] ?? 255);
    const rs = signature.subarray(0, 64);
    if (recovery === null || isHighS(rs)) return false;
    const publicKey = this.#curve.recoverKey(rs, recovery, hash);
    return publicKey !== null && this.#curve.addressOf(publicKey).equals(owner);
  }
}

export function recoveryOf(last: number): Recovery | null {
  if (last === 0 || last === 27) return 0;
  return last === 1 || last === 28 ? 1 : null;
}

function isHighS(signature: Buffer): boolean {
  return Buffer.compare(signature.subarray(32, 64), halfOrder) > 0;
}
