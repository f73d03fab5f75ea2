import {
  type ApiKeyId,
  headers as names,
  parseApiKeyId,
  parseWalletAddress,
  type WalletAddress,
} from '@pm/schemas';
import { headerText, type RawHeaders, readTimestampMs } from './headers.ts';

/** What a private request claims, well-formed but not yet proven (docs/conventions.md 2.2). */
export interface KeyClaim {
  readonly address: WalletAddress;
  readonly apiKey: ApiKeyId;
  readonly passphrase: string;
  /** The header's own text: it is part of what is signed. */
  readonly timestamp: string;
  readonly timestampMs: number;
  /** The 32 bytes of the HMAC, whatever encoding they came in. */
  readonly digest: Buffer;
}

const claimHeaders = [
  names.address,
  names.apiKey,
  names.passphrase,
  names.timestamp,
  names.signature,
] as const;
const hexDigest = /^[0-9a-fA-F]{64}$/;
const base64Digest = /^[A-Za-z0-9+/_-]{43}=?$/;
const passphraseMaxChars = 128;

/** Whether any of the five headers is there: such a request wants to be known, so a bad one is refused. */
export function claimsKey(raw: RawHeaders): boolean {
  return claimHeaders.some((name) => raw[name.toLowerCase()] !== undefined);
}

/** The five headers of a private request; null when one is missing, repeated or ill-formed. */
export function readKeyClaim(raw: RawHeaders): KeyClaim | null {
  const address = parseWalletAddress(headerText(raw, names.address));
  const apiKey = parseApiKeyId(headerText(raw, names.apiKey));
  const passphrase = headerText(raw, names.passphrase);
  const timestamp = headerText(raw, names.timestamp);
  const timestampMs = readTimestampMs(timestamp);
  const digest = readDigest(headerText(raw, names.signature));
  if (address === null || apiKey === null || timestampMs === null || digest === null) return null;
  if (passphrase === '' || passphrase.length > passphraseMaxChars) return null;
  return { address, apiKey, passphrase, timestamp, timestampMs, digest };
}

/** A digest has 43 or 44 characters as base64 of either alphabet and 64 as hex, so the forms never collide. */
function readDigest(text: string): Buffer | null {
  if (hexDigest.test(text)) return Buffer.from(text, 'hex');
  return base64Digest.test(text) ? Buffer.from(text, 'base64url') : null;
}
