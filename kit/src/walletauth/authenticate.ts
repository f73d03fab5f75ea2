import type { ApiKeyId, WalletAddress } from '@pm/schemas';
import { readKeyClaim } from './claim.ts';
import { type DerivedKey, deriveKey } from './derive.ts';
import { isFresh, type RawHeaders } from './headers.ts';
import type { KeyDirectory, ListedKey } from './key-directory.ts';
import { sameText } from './same-text.ts';
import { isSignedBy, type SignedRequest } from './signed-request.ts';

/** Who proved to hold an active API key. */
export interface KeyHolder {
  readonly apiKey: ApiKeyId;
  readonly wallet: WalletAddress;
}

export interface KeyVerifierOptions {
  readonly keys: KeyDirectory;
  /** What keys are derived from, 32 bytes. */
  readonly serverSecret: Buffer;
  /** Timestamps may be off by so much, milliseconds, both ways. */
  readonly freshnessMs: number;
  nowMs(): number;
}

/** Checks the headers of a private request; null when it proves nothing. */
export type KeyVerifier = (
  request: SignedRequest & { readonly headers: RawHeaders },
) => KeyHolder | null;

/** What an unknown key is compared with. */
const dummy: Omit<DerivedKey, 'apiKey'> & { readonly apiKey: null } = {
  apiKey: null,
  secret: Buffer.alloc(32, 1),
  passphrase: '0'.repeat(64),
};

/**
 * Proof of an API key by its five headers (docs/conventions.md 2.2 to 2.4). Form and time are checked first because they cost
 * nothing; an unknown key, a foreign one and a wrong secret then take the same path and time. A listed key that the
 * server's secret does not derive is no key here. Secrets are derived once per listed key and live as long as it does.
 */
export function openKeyVerifier(options: KeyVerifierOptions): KeyVerifier {
  const derived = new WeakMap<ListedKey, DerivedKey>();
  const derivedOf = (key: ListedKey): DerivedKey => {
    const known = derived.get(key) ?? deriveKey(options.serverSecret, key);
    derived.set(key, known);
    return known;
  };
  return (request) => {
    const claim = readKeyClaim(request.headers);
    if (claim === null) return null;
    if (!isFresh(claim.timestampMs, options.nowMs(), options.freshnessMs)) return null;
    const { apiKey, address: wallet } = claim;
    const key = options.keys.find(apiKey);
    const secrets = key === undefined ? dummy : derivedOf(key);
    const isPassphrase = sameText(claim.passphrase, secrets.passphrase);
    const isSigned = isSignedBy(secrets.secret, claim, request);
    const isOwner = key?.active === true && key.wallet === wallet && secrets.apiKey === apiKey;
    return isOwner && isPassphrase && isSigned ? { apiKey, wallet } : null;
  };
}
