import type { ApiKeyId, KeyKind, SelfTrade, WalletAddress } from '@pm/schemas';
import { headerText, isFresh, type RawHeaders } from './auth-headers.ts';
import { type DerivedKey, deriveKey } from './derive-keys.ts';
import { type KeyProof, readBuilderProof, readKeyClaim } from './key-claim.ts';
import type { KeyDirectory, ListedKey } from './key-directory.ts';
import { coverageOf, type SignedRequest } from './request-hmac.ts';
import { sameText } from './same-text.ts';

/** The holder of an active API key, proven by a request. */
export interface KeyHolder {
  readonly apiKey: ApiKeyId;
  readonly wallet: WalletAddress;
  /** Reaction of its orders when they meet one of their own wallet. */
  readonly selfTrade: SelfTrade;
  /** Whether the proof covers the body byte for byte (`Coverage`). */
  readonly signsExactBody: boolean;
  /** Whether the proof covers the request's `Idempotency-Key`: no other party can have set it. */
  readonly signsIdempotencyKey: boolean;
}

export interface KeyVerifierOptions {
  readonly keys: KeyDirectory;
  /** Kind of the keys, which decides their headers; default those that trade. */
  readonly kind?: KeyKind;
  /** The secret from which keys are derived, 32 bytes. */
  readonly serverSecret: Buffer;
  /** Largest difference of a timestamp from now, milliseconds, in both directions. */
  readonly freshnessMs: number;
  nowMs(): number;
}

/** Checks the headers of a private request; null when it proves nothing. */
export type KeyVerifier = (
  request: SignedRequest & { readonly headers: RawHeaders },
) => KeyHolder | null;

/** Compared instead of an unknown key. */
const dummy: Omit<DerivedKey, 'apiKey'> & { readonly apiKey: null } = {
  apiKey: null,
  secret: Buffer.alloc(32, 1),
  passphrase: '0'.repeat(64),
};

/**
 * Proof of an API key by its headers (conventions.md 2.2 to 2.4). Form and time are checked first because they cost
 * nothing; an unknown key, a foreign one and a wrong secret then take the same path and time. A listed key that the
 * server's secret does not derive is no key here. Secrets are derived once per listed key and live as long as it does.
 */
export function openKeyVerifier(options: KeyVerifierOptions): KeyVerifier {
  const { kind = 'TRADING', keys, serverSecret } = options;
  const derived = new WeakMap<ListedKey, DerivedKey>();
  const derivedOf = (key: ListedKey): DerivedKey => {
    const known = derived.get(key) ?? deriveKey(serverSecret, key);
    derived.set(key, known);
    return known;
  };
  return (request) => {
    const claim = readClaim(request.headers, kind);
    if (claim === null) return null;
    const { proof, wallet } = claim;
    if (!isFresh(proof.timestampMs, options.nowMs(), options.freshnessMs)) return null;
    const { apiKey } = proof;
    const key = keys.find(apiKey);
    const secrets = key === undefined ? dummy : derivedOf(key);
    const isPassphrase = sameText(proof.passphrase, secrets.passphrase);
    const idempotencyKey = headerText(request.headers, 'idempotency-key');
    const coverage = coverageOf(secrets.secret, proof, { ...request, idempotencyKey });
    if (key?.active !== true || key.kind !== kind || secrets.apiKey !== apiKey) return null;
    if (wallet !== null && wallet !== key.wallet) return null;
    if (!isPassphrase || coverage === null) return null;
    const { wallet: holder, selfTrade } = key;
    const { exactBody: signsExactBody, idempotencyKey: signsIdempotencyKey } = coverage;
    return { apiKey, wallet: holder, selfTrade, signsExactBody, signsIdempotencyKey };
  };
}

/** The proof, and the wallet that it claims; builders name none. */
function readClaim(
  headers: RawHeaders,
  kind: KeyKind,
): { readonly proof: KeyProof; readonly wallet: WalletAddress | null } | null {
  if (kind === 'BUILDER') {
    const proof = readBuilderProof(headers);
    return proof === null ? null : { proof, wallet: null };
  }
  const claim = readKeyClaim(headers);
  return claim === null ? null : { proof: claim, wallet: claim.address };
}

/**
 * Clock difference of a well-formed request when it is too large, milliseconds, positive when ahead of ours; null
 * otherwise. It depends on the clock alone, before any key is checked, so any client may see it: a request that was
 * recorded once does not reveal later whether its key still works (conventions.md 2.4).
 */
export function clockSkewMs(
  headers: RawHeaders,
  { nowMs, freshnessMs }: { readonly nowMs: number; readonly freshnessMs: number },
): number | null {
  const claim = readKeyClaim(headers);
  if (claim === null || isFresh(claim.timestampMs, nowMs, freshnessMs)) return null;
  return claim.timestampMs - nowMs;
}
