import { createHmac } from 'node:crypto';
import type { ApiKeyTrio } from '@pm/schemas/http/trading';
import { type ApiKeyId, apiKeyFromBytes, type WalletAddress } from '@pm/schemas/ids';

/** An API key with what proves its possession. */
export interface DerivedKey {
  readonly apiKey: ApiKeyId;
  /** 32 bytes; the key of the HMAC. */
  readonly secret: Buffer;
  /** 64 hex digits. */
  readonly passphrase: string;
}

/** The secrets that keys are derived from. During a rotation several are valid; new keys come from the present one. */
export interface KeySecrets {
  readonly present: Buffer;
  /** Former secrets, and the next one before it becomes the present one. */
  readonly others: readonly Buffer[];
}

/** Values that an API key is derived from, besides the secret. */
export interface KeySeed {
  readonly wallet: WalletAddress;
  readonly nonce: string;
  /** Counts the keys of a wallet and nonce from 0 on: each follows on one that was revoked. */
  readonly version?: number;
}

/**
 * The key of a wallet, nonce and version: always the same, so that no secret is stored anywhere (conventions.md 2.1).
 * The chain is left out on purpose: a wallet is the same on each (ccxt authenticates on one chain and signs orders for
 * another).
 */
export function deriveKey(
  serverSecret: Buffer,
  { wallet, nonce, version = 0 }: KeySeed,
): DerivedKey {
  // No nonce has a `|`, so that no two keys share a text.
  const seed = version === 0 ? `${wallet}|${nonce}` : `${wallet}|${nonce}|${version}`;
  const part = (label: string): Buffer =>
    createHmac('sha256', serverSecret).update(`pm-api-key|${label}|${seed}`).digest();
  return {
    apiKey: apiKeyFromBytes(asUuid4(part('key').subarray(0, 16))),
    secret: part('secret'),
    passphrase: part('passphrase').toString('hex'),
  };
}

/** A listed key as one of the secrets derives it; null when none does. */
export function deriveListed(
  { present, others }: KeySecrets,
  listed: Required<KeySeed> & { readonly apiKey: ApiKeyId },
): DerivedKey | null {
  for (const secret of [present, ...others]) {
    const derived = deriveKey(secret, listed);
    if (derived.apiKey === listed.apiKey) return derived;
  }
  return null;
}

/**
 * The read-only key of a wallet and number: always the same, so that it can be listed though only its hash is stored.
 */
export function deriveReadKey(
  serverSecret: Buffer,
  { wallet, number }: { readonly wallet: WalletAddress; readonly number: number },
): ApiKeyId {
  const bytes = createHmac('sha256', serverSecret)
    .update(`pm-read-key|${wallet}|${number}`)
    .digest();
  return apiKeyFromBytes(asUuid4(bytes.subarray(0, 16)));
}

/** The key as the client gets it: the secret as padded base64url. */
export function trioOf(key: DerivedKey): ApiKeyTrio {
  const secret = key.secret.toString('base64').replaceAll('+', '-').replaceAll('/', '_');
  return { apiKey: key.apiKey, secret, passphrase: key.passphrase };
}

/** Sets the version and variant bits of a random UUID. */
function asUuid4(bytes: Buffer): Buffer {
  const uuid = Buffer.from(bytes);
  uuid.writeUInt8((uuid.readUInt8(6) & 0x0f) | 0x40, 6);
  uuid.writeUInt8((uuid.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuid;
}
