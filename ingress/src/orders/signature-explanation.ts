import type { HashedDomain, OrderHasher } from '@pm/domain/orders/eip712';
import { type Curve, recoveryOf, type SignatureJob } from '@pm/domain/orders/signature';
import { walletFromBytes } from '@pm/schemas/ids';
import type { SigningDomain } from '@pm/schemas/signing';

/** The proof of a signature under one known domain. */
export interface DomainReading {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: string;
  /** The 32 bytes that the signer must have signed. */
  readonly digest: string;
  /** The id the order has under this domain. */
  readonly orderHash: string;
  /** The signer of that digest; null when there is none. */
  readonly recovered: string | null;
  readonly matches: boolean;
  /** Whether orders signed for this domain are accepted here. */
  readonly accepted: boolean;
}

const plainBytes = 65;

/** Reads a signature under every known domain, for clients that want to know why theirs is refused. Slow. */
export function explainSignature(
  job: SignatureJob,
  { hasher, curve }: { readonly hasher: OrderHasher; readonly curve: Curve },
): readonly DomainReading[] {
  const readingOf = ({ domain, ...separators }: HashedDomain, accepted: boolean) => {
    const separator = job.negRisk ? separators.negRiskSeparator : separators.separator;
    const orderHash = hasher.orderHash(separator, job.structHash);
    const at = { separator, chainId: domain.chainId };
    const digest = job.wrapped ? hasher.wrappedHash(at, job.structHash, job.maker) : orderHash;
    const recovered = recover(job.signature.subarray(0, plainBytes), digest, curve);
    return {
      ...namesOf(domain, job.negRisk),
      digest: hexOf(digest),
      orderHash: hexOf(orderHash),
      recovered: recovered === null ? null : walletFromBytes(recovered),
      matches: recovered?.equals(job.owner) ?? false,
      accepted,
    };
  };
  return [
    ...hasher.domains.map((domain) => readingOf(domain, true)),
    ...hasher.refused.map((domain) => readingOf(domain, false)),
  ];
}

function namesOf({ name, version, chainId, ...contracts }: SigningDomain, negRisk: boolean) {
  const verifyingContract = negRisk ? contracts.negRiskExchange : contracts.exchange;
  return { name, version, chainId, verifyingContract };
}

function recover(signature: Buffer, digest: Buffer, curve: Curve): Buffer | null {
  if (signature.length !== plainBytes) return null;
  const last = signature[64] ?? 255;
  const recovery = recoveryOf(last);
  if (recovery === null) return null;
  const key = curve.recoverKey(signature.subarray(0, 64), recovery, digest);
  return key === null ? null : curve.addressOf(key);
}

function hexOf(bytes: Buffer): string {
  return `0x${bytes.toString('hex')}`;
}
