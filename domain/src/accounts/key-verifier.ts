import { type ApiKeyId, parseApiKeyId, type WalletAddress } from '@pm/schemas/ids';
import type { KeyKind, SelfTrade } from '@pm/schemas/log/types';
import { type Freshness, headerText, isFresh, type RawHeaders } from './auth-headers.ts';
import { type DerivedKey, deriveListed, type KeySecrets } from './derive-keys.ts';
import { type KeyProof, readBuilderProof, readKeyClaim } from './key-claim.ts';
import type { KeyDirectory, ListedKey } from './key-directory.ts';
import { type Coverage, coverageOf, coversNothing, type SignedRequest } from './request-hmac.ts';
import { sameText } from './same-text.ts';

/** The holder of an active API key, proven by a request. */
export interface KeyHolder {
  readonly apiKey: ApiKeyId;
  readonly wallet: WalletAddress;
  /** Reaction of its orders when they meet one of their own wallet. */
  readonly selfTrade: SelfTrade;
  /** The parts of the request that its proof covers. */
  readonly covers: Coverage;
}

export interface KeyVerifierOptions {
  readonly keys: KeyDirectory;
  /** Kind of the keys, which decides their headers; default those that trade. */
  readonly kind?: KeyKind;
  readonly secrets: KeySecrets;
  readonly freshness: Freshness;
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
 * nothing; an unknown key, a foreign one and a wrong passphrase then take the same path and time, with one hash of the
 * body. A listed key that no secret of the server derives is no key here. Secrets are derived once per listed key and
 * live as long as it does.
 */
export function openKeyVerifier(options: KeyVerifierOptions): KeyVerifier {
  const { kind = 'TRADING', keys } = options;
  const derivedOf = openDerivation(options.secrets);
  return (request) => {
    const claim = readClaim(request.headers, kind);
    if (claim === null) return null;
    const { proof, wallet } = claim;
    if (!isFresh(proof, options.nowMs(), options.freshness)) return null;
    const { apiKey } = proof;
    const key = keys.find(apiKey);
    const secrets = key === undefined ? dummy : derivedOf(key);
    const coverage = provenCoverage(request, proof, secrets);
    if (key?.active !== true || key.kind !== kind || coverage === null) return null;
    if (wallet !== null && wallet !== key.wallet) return null;
    const { wallet: holder, selfTrade } = key;
    return { apiKey, wallet: holder, selfTrade, covers: coverage };
  };
}

/**
 * The coverage of a request that has the passphrase of the key and is signed with its secret; null for any other. Who
 * does not know the passphrase gets the time of one hash, whether the key is known or not.
 */
function provenCoverage(
  request: Parameters<KeyVerifier>[0],
  proof: KeyProof,
  secrets: DerivedKey | typeof dummy,
): Coverage | null {
  const isKnown = sameText(proof.passphrase, secrets.passphrase) && secrets.apiKey === proof.apiKey;
  const idempotencyKey = headerText(request.headers, 'idempotency-key');
  const tried = isKnown ? 'all' : 'likeliest';
  const coverage = coverageOf(secrets.secret, proof, { ...request, idempotencyKey, tried });
  return isKnown ? coverage : null;
}

/** The secrets of listed keys, each derived once; those of no key where no secret of the server derives it. */
function openDerivation(secrets: KeySecrets): (key: ListedKey) => DerivedKey | typeof dummy {
  const derived = new WeakMap<ListedKey, DerivedKey | typeof dummy>();
  return (key) => {
    const known = derived.get(key) ?? deriveListed(secrets, key) ?? dummy;
    derived.set(key, known);
    return known;
  };
}

/** A key with its secrets as clients send them in frames of streams; any text. */
export interface SentCredentials {
  readonly apiKey: string;
  readonly secret: string;
  readonly passphrase: string;
}

/** Checks sent credentials; null when they are not those of an active trading key. */
export type CredentialsVerifier = (sent: SentCredentials) => KeyHolder | null;

/**
 * Proof of a trading key by its secrets themselves, as the streams of the family send them: nothing is signed. An
 * unknown key, a wrong secret and a wrong passphrase take the same path and time.
 */
export function openCredentialsVerifier({
  keys,
  secrets,
}: Pick<KeyVerifierOptions, 'keys' | 'secrets'>): CredentialsVerifier {
  const derivedOf = openDerivation(secrets);
  return (sent) => {
    const apiKey = parseApiKeyId(sent.apiKey);
    const key = apiKey === null ? undefined : keys.find(apiKey);
    const secrets = key === undefined ? dummy : derivedOf(key);
    const isSecret = sameText(secretText(sent.secret), secrets.secret.toString('base64url'));
    const isPassphrase = sameText(sent.passphrase, secrets.passphrase);
    if (key?.active !== true || key.kind !== 'TRADING' || secrets.apiKey !== apiKey) return null;
    if (apiKey === null || !isSecret || !isPassphrase) return null;
    const { wallet, selfTrade } = key;
    return { apiKey, wallet, selfTrade, covers: coversNothing };
  };
}

/** Base64 in either alphabet, with or without padding. */
function secretText(text: string): string {
  return text
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/={1,2}$/, '');
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
  { nowMs, freshness }: { readonly nowMs: number; readonly freshness: Freshness },
): number | null {
  const claim = readKeyClaim(headers);
  if (claim === null || isFresh(claim, nowMs, freshness)) return null;
  return claim.timestampMs - nowMs;
}
