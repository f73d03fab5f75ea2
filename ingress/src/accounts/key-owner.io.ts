import { createHash } from 'node:crypto';
import { freshnessOf, isFresh } from '@pm/domain/accounts/auth-headers';
import { claimsApiKey } from '@pm/domain/accounts/key-claim';
import { readWalletClaim, type WalletClaim } from '@pm/domain/accounts/wallet-claim';
import { refuse } from '@pm/kit/http';
import type { ApiKeyId, WalletAddress } from '@pm/schemas/ids';
import { refusalText } from '@pm/schemas/refusals';
import type { L1Purpose } from '@pm/schemas/signing';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuseUnproven, signedFacts } from '../http/authentication.io.ts';
import { useProof } from '../http/replayed-requests.io.ts';
import type { UsedProof } from '../http/used-proofs.io.ts';
import type { AccountServices } from './account-services.io.ts';

/** Who asks about the keys of a wallet. */
export interface KeyOwner {
  readonly wallet: WalletAddress;
  /** How it was proven: by one of the keys, or by the wallet itself with the nonce of one. */
  readonly by: { readonly apiKey: ApiKeyId } | Pick<WalletClaim, 'nonce' | 'timestampMs'>;
}

/**
 * Proves the owner of keys by one of them or, as ccxt does, by the wallet's own signature: a request with the headers
 * of an API key is judged by it alone. Null after the refusal was sent (conventions.md 2.6).
 */
export async function proveOwner(
  request: FastifyRequest,
  reply: FastifyReply,
  services: WalletProof,
): Promise<KeyOwner | null> {
  if (claimsApiKey(request.headers)) {
    const holder = services.authentication.verify(signedFacts(request));
    if (holder !== null) return { wallet: holder.wallet, by: { apiKey: holder.apiKey } };
    refuseUnproven(request, reply, services.authentication);
    return null;
  }
  const claim = await proveWallet(request, reply, services);
  return claim === null ? null : { wallet: claim.address, by: claim };
}

/** Dependencies of the proof of a wallet by its own signature. */
export type WalletServices = Pick<AccountServices, 'authentication' | 'signatures' | 'repetitions'>;

interface WalletProof extends WalletServices {
  readonly purpose: L1Purpose;
  /** See `UsedProof`. */
  readonly isSpent?: boolean;
}

/**
 * Whether a signature is refused for good once it was used. A list, or a revocation of the same nonce, says and does
 * nothing more within two seconds, and waits for no memory of used proofs.
 */
const repetitionOf: Readonly<Record<L1Purpose, UsedProof['repetition']>> = {
  create: 'refused',
  list: 'brief',
  revoke: 'brief',
};

/**
 * Proves the wallet of a request, and that it signed for this purpose; null after the refusal was sent (conventions.md
 * 2.1, 2.3). For the domain of the installation a signature is good once. The family's names no purpose, and its
 * clients send it more than once.
 */
export async function proveWallet(
  request: FastifyRequest,
  reply: FastifyReply,
  { purpose, isSpent = false, ...services }: WalletProof,
): Promise<WalletClaim | null> {
  const { authentication, signatures, repetitions } = services;
  const { clock, freshness } = authentication;
  const claim = readWalletClaim(request.headers);
  const nowMs = clock.nowMs();
  const isOnTime = claim !== null && isFresh(claim, nowMs, freshness);
  const verdict = isOnTime ? signatures.attest(claim, purpose) : 'invalid';
  if (isOnTime && verdict === 'family') return claim;
  if (isOnTime && verdict === 'own') {
    const windowMs = freshnessOf(claim, freshness);
    const digest = signedDigest(claim, purpose);
    const proof = { repetition: repetitionOf[purpose], digest, windowMs, isSpent };
    const code = await useProof(proof, repetitions);
    if (code === null) return claim;
    refuse(reply, code);
    return null;
  }
  // Clients of the family look for this text; a clock that is off, or another domain, is reported beside it.
  const skew = claim === null || isOnTime ? {} : { code: 'timestamp_skew', server_time: nowMs };
  const foreign = verdict === 'other_domain' ? { code: 'other_signing_domain' } : {};
  void reply.header('date', new Date(nowMs).toUTCString());
  void reply.code(401).header('www-authenticate', 'EIP712');
  void reply.send({ error: refusalText('invalid_l1'), ...skew, ...foreign });
  return null;
}

/** Digest of the signed content, without the signature, since several signatures of one content are possible. */
function signedDigest({ address, timestamp, nonce }: WalletClaim, purpose: L1Purpose): Buffer {
  const signed = [address, timestamp, nonce, purpose].join('|');
  return createHash('sha256').update(signed).digest();
}

/** Whether the address is reserved and gets no key of any kind, then the refusal was sent (conventions.md 3.3). */
export function refuseReserved(
  address: WalletAddress,
  reply: FastifyReply,
  { owners }: Pick<AccountServices, 'owners'>,
): boolean {
  if (!owners.isReserved(address)) return false;
  refuse(reply, 'wallet_reserved');
  return true;
}

/** The JSON text "OK": strict clients take nothing else for a revoked key (conventions.md 2.6). */
export function sendOk(reply: FastifyReply): FastifyReply {
  return reply.type('application/json; charset=utf-8').send('"OK"');
}
